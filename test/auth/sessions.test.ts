// The dashboard's sessions: POST /auth/logout, GET /auth/me, PUT /auth/password, and what ends them.
import { beforeAll, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import * as events from "../../shared/api/events.ts";
import * as settings from "../../shared/api/settings.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { createUser, deleteUser, listEmails } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const isIn = async (client: Client) => (await client.get("/auth/me")).status === 200;

test("signing out ends the session at once, and the user's other sessions continue", async () => {
  const user = await me.anotherUser();
  const [one, other] = [await me.session(user), await me.session(user)];
  const response = await one.post("/auth/logout");
  expect(response.as(auth.logout().data)).toEqual({ id: expect.stringMatching(/^ses_/), ended: true });
  expect(await isIn(one)).toBe(false);
  expect((await one.post("/auth/logout")).status).toBe(401);
  expect(await isIn(other)).toBe(true);
});

describe("GET /auth/me", () => {
  test("GET /auth/me shows users their account and all of its permissions", async () => {
    expect((await (await me.session()).get("/auth/me")).as(auth.me().data)).toEqual({
      user: {
        id: me.user.id,
        email: me.user.email,
        email_unicode: me.user.email,
        name: me.user.name,
        notifications: { email: "alerts" },
        second_factors: { passkeys: 0, totp: false, recovery_codes_left: 0 },
        email_status: "ok",
      },
      token: null,
      account: { id: me.id, name: expect.any(String) },
      role: "owner",
      permissions: ALL_PERMISSIONS,
      environment: "test",
    });
  });

  test("GET /auth/me shows a token's name and permissions", async () => {
    const { id, api } = await me.token(["backups:read"]);
    const data = (await api.get("/auth/me")).as(auth.me().data);
    expect(data).toMatchObject({
      user: null,
      token: { id },
      account: { id: me.id },
      permissions: ["backups:read"],
      environment: "test",
    });
  });
});

describe("PUT /auth/password", () => {
  const change = (session: Client, user: TestUser, next: string) =>
    session.put("/auth/password", { current_password: user.password, new_password: next });

  test("changing the password ends every other session, and the old password stops working", async () => {
    const user = await me.anotherUser();
    const [currentSession, ...otherSessions] = [await me.session(user), await me.session(user), await me.session(user)];
    const response = await change(currentSession, user, "a new long password");
    expect(response.as(auth.password().data)).toEqual({ id: user.id, email: user.email, name: user.name });
    expect(await isIn(currentSession)).toBe(true);
    for (const other of otherSessions) expect(await isIn(other)).toBe(false);
    const from = "127.0.4.1";
    const login = (password: string) => anonymous.post("/auth/login", { email: user.email, password }, { from });
    expect((await login(user.password)).status).toBe(401);
    expect((await login("a new long password")).status).toBe(200);
  });

  test("changing the password needs the current one, and a new one of 12 to 128 characters", async () => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const field = async (body: unknown) => (await session.put("/auth/password", body)).error?.details?.["field"];
    expect(await field({ current_password: "wrong", new_password: "a new long password" })).toBe("current_password");
    expect(await field({ current_password: user.password, new_password: "elevenchars" })).toBe("new_password");
    expect(await field({ current_password: user.password, new_password: "x".repeat(129) })).toBe("new_password");
    expect((await change(session, user, "ünïcödé 💥 password")).status).toBe(200);
  });
});

describe("removing a user", () => {
  test("a removed user is signed out at once, cannot sign in and frees a place in the quota, and their tokens stay", async () => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const token = (await session.post("/tokens", { name: "Theirs", permissions: ["settings:read"] })).as(tokens.create().data);
    const used = async () => (await me.api.get("/settings")).as(settings.get().data).quotas.users.used;
    const before = await used();
    expect((await deleteUser(user.email)).map(({ name }) => name)).toEqual(["Theirs"]);
    expect(await isIn(session)).toBe(false);
    const { email, password } = user;
    expect((await anonymous.post("/auth/login", { email, password }, { from: "127.0.4.11" })).status).toBe(401);
    expect(await used()).toBe(before - 1);
    expect((await anonymous.get("/auth/me", { token: token.token })).status).toBe(200);
    expect(await listEmails(me.id)).not.toContain(email);
    await createUser(me.id, { email, name: "Someone else", password });
    expect((await me.api.get("/events?per_page=2")).as(events.list().data).map(({ type }) => type)).toEqual([
      "user.create",
      "user.delete",
    ]);
  });
});
