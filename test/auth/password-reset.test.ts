// POST /auth/password-reset and POST /auth/password-reset/confirm
import { beforeAll, expect, test } from "vitest";
import { updateOne } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { confirm, INVALID, linkFor, NEXT, nextAddress } from "./resets.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

test("a link sets a new password once, and ends every session", async () => {
  const user = await me.anotherUser();
  const session = await me.session(user);
  const token = await linkFor(me.id, user);
  expect((await confirm(token)).body).toEqual({
    success: true,
    data: { id: user.id, email: user.email, name: user.name },
  });
  expect((await session.get("/auth/me")).status).toBe(401);
  const signIn = (password: string) => anonymous.post("/auth/login", { email: user.email, password }, { from: nextAddress() });
  expect((await signIn(user.password)).status).toBe(401);
  expect((await signIn(NEXT)).status).toBe(200);
  expect((await confirm(token)).error).toEqual(INVALID);
});

test("only the newest link works, and only for 30 minutes", async () => {
  const user = await me.anotherUser();
  const [older, newer] = [await linkFor(me.id, user), await linkFor(me.id, user)];
  expect((await confirm(older)).error).toEqual(INVALID);
  await updateOne(keys.passwordReset(user.id), { set: { expires_at: new Date(Date.now() - 1).toISOString() } }, {});
  expect((await confirm(newer)).error).toEqual(INVALID);
});

test("a changed password ends the link that is on its way", async () => {
  const user = await me.anotherUser();
  const token = await linkFor(me.id, user);
  const session = await me.session(user);
  const changed = { current_password: user.password, new_password: "a password of my own" };
  expect((await session.put("/auth/password", changed)).status).toBe(200);
  expect((await confirm(token)).error).toEqual(INVALID);
});

test("a known and an unknown email get the same response", async () => {
  const user = await me.anotherUser();
  const headers = { "x-request-id": "same" };
  const requestReset = (email: string) => anonymous.post("/auth/password-reset", { email }, { from: nextAddress(), headers });
  const [known, unknown] = [await requestReset(user.email), await requestReset(`${unique("nobody")}@example.com`)];
  expect(unknown.status).toBe(200);
  expect(unknown.text).toBe(known.text);
  expect(Object.keys(unknown.headers)).toEqual(Object.keys(known.headers));
});

test("a password that is among the most common ones is rejected wherever one is set", async () => {
  const user = await me.anotherUser();
  const common = "123456789012";
  const token = await linkFor(me.id, user);
  const reason = "is one of the most common passwords; choose another";
  expect((await confirm(token, common)).error).toMatchObject({ details: { field: "new_password", reason } });
  const session = await me.session(user);
  const { error } = await session.put("/auth/password", { current_password: user.password, new_password: common });
  expect(error).toMatchObject({ details: { field: "new_password", reason } });
  expect((await confirm(token)).status).toBe(200); // it is not used up
});
