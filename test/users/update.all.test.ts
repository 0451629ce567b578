// PUT /users/:id: requests that were admitted before, and two owners at once.
import { beforeAll, describe, expect, test } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

const NEEDS_ADMIN = { code: "FORBIDDEN", message: "This action needs the role owner or admin" };

describe("an admin", () => {
  test("who loses the role can no longer create or revoke tokens, which were admitted before", async () => {
    const user = await me.anotherUser({ role: "admin" });
    const api = await me.session(user);
    const { id } = await me.token();
    await owner.put(`/users/${user.id}`, { role: "viewer" });
    expect((await api.post("/tokens", { name: "late", permissions: ["servers:read"] })).error).toEqual(NEEDS_ADMIN);
    expect((await api.delete(`/tokens/${id}`)).error).toEqual(NEEDS_ADMIN);
  });
});

describe("the last owner", () => {
  test.each([
    ["give up their role", (api: Client, ownId: string) => api.put(`/users/${ownId}`, { role: "viewer" })],
    ["take each other's", (api: Client, _: string, other: string) => api.put(`/users/${other}`, { role: "viewer" })],
    ["remove each other", (api: Client, _: string, other: string) => api.delete(`/users/${other}`)],
    ["leave", (api: Client, ownId: string) => api.delete(`/users/${ownId}`)],
  ])("is always there, when two owners %s at once", async (_, act) => {
    const them = await account();
    const other = await them.anotherUser();
    const [one, two] = [await them.session(), await them.session(other)];
    const responses = await Promise.all([act(one, them.user.id, other.id), act(two, other.id, them.user.id)]);
    expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(1);
    const users = (await them.api.get("/users")).body;
    expect(JSON.stringify(users).match(/"role":"owner"/g)).toHaveLength(1);
  });
});
