// GET /tokens/:id
import { expect, test } from "vitest";
import { account } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";

const cloud = await processCloud();

test("nothing is read of another account's token, so that it takes no longer than an unused ID", async () => {
  const [me, other] = [await account(), await account()];
  const [session, { id }] = [await me.session(), await other.token()];
  const calls: string[] = [];
  const stop = cloud.aws.calls.subscribe(({ principal, action }) => {
    if (/tokensget/i.test(principal)) calls.push(action);
  });
  expect((await session.get(`/tokens/${id}`)).status).toBe(404);
  stop();
  expect(calls).toEqual(["GetItem"]); // of what the account itself has
});
