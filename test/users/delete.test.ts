// DELETE /users/:id
import { beforeAll, expect, test } from "vitest";
import * as tokens from "../../shared/api/tokens.ts";
import * as users from "../../shared/api/users.ts";
import { updateOne } from "../../shared/data/table.ts";
import { tokenAccessRef } from "../../shared/records/tokens.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, clientWith, statusesOf, anonymous } from "../harness/client.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

/** An admin who has created a token. */
async function withToken() {
  const user = await me.anotherUser({ role: "admin" });
  const session = await me.session(user);
  const body = { name: `of ${user.id}`, permissions: ["servers:read"] };
  const { id, name, token } = (await session.post("/tokens", body)).as(tokens.create().data);
  return { user, session, token: { id, name }, api: clientWith(token) };
}

test("a removed user is signed out everywhere, cannot sign in, and is named in the response with the tokens that stay", async () => {
  const { user, session, token, api } = await withToken();
  const response = await owner.delete(`/users/${user.id}`);
  expect(response.as(users.delete().data)).toEqual({ id: user.id, deleted: true, tokens: [token] });
  expect((await session.get("/auth/me")).status).toBe(401);
  expect((await anonymous.post("/auth/login", { email: user.email, password: user.password })).status).toBe(401);
  expect((await api.get("/servers")).status).toBe(200);
  expect((await owner.delete(`/users/${user.id}`)).status).toBe(404);
  const types = (await me.api.get(`/events?resource_id=${user.id}`)).body;
  expect(types).toMatchObject({ data: [{ type: "user.removed" }, { type: "auth.login" }, { type: "user.create" }] });
});

test("tokens that have expired are not named, because they do not work any more", async () => {
  const { user, token, session } = await withToken();
  const old = (await session.post("/tokens", { name: `expired ${user.id}`, permissions: ["servers:read"] })).as(
    tokens.create().data,
  );
  await updateOne(tokenAccessRef(old.id).key, { set: { expires_at: Date.now() - 1_000 } }, {});
  expect((await owner.delete(`/users/${user.id}`)).as(users.delete().data).tokens).toEqual([token]);
});

test("with revoke_tokens their tokens end too", async () => {
  const { user, token, api } = await withToken();
  const response = await owner.delete(`/users/${user.id}?revoke_tokens=true`);
  expect(response.as(users.delete().data).tokens).toEqual([token]);
  expect((await api.get("/servers")).status).toBe(401);
});

test("only owners and admins remove others, and admins themselves", async () => {
  const [operator, admin] = [await me.anotherUser({ role: "operator" }), await me.anotherUser({ role: "admin" })];
  expect((await (await me.session(operator)).delete(`/users/${admin.id}`)).error).toEqual({
    code: "FORBIDDEN",
    message: "This action needs the role owner or admin",
  });
  const session = await me.session(admin);
  expect((await session.delete(`/users/${operator.id}`)).status).toBe(200);
  expect((await session.delete(`/users/${admin.id}`)).status).toBe(200);
  expect((await session.get("/auth/me")).status).toBe(401);
});

test("of two removals at once one succeeds, and the other finds nobody", async () => {
  const { id } = await me.anotherUser();
  expect(statusesOf(await Promise.all([owner.delete(`/users/${id}`), owner.delete(`/users/${id}`)]))).toEqual([200, 404]);
});
