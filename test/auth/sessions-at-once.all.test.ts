// Sessions when much happens at once, and what is no session although it looks like one.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { startChange } from "../../shared/data/change.ts";
import { openSession, setPassword, userAccessRef, userRef } from "../../shared/records/users.ts";
import { find } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { hashPassword } from "../../shared/platform/passwords.ts";
import { deleteUser, listEmails, setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const isIn = async (client: Client) => (await client.get("/auth/me")).status === 200;

describe("during a password change", () => {
  /** The user as the request for the password change has read it; the request continues when the test calls `set`. */
  async function reading(user: TestUser, session: Client) {
    const [, claims = ""] = session.token?.split(".") ?? [];
    const { sid } = z.object({ sid: z.string() }).parse(JSON.parse(Buffer.from(claims, "base64url").toString()));
    const record = await find(userRef(user.id));
    if (record === undefined) throw new Error("There is no such user");
    return async () => {
      const change = startChange({ id: me.id });
      setPassword(change, record, await hashPassword("a new long password"), sid);
      await change.commit();
    };
  }

  test("a session that signs out during a password change stays signed out, and the password does not change", async () => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const set = await reading(user, session);
    await session.post("/auth/logout");
    await expect(set()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(await isIn(session)).toBe(false);
    expect(await isIn(await me.session(user))).toBe(true);
  });

  test("during a password change a session that signs out stays signed out, and a session that opens ends", async () => {
    const user = await me.anotherUser();
    const [currentSession, other] = [await me.session(user), await me.session(user)];
    const set = await reading(user, currentSession);
    await other.post("/auth/logout");
    const late = await me.session(user);
    await set();
    expect([await isIn(currentSession), await isIn(other), await isIn(late)]).toEqual([true, false, false]);
  });
});

test("fifty concurrent sign-ins leave twenty sessions", async () => {
  const { id } = await me.anotherUser();
  const ids = Array.from({ length: 50 }, () => newId("session"));
  const user = await find(userRef(id));
  if (user === undefined) throw new Error("There is no such user");
  // All have read the user before the first one opens a session.
  const opened = await Promise.all(ids.map((each) => openSession(user, each)));
  expect(opened).toEqual(ids.map(() => true));
  expect((await find(userAccessRef(id)))?.sessions).toHaveProperty("size", 20);
});

describe("removing a user", () => {
  test("the last owner of an account is never removed, even when all are removed at once", async () => {
    const them = await account();
    const other = await them.anotherUser();
    const outcomes = await Promise.allSettled([them.user.email, other.email].map(deleteUser));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const [remainingEmail = ""] = await listEmails(them.id);
    await expect(deleteUser(remainingEmail)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await listEmails(them.id)).toEqual([remainingEmail]);
  });
});

test("a user's 21st session ends the oldest one", async () => {
  const user = await me.anotherUser();
  const sessions: Client[] = [];
  for (let i = 0; i < 21; i++) sessions.push(await me.session(user));
  const [oldest, ...rest] = sessions;
  expect(oldest && (await isIn(oldest))).toBe(false);
  for (const session of rest) expect(await isIn(session)).toBe(true);
});

test("an account's users have as many sessions as the operator sets", async () => {
  const other = await account();
  const first = await other.session();
  await setQuota(other.id, "session", 1);
  const second = await other.session();
  expect([await isIn(first), await isIn(second)]).toEqual([false, true]);
  await setQuota(other.id, "session", 2);
  const third = await other.session();
  expect([await isIn(second), await isIn(third)]).toEqual([true, true]);
});
