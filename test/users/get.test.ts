// GET /users and GET /users/:id
import { beforeAll, expect, test } from "vitest";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import * as users from "../../shared/api/users.ts";
import { updateOne } from "../../shared/data/table.ts";
import { markMailboxBouncing, userRef } from "../../shared/records/users.ts";
import { account, type TestAccount } from "../harness/account.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const READ = ALL_PERMISSIONS.filter((permission) => permission.endsWith(":read"));

test("a user is shown with the role and what it permits, to every credential that may read settings", async () => {
  const viewer = await me.anotherUser({ role: "viewer" });
  const { api } = await me.token(["settings:read"]);
  expect((await api.get(`/users/${viewer.id}`)).as(users.get().data)).toEqual({
    id: viewer.id,
    email: viewer.email,
    email_unicode: viewer.email,
    name: viewer.name,
    role: "viewer",
    permissions: READ,
    notifications: { email: "none" },
    second_factors: null,
    sso: false,
    email_status: null,
    last_sign_in_at: null,
    created_at: expect.any(String),
  });
});

test.each([
  ["owner", ALL_PERMISSIONS],
  ["admin", ALL_PERMISSIONS],
  ["operator", ALL_PERMISSIONS.filter((permission) => permission !== "settings:write")],
  ["viewer", READ],
] as const)("the role %s permits in a session exactly what it says", async (role, permissions) => {
  const session = await me.session(await me.anotherUser({ role }));
  expect((await session.get("/auth/me")).body).toMatchObject({ data: { role, permissions } });
});

test("a custom role permits exactly its own permissions", async () => {
  const permissions = ["servers:read", "backups:restore"] as const;
  const session = await me.session(await me.anotherUser({ role: "custom", permissions: [...permissions] }));
  expect((await session.get("/auth/me")).body).toMatchObject({ data: { role: "custom", permissions } });
  expect((await session.get("/servers")).status).toBe(200);
  expect((await session.get("/instances")).error).toEqual({
    code: "FORBIDDEN",
    message: "Token does not have permission: instances:read",
  });
});

test("when somebody last signed in, and whether their mailbox takes mail, is shown to owners, admins and themselves only", async () => {
  const user = await me.anotherUser({ role: "viewer" });
  const [userSession, admin, other] = [
    await me.session(user),
    await me.session(await me.anotherUser({ role: "admin" })),
    await me.session(await me.anotherUser({ role: "operator" })),
  ];
  await markMailboxBouncing(user.email);
  const showUser = async (api: typeof userSession) => {
    const { last_sign_in_at, email_status } = (await api.get(`/users/${user.id}`)).as(users.get().data);
    return { last_sign_in_at, email_status };
  };
  const all = { last_sign_in_at: expect.any(String), email_status: "bouncing" };
  const nothing = { last_sign_in_at: null, email_status: null };
  expect([await showUser(userSession), await showUser(admin)]).toEqual([all, all]);
  expect([await showUser(other), await showUser(me.api)]).toEqual([nothing, nothing]);
});

test("a user from before there were roles is an owner", async () => {
  const user = await me.anotherUser();
  for (const { key } of [userRef(user.id), { key: { pk: userRef(user.id).key.pk, sk: "ACCESS" } }])
    await updateOne(key, { remove: ["role", "permissions", "last_sign_in_at"] }, {});
  const session = await me.session(user);
  expect((await session.get("/auth/me")).body).toMatchObject({ data: { role: "owner", permissions: ALL_PERMISSIONS } });
  expect((await session.get(`/users/${user.id}`)).body).toMatchObject({ data: { role: "owner" } });
});

test("all users of the account are listed, the newest first, and none of another account", async () => {
  const ownAccount = await account();
  const other = await ownAccount.anotherUser({ role: "viewer" });
  const listed = (await ownAccount.api.get("/users")).as(users.list().data);
  expect(listed.map(({ id, role }) => [id, role])).toEqual([
    [other.id, "viewer"],
    [ownAccount.user.id, "owner"],
  ]);
  expect((await me.api.get(`/users/${other.id}`)).status).toBe(404);
});
