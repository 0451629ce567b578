// GET /auth/sessions, DELETE /auth/sessions/:id, DELETE /auth/sessions
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as events from "../../shared/api/events.ts";
import { startChange } from "../../shared/data/change.ts";
import { find } from "../../shared/data/table.ts";
import { idFrom } from "../../shared/domain/ids.ts";
import { SESSION_HOURS } from "../../shared/domain/limits.ts";
import { recordSession } from "../../shared/records/sessions.ts";
import { openSession, userRef } from "../../shared/records/users.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { clientWith, anonymous } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const signIn = async ({ email, password }: { email: string; password: string }, from: string, agent: string) => {
  const response = await anonymous.post("/auth/login", { email, password }, { from, headers: { "user-agent": agent } });
  return clientWith(response.as(auth.login().data).token);
};

test("the open sessions of a user are listed with from where and with what, and each can be ended", async () => {
  const user = await me.anotherUser();
  const [laptop, phone] = [await signIn(user, "127.0.7.1", "Laptop"), await signIn(user, "127.0.7.2", "Phone")];
  const listed = (await laptop.get("/auth/sessions")).as(auth.listSessions().data);
  expect(listed.map(({ ip_address, user_agent, current }) => [ip_address, user_agent, current])).toEqual([
    ["127.0.7.2", "Phone", false],
    ["127.0.7.1", "Laptop", true],
  ]);
  expect((await laptop.delete(`/auth/sessions/${listed[0]?.id}`)).body).toMatchObject({
    data: { id: listed[0]?.id, ended: true },
  });
  expect((await phone.get("/auth/me")).status).toBe(401);
  expect((await laptop.get("/auth/me")).status).toBe(200);
  expect((await laptop.delete(`/auth/sessions/${listed[0]?.id}`)).status).toBe(404);
  expect((await laptop.delete(`/auth/sessions/${unusedId("session")}`)).status).toBe(404);
});

test("all others are ended at once, and those of other users stay", async () => {
  const user = await me.anotherUser();
  const other = await me.session();
  const [currentSession, ...otherSessions] = [await me.session(user), await me.session(user), await me.session(user)];
  expect((await currentSession.delete("/auth/sessions")).body).toMatchObject({ data: { ended: 2 } });
  const after = await Promise.all([currentSession, ...otherSessions, other].map((each) => each.get("/auth/me")));
  expect(after.map(({ status }) => status)).toEqual([200, 401, 401, 200]);
});

test("an expired session is not listed, and ends no more, although the table still has it", async () => {
  const user = await me.anotherUser();
  const record = (await find(userRef(user.id))) ?? expect.fail("There is such a user");
  const over = idFrom("session", Date.now() - SESSION_HOURS * 3_600_000, randomBytes(10));
  expect(await openSession(record, over)).toBe(true);
  const change = startChange({ id: me.id });
  recordSession(change, record, { id: over, ip_address: null, user_agent: null, second_factor_at: null });
  await change.commit();
  const session = await me.session(user);
  const listed = (await session.get("/auth/sessions")).as(auth.listSessions().data);
  expect(listed.map(({ current }) => current)).toEqual([true]);
  expect((await session.delete(`/auth/sessions/${over}`)).status).toBe(404);
  expect((await session.delete("/auth/sessions")).body).toMatchObject({ data: { ended: 0 } });
});

test("a user is told of a sign-in from a new place, but not of the first, nor of a known place", async () => {
  const user = await me.anotherUser();
  const from = ["127.0.7.11", "127.0.7.11", "127.0.7.12", "127.0.7.11", "127.0.7.12"];
  for (const address of from) await signIn(user, address, "Laptop");
  const signInEvents = (await me.api.get(`/events?type=sign_in.new_place&resource_id=${user.id}`)).as(events.list().data);
  expect(signInEvents.map(({ actor }) => actor.ip_address)).toEqual(["127.0.7.12"]);
});
