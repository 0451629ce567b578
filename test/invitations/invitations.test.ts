// /users/invitations, and POST /auth/invitations/accept
import { beforeAll, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { updateOne } from "../../shared/data/table.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { invitationRef } from "../../shared/records/invitations.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, clientWith, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { everyItem } from "../harness/table.ts";
import { accept, INVALID, invite, newEmail, nextAddress, PASSWORD } from "./links.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

test("somebody who was invited chooses a name and a password, and is signed in with the role", async () => {
  const { invitation, email, token } = await invite(me, owner, { role: "custom", permissions: ["servers:read"] });
  expect(invitation).toMatchObject({ email, role: "custom", permissions: ["servers:read"], invited_by: { id: me.user.id } });
  expect(JSON.stringify(invitation)).not.toContain(token);
  const session = (await accept(token)).as(auth.acceptInvitation().data);
  expect(session.user).toMatchObject({ email, name: "Ada" });
  const api = clientWith(session.token);
  expect((await api.get("/auth/me")).body).toMatchObject({ data: { role: "custom", permissions: ["servers:read"] } });
  expect((await anonymous.post("/auth/login", { email, password: PASSWORD }, { from: nextAddress() })).status).toBe(200);
  expect((await accept(token)).body).toEqual(INVALID);
  expect((await owner.get("/users/invitations")).text).not.toContain(email);
});

test("the table keeps no link in clear, and no password", async () => {
  const { token } = await invite(me, owner);
  await accept(token);
  expect((await everyItem()).filter((item) => item.includes(token) || item.includes(PASSWORD))).toEqual([]);
});

describe("a link stops working", () => {
  test("with the next one, when it is withdrawn, and when it has expired", async () => {
    const { invitation, email, token } = await invite(me, owner);
    expect((await owner.post(`/users/invitations/${invitation.id}/resend`, {})).status).toBe(200);
    const newer = await newestLink(me.id, "invitation", email);
    expect((await accept(token)).body).toEqual(INVALID);
    await updateOne(invitationRef(me.id, invitation.id).key, { set: { expires_at: "2026-01-01T00:00:00.000Z" } }, {});
    expect((await accept(newer)).body).toEqual(INVALID);
    const other = await invite(me, owner);
    expect((await owner.delete(`/users/invitations/${other.invitation.id}`)).status).toBe(200);
    expect((await accept(other.token)).body).toEqual(INVALID);
    expect((await owner.delete(`/users/invitations/${other.invitation.id}`)).status).toBe(404);
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
  const { invitation } = await invite(me, owner, { role: "owner" });
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
