// POST /tokens/:id/rotate
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as events from "../../shared/api/events.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { Webhook } from "../../shared/api/webhooks.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { getWebhook } from "../../shared/records/webhooks.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { type Client, clientWith } from "../harness/client.ts";

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
const admits = async (value: string) => (await clientWith(value).get("/auth/me")).status === 200;

test("both tokens work for a day, with the same name and permissions, and each names the other", async () => {
  const old = await create({ permissions: ["servers:read", "backups:restore"] });
  const response = await rotate(old.id);
  expect(response.status).toBe(201);
  const { token, ...successor } = response.as(NewToken);
  expect(successor).toMatchObject({
    name: old.name,
    permissions: old.permissions,
    replaces: old.id,
    replaced_by: null,
    expires_at: null,
  });
  expect(await show(successor.id)).toMatchObject(successor);
  const before = await show(old.id);
  expect(before.replaced_by).toBe(successor.id);
  expect(Math.abs(Date.parse(before.expires_at ?? "") - Date.now() - 24 * HOUR_MS)).toBeLessThan(HOUR_MS);
  expect([await admits(old.token), await admits(token)]).toEqual([true, true]);
  const [event] = (await session.get(`/events?type=token.rotated&resource_id=${old.id}`)).as(events.list().data);
  expect(event?.data?.changes).toEqual([
    { field: "last4", before: old.last4, after: successor.last4 },
    { field: "expires_at", before: null, after: before.expires_at },
    { field: "replaced_by", before: null, after: successor.id },
  ]);
});

test("without an overlap, the very next request with the old token is rejected", async () => {
  const old = await create();
  const { token } = (await rotate(old.id, { overlap_hours: 0 })).as(NewToken);
  expect([await admits(old.token), await admits(token)]).toEqual([false, true]);
});

test("a webhook that acts for the old token acts for the new one", async () => {
  const old = await create({ permissions: ALL_PERMISSIONS });
  const hook = { name: unique("hook"), url: "https://flaky.example/hooks", events: ["server.*"] };
  const { id } = (await clientWith(old.token).post("/webhooks", hook)).as(Webhook.pick({ id: true }));
  const successor = (await rotate(old.id, { overlap_hours: 0 })).as(NewToken);
  expect((await getWebhook(me.id, id)).acts_for).toEqual({ type: "token", id: successor.id });
});

test("an overlap beyond a week, another account's token, and a rotation beyond the quota are rejected", async () => {
  const old = await create();
  expect((await rotate(old.id, { overlap_hours: 169 })).error).toMatchObject({ details: { field: "overlap_hours" } });
  expect((await (await (await account()).session()).post(`/tokens/${old.id}/rotate`, {})).status).toBe(404);
  const other = await account();
  const otherSession = await other.session();
  await setQuota(other.id, "token", 1);
  expect((await otherSession.post(`/tokens/${other.tokenId}/rotate`, {})).error?.code).toBe("QUOTA_EXCEEDED");
  expect((await show(old.id)).replaced_by).toBeNull();
});
