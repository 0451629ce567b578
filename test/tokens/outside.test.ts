// A token that is used from outside its networks: the 401 of an unknown token, and an event at most once an hour
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import * as tokens from "../../shared/api/tokens.ts";
import { reportOutsideUses } from "../../shared/operations/credentials/outside-events.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { tokenAccessRef } from "../../shared/records/tokens.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";

const HOUR_MS = 3_600_000;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const Events = z.array(z.looseObject({ id: z.string() }));

/** How many there are, after two runs of the schedule at once. */
async function countEvents(): Promise<number> {
  await Promise.all([reportOutsideUses(), reportOutsideUses()]);
  return (await me.api.get("/events?class=outcomes&type=token.used_outside")).as(Events).length;
}

test("there is one event, with the address, however often; and another one an hour later", async () => {
  const session = await me.session();
  const body = { name: unique("inside"), permissions: ["servers:read"], allowed_ips: ["127.0.7.0/24"] };
  const { id, token } = (await session.post("/tokens", body)).as(tokens.create().data);
  const outside = clientWith(token);
  expect((await outside.get("/servers", { from: "127.0.7.9" })).status).toBe(200);
  expect(await countEvents()).toBe(0);

  const refused = await outside.get("/servers", { from: "127.0.8.9" });
  expect([refused.status, refused.error]).toEqual([401, (await clientWith("svc_test_none").get("/servers")).error]);
  await outside.get("/servers", { from: "127.0.8.10" });
  expect(await countEvents()).toBe(1);
  const eventsText = (await me.api.get("/events?class=outcomes&type=token.used_outside")).text;
  expect(eventsText).toContain('"ip_address":"127.0.8.9"');
  expect(eventsText).toContain(id);

  await updateOne(keys.outsideUse(id), { set: { at: Date.now() - HOUR_MS } }, {});
  await outside.get("/servers", { from: "127.0.8.9" });
  expect(await countEvents()).toBe(2);
});

test("an expired token, or one that somebody guesses, is nobody's event", async () => {
  const session = await me.session();
  const before = await countEvents();
  const body = { name: unique("inside"), permissions: ["servers:read"], allowed_ips: ["127.0.7.0/24"] };
  const { id, token } = (await session.post("/tokens", body)).as(tokens.create().data);
  // The check of its last characters rejects it, or its hash.
  await clientWith(`${token.slice(0, -1)}${token.endsWith("x") ? "y" : "x"}`).get("/servers", { from: "127.0.8.9" });
  await updateOne(tokenAccessRef(id).key, { set: { expires_at: Date.now() - 1 } }, {});
  expect((await clientWith(token).get("/servers", { from: "127.0.8.9" })).status).toBe(401);
  await session.delete(`/tokens/${id}`);
  await clientWith(token).get("/servers", { from: "127.0.8.9" });
  expect(await countEvents()).toBe(before);
});
