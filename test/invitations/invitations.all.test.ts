// Invitations that are no longer valid, two links for one person, and how many an account may send.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as invitations from "../../shared/api/invitations.ts";
import { putIfAbsent } from "../../shared/data/table.ts";
import { deleteUser } from "../../shared/operations/accounts/operator.ts";
import { allInvitations, invitationRef } from "../../shared/records/invitations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { accept, INVALID, invite, newEmail, nextAddress } from "./links.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

const everyInvitation = () => allInvitations(me.id);

test("of two who accept with one link at once one joins", async () => {
  const { token } = await invite(me, owner);
  expect(statusesOf(await Promise.all([accept(token), accept(token)]))).toEqual([200, 401]);
});

describe("a link stops working", () => {
  test.each([
    ["loses the role", (id: string) => owner.put(`/users/${id}`, { role: "operator" })],
    ["is removed", (id: string) => owner.delete(`/users/${id}`)],
  ])("once its sender %s, and is no longer listed", async (_, end) => {
    const admin = await me.anotherUser({ role: "admin" });
    const { email, token } = await invite(me, await me.session(admin));
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

test("a link that lets nobody join now is no failed sign-in of its address", async () => {
  const them = await account();
  await owner.post("/users/invitations", { email: them.user.email, role: "viewer" });
  const token = await newestLink(me.id, "invitation", them.user.email);
  const from = nextAddress();
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) statuses.push((await accept(token, from)).status);
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
