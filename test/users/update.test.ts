// PUT /users/:id
import { beforeAll, describe, expect, test } from "vitest";
import * as events from "../../shared/api/events.ts";
import * as users from "../../shared/api/users.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

const forbidden = (message: string) => ({ code: "FORBIDDEN", message });
const NEEDS_ADMIN = forbidden("This action needs the role owner or admin");
const NEEDS_OWNER = forbidden("This action needs the role owner");
const signedIn = async (granted: Parameters<TestAccount["anotherUser"]>[0]) => {
  const user = await me.anotherUser(granted);
  return { user, api: await me.session(user) };
};

test("a changed role holds for the very next request of every session of the user", async () => {
  const { user, api } = await signedIn({ role: "admin" });
  const second = await me.session(user);
  expect(statusesOf([await api.get("/settings"), await second.get("/settings")])).toEqual([200, 200]);
  const response = await owner.put(`/users/${user.id}`, { role: "custom", permissions: ["servers:read"] });
  expect(response.body).toMatchObject({ data: { id: user.id, role: "custom", permissions: ["servers:read"] } });
  expect(statusesOf([await api.get("/settings"), await second.get("/settings")])).toEqual([403, 403]);
  expect((await second.get("/servers")).status).toBe(200);
  const log = (await me.api.get(`/events?resource_id=${user.id}&type=user.role_changed`)).as(events.list().data);
  expect(log.map(({ data }) => data?.changes)).toEqual([
    [
      { field: "role", before: "admin", after: "custom" },
      { field: "permissions", before: [], after: ["servers:read"] },
    ],
  ]);
});

test("everybody may change their own name, and only that", async () => {
  const { user, api } = await signedIn({ role: "viewer" });
  expect((await api.put(`/users/${user.id}`, { name: "Grace" })).body).toMatchObject({ data: { name: "Grace", role: "viewer" } });
  expect((await api.get("/auth/me")).body).toMatchObject({ data: { user: { name: "Grace" } } });
  expect((await api.put(`/users/${user.id}`, { role: "owner" })).error).toEqual(NEEDS_ADMIN);
  expect((await api.put(`/users/${me.user.id}`, { name: "Grace" })).error).toEqual(NEEDS_ADMIN);
});

test("everybody chooses which mails they get; until then their role decides", async () => {
  const { user, api } = await signedIn({ role: "viewer" });
  const chosen = async () => (await owner.get(`/users/${user.id}`)).as(users.get().data).notifications.email;
  expect(await chosen()).toBe("none");
  await owner.put(`/users/${user.id}`, { role: "admin" });
  expect(await chosen()).toBe("alerts");
  expect((await api.put(`/users/${user.id}`, { notifications: { email: "all" } })).status).toBe(200);
  await owner.put(`/users/${user.id}`, { role: "viewer", name: "Grace" });
  expect(await chosen()).toBe("all");
  expect((await owner.put(`/users/${user.id}`, { notifications: { email: "none" } })).status).toBe(200);
  expect(await chosen()).toBe("none");
  expect((await api.put(`/users/${me.user.id}`, { notifications: { email: "none" } })).error).toEqual(NEEDS_ADMIN);
  const log = (await me.api.get(`/events?resource_id=${user.id}&type=user.update`)).as(events.list().data);
  expect(log.map(({ data }) => data?.changes)).toEqual([
    [{ field: "notifications", before: { email: "all" }, after: { email: "none" } }],
    [{ field: "notifications", before: null, after: { email: "all" } }],
  ]);
});

test("a token, whatever its permissions, changes nobody", async () => {
  const { error } = await me.api.put(`/users/${me.user.id}`, { name: "Grace" });
  expect(error).toEqual(forbidden("This endpoint needs a dashboard session"));
});

describe("an admin", () => {
  let admin: { user: TestUser; api: Client };
  beforeAll(async () => {
    admin = await signedIn({ role: "admin" });
  });

  test("changes others, but neither changes, makes nor removes an owner", async () => {
    const user = await me.anotherUser({ role: "viewer" });
    expect((await admin.api.put(`/users/${user.id}`, { role: "operator" })).status).toBe(200);
    expect((await admin.api.put(`/users/${user.id}`, { role: "owner" })).error).toEqual(NEEDS_OWNER);
    expect((await admin.api.put(`/users/${admin.user.id}`, { role: "owner" })).error).toEqual(NEEDS_OWNER);
    expect((await admin.api.put(`/users/${me.user.id}`, { role: "viewer" })).error).toEqual(NEEDS_OWNER);
    expect((await admin.api.put(`/users/${me.user.id}`, { name: "Renamed" })).error).toEqual(NEEDS_OWNER);
    expect((await admin.api.delete(`/users/${me.user.id}`)).error).toEqual(NEEDS_OWNER);
  });
});

test.each([
  ["permissions without the role custom", { role: "viewer", permissions: ["servers:read"] }, "permissions", "role custom"],
  ["the role custom without permissions", { role: "custom" }, "permissions", "is required"],
  ["a custom role without any permission", { role: "custom", permissions: [] }, "permissions", "at least one permission"],
  ["an unknown role", { role: "root" }, "role", "must be one of"],
  ["unknown mails", { notifications: { email: "some" } }, "notifications.email", "must be one of"],
])("%s are rejected", async (_, body, field, reason) => {
  const user = await me.anotherUser({ role: "viewer" });
  expect((await owner.put(`/users/${user.id}`, body)).error).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field, reason: expect.stringContaining(reason) },
  });
});

describe("the last owner", () => {
  const LAST = { code: "CONFLICT", message: "This is the account's last owner; make another user an owner first" };

  test("stays one", async () => {
    const them = await account();
    await them.anotherUser({ role: "admin" });
    const api = await them.session();
    expect((await api.put(`/users/${them.user.id}`, { role: "viewer" })).error).toMatchObject(LAST);
    expect((await api.delete(`/users/${them.user.id}`)).error).toMatchObject(LAST);
    expect((await api.put(`/users/${them.user.id}`, { name: "Still here" })).status).toBe(200);
  });
});
