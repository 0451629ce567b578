// Fresh proofs: what their challenges are for, and which error comes first.
import { beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as invitations from "../../shared/api/invitations.ts";
import * as webhooks from "../../shared/api/webhooks.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, type TestUser, unique, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { addPasskey, challengeIn, newCodes, NOT_VALID, prove, challengeFor, sessionIn } from "../harness/second-factors.ts";

let me: TestAccount;
let user: TestUser;
let codes: string[];
/** A session with a proof that is 15 minutes old. */
let stale: Client;

const sessionId = async (client: Client): Promise<string> => {
  const sessions = (await client.get("/auth/sessions")).as(auth.listSessions().data);
  return sessions.find(({ current }) => current)?.id ?? expect.fail("There is a current session");
};

const age = async (client: Client, minutes: number): Promise<void> => {
  const set = { second_factor_at: new Date(Date.now() - minutes * 60_000).toISOString() };
  await updateOne(keys.session(user.id, await sessionId(client)), { set }, {});
};

beforeAll(async () => {
  me = await account();
  user = await me.anotherUser();
  stale = await me.session(user);
  await addPasskey(stale);
  codes = await newCodes(stale);
  await age(stale, 15);
});

const nextCode = (): string => codes.pop() ?? expect.fail("There are ten codes");

const create = (client: Client) => client.post("/tokens", { name: unique("token"), permissions: ["servers:read"] });
const reauthenticate = (client: Client, proof: Record<string, unknown>) => client.post("/auth/reauthenticate", proof);

test("a challenge is for its session and its purpose, and works once", async () => {
  const { challenge } = challengeIn(await create(stale));
  const second = sessionIn(
    await prove({ challenge: (await challengeFor(user)).challenge, method: "recovery_code", code: nextCode() }),
  );
  expect((await reauthenticate(second, { challenge, method: "recovery_code", code: nextCode() })).error).toEqual(NOT_VALID);
  expect((await prove({ challenge, method: "recovery_code", code: nextCode() })).error).toEqual(NOT_VALID);
  const { challenge: signIn } = await challengeFor(user);
  expect((await reauthenticate(stale, { challenge: signIn, method: "recovery_code", code: nextCode() })).error).toEqual(
    NOT_VALID,
  );
  expect((await create(stale)).error?.code).toBe("REAUTHENTICATION_REQUIRED");
  expect((await reauthenticate(stale, { challenge, method: "recovery_code", code: nextCode() })).status).toBe(200);
  expect((await create(stale)).status).toBe(201);
  expect((await reauthenticate(stale, { challenge, method: "recovery_code", code: nextCode() })).error).toEqual(NOT_VALID);
  await age(stale, 15);
});

/** A session of a user with a second factor whose proof is old. */
async function staleSession(of: TestUser): Promise<Client> {
  const session = await me.session(of);
  await addPasskey(session);
  const set = { second_factor_at: "2026-01-01T00:00:00.000Z" };
  await updateOne(keys.session(of.id, await sessionId(session)), { set }, {});
  return session;
}

test("403s come in this order: the role, the permission, the proof", async () => {
  const session = await staleSession(await me.anotherUser({ role: "viewer" }));
  const messages = await Promise.all([
    create(session),
    session.put(`/users/${user.id}`, { role: "admin" }),
    session.delete(`/servers/${unusedId("server")}`),
    session.post("/bulk", { action: "delete", select: { ids: [unusedId("instance")] } }),
  ]);
  expect(messages.map(({ error }) => error?.code)).toEqual(["FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]);
  // An admin cannot make owners, whatever they prove.
  const adminSession = await staleSession(await me.anotherUser({ role: "admin" }));
  const asOwner = { email: `${unique("new")}@example.com`, role: "owner" };
  const invited = (await (await me.session()).post("/users/invitations", asOwner)).as(invitations.create().data);
  for (const { error } of [
    await adminSession.post("/users/invitations", asOwner),
    await adminSession.put(`/users/${user.id}`, { role: "owner" }),
    // Nor touch one.
    await adminSession.put(`/users/${me.user.id}`, { name: "Other" }),
    await adminSession.delete(`/users/${me.user.id}`),
    await adminSession.post(`/users/invitations/${invited.id}/resend`, {}),
    await adminSession.delete(`/users/invitations/${invited.id}`),
  ])
    expect(error).toEqual({ code: "FORBIDDEN", message: "This action needs the role owner" });
  // Nor sees, with a permission of the settings alone, what a webhook is sent.
  const webhook = (
    await me.api.post("/webhooks", { name: unique("hook"), url: "https://flaky.example/hooks", events: ["backup.*"] })
  ).as(webhooks.create().data);
  const custom = await me.anotherUser({ role: "custom", permissions: ["settings:write"] });
  const settled = await staleSession(custom);
  for (const { error } of [
    await settled.put(`/webhooks/${webhook.id}`, { url: "https://flaky.example/other" }),
    await settled.post(`/webhooks/${webhook.id}/rotate-secret`, {}),
  ])
    expect(error).toEqual({ code: "FORBIDDEN", message: "Token does not have permission: backups:read" });
  // What owners set needs their role before the permission.
  for (const fields of [{ allowed_ips: [] }, { token_max_days: 30 }, { require_second_factor: "all" }])
    expect((await session.put("/settings", { contact_email: null, ...fields })).error?.message).toBe(
      "This action needs the role owner",
    );
  expect((await session.put("/settings", { contact_email: null })).error?.message).toBe(
    "Token does not have permission: settings:write",
  );
});
