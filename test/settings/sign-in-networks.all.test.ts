// `allowed_ips` of PUT /settings, from which nobody can sign in any more: the way back
import { expect, test } from "vitest";
import * as events from "../../shared/api/events.ts";
import { allowSignInFromEverywhere } from "../../shared/operations/accounts/operator.ts";
import { account } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";

test("the operator lets people sign in from everywhere, which is an event", async () => {
  const me = await account();
  await (await me.session()).put("/settings", { allowed_ips: ["127.0.0.0/24"] });
  const { email, password } = me.user;
  const signIn = () => anonymous.post("/auth/login", { email, password }, { from: "127.0.240.10" });
  expect((await signIn()).status).toBe(403);
  await allowSignInFromEverywhere(me.id);
  expect((await signIn()).status).toBe(200);
  const [event] = (await me.api.get("/events?type=settings.update")).as(events.list().data);
  expect(event).toMatchObject({
    actor: { type: "operator" },
    data: { changes: [{ field: "allowed_ips", before: ["127.0.0.0/24"], after: [] }] },
  });
  await expect(allowSignInFromEverywhere("acc_unknown")).rejects.toMatchObject({ code: "NOT_FOUND" });
});
