// POST /tokens/:id/rotate, while something else happens to the token: other rotations, revocations, deliveries.
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as tokens from "../../shared/api/tokens.ts";
import { Webhook } from "../../shared/api/webhooks.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { Overtaken, startChange } from "../../shared/data/change.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { getToken, revokeToken } from "../../shared/records/tokens.ts";
import { actingPermissions, disableWebhook, getWebhook } from "../../shared/records/webhooks.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { type Client, clientWith, statusesOf } from "../harness/client.ts";

const HOUR_MS = 3_600_000;

let me: TestAccount;
let session: Client;
beforeAll(async () => {
  me = await account();
});
// Rotations count as creations: each test has a user with separate limits.
beforeEach(async () => {
  session = await me.session(await me.anotherUser());
});

const NewToken = tokens.rotate().data;
const create = async (fields: Record<string, unknown> = {}) =>
  (await session.post("/tokens", { name: unique("pipeline"), permissions: ["servers:read"], ...fields })).as(NewToken);
const rotate = async (id: string, body: Record<string, unknown> = {}) => session.post(`/tokens/${id}/rotate`, body);
const show = async (id: string) => (await session.get(`/tokens/${id}`)).as(tokens.Token);

test("the new token lives as long as the old one was to, and the old one no longer than before", async () => {
  const soon = new Date(Date.now() + HOUR_MS).toISOString();
  const old = await create({ expires_at: soon });
  const successor = (await rotate(old.id, { overlap_hours: 168 })).as(NewToken);
  const lifetime = Date.parse(soon) - Date.parse(old.created_at);
  expect(Math.abs(Date.parse(successor.expires_at ?? "") - Date.parse(successor.created_at) - lifetime)).toBeLessThan(5_000);
  expect((await show(old.id)).expires_at).toBe(soon);
});

test("a token is rotated once, also if ten requests come at the same time; then its successor is", async () => {
  const old = await create();
  const responses = await Promise.all(Array.from({ length: 10 }, () => rotate(old.id)));
  expect(statusesOf(responses)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
  for (const { status, error } of responses)
    if (status === 409) expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: "rotated" } });
  const successor = String((await show(old.id)).replaced_by);
  expect((await rotate(successor)).as(NewToken).replaces).toBe(successor);
});

test("the name stays with the new token when the old one is revoked", async () => {
  const old = await create();
  const successor = (await rotate(old.id)).as(NewToken);
  expect((await session.delete(`/tokens/${old.id}`)).status).toBe(200);
  expect((await session.post("/tokens", { name: old.name, permissions: ["servers:read"] })).error?.code).toBe("CONFLICT");
  expect((await session.delete(`/tokens/${successor.id}`)).status).toBe(200);
  expect((await session.post("/tokens", { name: old.name, permissions: ["servers:read"] })).status).toBe(201);
});

test("a revocation that has read the token before its rotation does not take the name from the new token", async () => {
  const old = await create();
  const read = await getToken(me.id, old.id);
  await rotate(old.id);
  const change = startChange({ id: me.id });
  revokeToken(change, read);
  await expect(change.commit()).rejects.toBeInstanceOf(Overtaken);
  expect((await session.post("/tokens", { name: old.name, permissions: ["servers:read"] })).error?.code).toBe("CONFLICT");
});

test("a delivery that has read the webhook before the rotation is made for the new token, and does not disable it", async () => {
  const old = await create({ permissions: ALL_PERMISSIONS });
  const hook = { name: unique("hook"), url: "https://flaky.example/hooks", events: ["server.*"] };
  const { id } = (await clientWith(old.token).post("/webhooks", hook)).as(Webhook.pick({ id: true }));
  const read = await getWebhook(me.id, id);
  await rotate(old.id, { overlap_hours: 0 });
  expect(await actingPermissions(read)).toEqual(ALL_PERMISSIONS);
  await disableWebhook(read, "credential");
  expect((await getWebhook(me.id, id)).enabled).toBe(true);
  await disableWebhook(await getWebhook(me.id, id), "credential");
  expect((await getWebhook(me.id, id)).enabled).toBe(false);
});

test("a version of the token from before its rotation is stale", async () => {
  const old = await create();
  const { headers } = await session.get(`/tokens/${old.id}`);
  await rotate(old.id);
  const stale = await session.send("DELETE", `/tokens/${old.id}`, undefined, {
    headers: { "if-match": String(headers["etag"]) },
  });
  expect(stale.status).toBe(412);
  const now = await session.get(`/tokens/${old.id}`);
  const fresh = { headers: { "if-match": String(now.headers["etag"]) } };
  expect((await session.send("DELETE", `/tokens/${old.id}`, undefined, fresh)).status).toBe(200);
});

test("a token whose overlap has ended makes room for another one when the account is full", async () => {
  const other = await account();
  const otherSession = await other.session();
  const old = (await otherSession.post("/tokens", { name: unique("pipeline"), permissions: ["servers:read"] })).as(NewToken);
  await setQuota(other.id, "token", 3);
  const second = (await otherSession.post(`/tokens/${old.id}/rotate`, { overlap_hours: 0 })).as(NewToken);
  const third = await otherSession.post(`/tokens/${second.id}/rotate`, { overlap_hours: 1 });
  expect(third.status).toBe(201);
  expect((await otherSession.get(`/tokens/${old.id}`)).status).toBe(404);
  expect((await otherSession.get("/events?type=token.delete")).text).toContain('"type":"service"');
  // The second one still works, and counts.
  const { id } = third.as(NewToken);
  expect((await otherSession.post(`/tokens/${id}/rotate`, {})).error?.code).toBe("QUOTA_EXCEEDED");
  expect((await otherSession.get(`/tokens/${second.id}`)).status).toBe(200);
  expect((await otherSession.post("/tokens", { name: unique("more"), permissions: ["servers:read"] })).error?.code).toBe(
    "QUOTA_EXCEEDED",
  );
});
