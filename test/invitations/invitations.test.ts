// /users/invitations, and POST /auth/invitations/accept
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as invitations from "../../shared/api/invitations.ts";
import { putIfAbsent, updateOne } from "../../shared/data/table.ts";
import { deleteUser, setQuota } from "../../shared/operations/accounts/operator.ts";
import { allInvitations, invitationRef } from "../../shared/records/invitations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { type Client, clientWith, statusesOf, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { everyItem } from "../harness/table.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

const PASSWORD = "a password of her own";
const everyInvitation = () => allInvitations(me.id);
const newEmail = (): string => `${unique("invited")}@example.com`;
/** Failed tries count by address. */
let addresses = 10;
const nextAddress = (): string => `127.0.9.${addresses++}`;

async function invite(by: Client, fields: Record<string, unknown> = {}) {
  const email = newEmail();
  const invitation = (await by.post("/users/invitations", { email, role: "viewer", ...fields })).as(invitations.create().data);
  return { invitation, email, token: await newestLink(me.id, "invitation", email) };
}

const accept = (token: string, from = nextAddress()) =>
  anonymous.post("/auth/invitations/accept", { token, name: "Ada", password: PASSWORD }, { from });

const INVALID = {
  success: false,
  error: { code: "UNAUTHORIZED", message: "This link is not valid: it was used, has expired, or a newer one was sent" },
};

test("somebody who was invited chooses a name and a password, and is signed in with the role", async () => {
  const { invitation, email, token } = await invite(owner, { role: "custom", permissions: ["servers:read"] });
  expect(invitation).toMatchObject({ email, role: "custom", permissions: ["servers:read"], invited_by: { id: me.user.id } });
  expect(JSON.stringify(invitation)).not.toContain(token);
  const begun = (await accept(token)).as(auth.acceptInvitation().data);
  expect(begun.user).toMatchObject({ email, name: "Ada" });
  const api = clientWith(begun.token);
  expect((await api.get("/auth/me")).body).toMatchObject({ data: { role: "custom", permissions: ["servers:read"] } });
  expect((await anonymous.post("/auth/login", { email, password: PASSWORD }, { from: nextAddress() })).status).toBe(200);
  expect((await accept(token)).body).toEqual(INVALID);
  expect((await owner.get("/users/invitations")).text).not.toContain(email);
});

test("the table keeps no link in clear, and no password", async () => {
  const { token } = await invite(owner);
  await accept(token);
  expect((await everyItem()).filter((item) => item.includes(token) || item.includes(PASSWORD))).toEqual([]);
});

test("of two who accept with one link at once one joins", async () => {
  const { token } = await invite(owner);
  expect(statusesOf(await Promise.all([accept(token), accept(token)]))).toEqual([200, 401]);
});

describe("a link stops working", () => {
  test("with the next one, when it is withdrawn, and when it has expired", async () => {
    const { invitation, email, token } = await invite(owner);
    expect((await owner.post(`/users/invitations/${invitation.id}/resend`, {})).status).toBe(200);
    const newer = await newestLink(me.id, "invitation", email);
    expect((await accept(token)).body).toEqual(INVALID);
    await updateOne(invitationRef(me.id, invitation.id).key, { set: { expires_at: "2026-01-01T00:00:00.000Z" } }, {});
    expect((await accept(newer)).body).toEqual(INVALID);
    const other = await invite(owner);
    expect((await owner.delete(`/users/invitations/${other.invitation.id}`)).status).toBe(200);
    expect((await accept(other.token)).body).toEqual(INVALID);
    expect((await owner.delete(`/users/invitations/${other.invitation.id}`)).status).toBe(404);
  });

  test.each([
    ["loses the role", (id: string) => owner.put(`/users/${id}`, { role: "operator" })],
    ["is removed", (id: string) => owner.delete(`/users/${id}`)],
  ])("once its sender %s, and is no longer listed", async (_, end) => {
    const admin = await me.anotherUser({ role: "admin" });
    const { email, token } = await invite(await me.session(admin));
    expect((await owner.get("/users/invitations?per_page=100")).text).toContain(email);
    expect((await end(admin.id)).status).toBe(200);
    expect((await accept(token)).body).toEqual(INVALID);
    expect((await owner.get("/users/invitations?per_page=100")).text).not.toContain(email);
  });

  test.each(["", "x", "A".repeat(75), "A".repeat(76), "💥"])("or never has: %j", async (token) => {
    const { status } = await accept(token);
    expect(status).toBe(token === "" ? 422 : 401);
  });
});

test("nobody invites to more than they may do, and only owners and admins invite", async () => {
  const body = { email: newEmail(), role: "owner" };
  const admin = await me.session(await me.anotherUser({ role: "admin" }));
  expect((await admin.post("/users/invitations", body)).error).toEqual({
    code: "FORBIDDEN",
    message: "This action needs the role owner",
  });
  const operator = await me.session(await me.anotherUser({ role: "operator" }));
  expect((await operator.post("/users/invitations", body)).error).toEqual({
    code: "FORBIDDEN",
    message: "This action needs the role owner or admin",
  });
  expect((await me.api.post("/users/invitations", body)).status).toBe(403);
  const { invitation } = await invite(owner, { role: "owner" });
  for (const { error } of [
    await admin.delete(`/users/invitations/${invitation.id}`),
    await admin.post(`/users/invitations/${invitation.id}/resend`, {}),
  ])
    expect(error).toEqual({ code: "FORBIDDEN", message: "This action needs the role owner" });
  expect((await owner.delete(`/users/invitations/${invitation.id}`)).status).toBe(200);
});

test("a user of this account is a conflict at once, one of another only when the link is used", async () => {
  const { error } = await owner.post("/users/invitations", { email: me.user.email, role: "viewer" });
  expect(error).toMatchObject({ code: "CONFLICT", details: { field: "email" } });
  const them = await account();
  const response = await owner.post("/users/invitations", { email: them.user.email, role: "viewer" });
  expect(response.status).toBe(201);
  expect((await accept(await newestLink(me.id, "invitation", them.user.email))).error).toMatchObject({
    code: "CONFLICT",
    details: { field: "email" },
  });
});

describe("whoever has joined has no other open invitation", () => {
  beforeEach(async () => {
    me = await account(); // within the limits of one session
    owner = await me.session();
  });
  const inviteTwice = async (email = newEmail()) => {
    const links: string[] = [];
    for (const written of [email, email.toUpperCase()]) {
      expect((await owner.post("/users/invitations", { email: written, role: "viewer" })).status).toBe(201);
      links.push(await newestLink(me.id, "invitation", written));
    }
    const [first = "", second = ""] = links;
    return { email, first, second };
  };
  const listed = async () => (await owner.get("/users/invitations?per_page=100")).as(invitations.list().data);

  test("none is listed or sent again, and a second link does not work", async () => {
    const { email, first, second } = await inviteTwice();
    const [newest] = await listed();
    const joined = (await accept(first)).as(auth.acceptInvitation().data);
    expect((await listed()).filter((each) => each.email.toLowerCase() === email)).toEqual([]);
    const { error } = await owner.post(`/users/invitations/${newest?.id}/resend`, {});
    expect(error).toMatchObject({ code: "CONFLICT", message: "This email belongs to a user of this account" });
    expect((await accept(second)).error?.code).toBe("CONFLICT");
    expect((await owner.delete(`/users/${joined.user.id}`)).status).toBe(200);
  });

  test.each([
    ["an owner", (id: string) => owner.delete(`/users/${id}`)],
    ["the operator", (_: string, email: string) => deleteUser(email)],
  ])("nor does it bring somebody back whom %s has removed", async (_, remove) => {
    const { email, first, second } = await inviteTwice();
    const { user } = (await accept(first)).as(auth.acceptInvitation().data);
    await remove(user.id, email);
    expect((await accept(second)).body).toEqual(INVALID);
    expect((await listed()).filter((each) => each.email.toLowerCase() === email)).toEqual([]);
    // Who invites them from now on means it.
    await owner.post("/users/invitations", { email, role: "viewer" });
    expect((await accept(await newestLink(me.id, "invitation", email))).status).toBe(200);
  });

  test("however many links there were", async () => {
    const { email, first } = await inviteTwice();
    const { user } = (await accept(first)).as(auth.acceptInvitation().data);
    const [record] = (await everyInvitation()).filter((each) => each.email.toLowerCase() === email);
    const copies = Array.from({ length: 120 }, () => ({ ...record, id: newId("invitation") }));
    await Promise.all(copies.map((copy) => putIfAbsent(invitationRef(me.id, copy.id).key, copy)));
    expect((await owner.delete(`/users/${user.id}`)).status).toBe(200);
    expect((await everyInvitation()).filter((each) => each.email.toLowerCase() === email)).toEqual([]);
  });
});

test("while an account is full nobody is invited and nobody joins, and the link stays valid", async () => {
  const them = await account();
  const sender = await them.session();
  const email = newEmail();
  await sender.post("/users/invitations", { email, role: "viewer" });
  const token = await newestLink(them.id, "invitation", email);
  await setQuota(them.id, "user", 1);
  for (const response of [await sender.post("/users/invitations", { email: newEmail(), role: "viewer" }), await accept(token)])
    expect([response.status, response.error?.code, response.error?.details]).toEqual([
      409,
      "QUOTA_EXCEEDED",
      { resource: "users", limit: 1 },
    ]);
  await setQuota(them.id, "user", 2);
  expect((await accept(token)).status).toBe(200);
});

test("a link that lets nobody join now is no failed sign-in of its address", async () => {
  const them = await account();
  await owner.post("/users/invitations", { email: them.user.email, role: "viewer" });
  const taken = await newestLink(me.id, "invitation", them.user.email);
  const from = nextAddress();
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) statuses.push((await accept(taken, from)).status);
  expect(statuses).toEqual(Array.from({ length: 11 }, () => 409));
});

test("an account invites 30 times in 24 hours", async () => {
  const them = await account();
  const senders = await Promise.all([them.session(), them.anotherUser().then((user) => them.session(user))]);
  const statuses: number[] = [];
  for (let i = 0; i < 31; i++) {
    const by = senders[i % 2] ?? owner;
    const response = await by.post("/users/invitations", { email: newEmail(), role: "viewer" });
    statuses.push(response.status);
    if (i === 30) expect(response.error).toMatchObject({ details: { limit: 30, window_seconds: 86_400, scope: "invitation" } });
  }
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 201), 429]);
});
