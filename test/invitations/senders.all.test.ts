// Invitations whose sender may not send them any more
import { beforeEach, expect, test } from "vitest";
import * as eventsApi from "../../shared/api/events.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { createUser, setUserRole } from "../../shared/operations/accounts/operator.ts";
import { removeUnsendable } from "../../shared/operations/sign-in/sent-invitations.ts";
import { userRef } from "../../shared/records/users.ts";
import { allInvitations } from "../../shared/records/invitations.ts";
import { account, type TestAccount, type TestUser, unique } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { newAddress } from "../harness/second-factors.ts";

let me: TestAccount;
let owner: Client;
beforeEach(async () => {
  me = await account();
  owner = await me.session();
});

const INVALID = {
  code: "UNAUTHORIZED",
  message: "This link is not valid: it was used, has expired, or a newer one was sent",
};

async function invite(sender: TestUser, role = "viewer") {
  const email = `${unique("invited")}@example.com`;
  await (await me.session(sender)).post("/users/invitations", { email, role });
  return { email, token: await newestLink(me.id, "invitation", email) };
}

const accept = (token: string) =>
  anonymous.post("/auth/invitations/accept", { token, name: "Ada", password: "a password of her own" }, { from: newAddress() });

const roleGivers: [string, (user: TestUser, role: "owner" | "admin" | "operator") => Promise<unknown>][] = [
  ["an owner", (user, role) => owner.put(`/users/${user.id}`, { role })],
  ["the operator", (user, role) => setUserRole(user.email, { role, permissions: [] })],
];

test.each(roleGivers)("do not come back with the role that %s gives back", async (_, give) => {
  const admin = await me.anotherUser({ role: "admin" });
  const { token } = await invite(admin);
  await give(admin, "operator");
  await give(admin, "admin");
  expect((await accept(token)).error).toEqual(INVALID);
  expect(await allInvitations(me.id)).toEqual([]);
  const events = (await owner.get("/events?type=user.invitation_deleted")).as(eventsApi.list().data);
  expect(events).toHaveLength(1);
});

test.each(roleGivers)("do not come back with the role that %s gives back after a request that was cut off", async (_, give) => {
  const admin = await me.anotherUser({ role: "admin" });
  const { token } = await invite(admin);
  await updateOne(keys.user(admin.id), { set: { role: "operator" } }, {});
  await give(admin, "admin");
  expect((await accept(token)).error).toEqual(INVALID);
});

test("stay if their sender has their role again by the time that a late removal comes to them", async () => {
  const admin = await me.anotherUser({ role: "admin" });
  const { token } = await invite(admin);
  const user = (await find(userRef(admin.id))) ?? expect.fail("It is there");
  await removeUnsendable({ ...user, role: "operator" }, { operator: "operator", requestId: "late" });
  expect((await accept(token)).status).toBe(200);
});

test("go, and those that they may still send, or that others have sent again, stay", async () => {
  const sender = await me.anotherUser();
  const [toOwn, toView] = [await invite(sender, "owner"), await invite(sender)];
  const again = await invite(sender, "owner");
  const open = await allInvitations(me.id);
  const { id } = open.find(({ email }) => email === again.email) ?? expect.fail("It is open");
  await owner.post(`/users/invitations/${id}/resend`, {});
  await owner.put(`/users/${sender.id}`, { role: "admin" });
  const emails = (await allInvitations(me.id)).map(({ email }) => email);
  expect(new Set(emails)).toEqual(new Set([toView.email, again.email]));
  expect((await accept(toOwn.token)).error).toEqual(INVALID);
  expect((await accept(toView.token)).status).toBe(200);
});

test("get the 401 of every dead link, whatever else would reject whoever opens it", async () => {
  const admin = await me.anotherUser({ role: "admin" });
  const [taken, outside] = [await invite(admin), await invite(admin)];
  await owner.delete(`/users/${admin.id}`);
  await createUser((await account()).id, { email: taken.email, name: "Elsewhere", password: "a long enough password" });
  expect((await accept(taken.token)).error).toEqual(INVALID);
  await owner.put("/settings", { allowed_ips: ["127.0.0.0/24"] });
  expect((await accept(outside.token)).error).toEqual(INVALID);
});
