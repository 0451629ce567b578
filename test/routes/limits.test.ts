// Rate limits: those of every route, exact even for concurrent requests.
import { beforeAll, describe, expect, test } from "vitest";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { authorizeToken } from "../../shared/operations/credentials/admission.ts";
import { getToken, revokeToken, tokenAccessRef } from "../../shared/records/tokens.ts";
import { openSession, userAccessRef, userRef } from "../../shared/records/users.ts";
import type { Key } from "../../shared/data/keys.ts";
import { encodeStamp } from "../../shared/data/stamps.ts";
import { find, readAll, updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { account, newPublicKey, type TestAccount, unique } from "../harness/account.ts";
import { itemBytes } from "../harness/item-size.ts";
import { lateness } from "../harness/late.ts";
import { takeSlots } from "../harness/slots.ts";
import type { ApiResponse } from "../harness/client.ts";
import { bodyOf, closedRoutes, pathOf } from "../harness/requests.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** docs/api.md: a POST that creates a server, instance, clone, backup, token or SSH key, and every DELETE. */
const CREATE_DELETE = [
  "POST /servers",
  "POST /instances",
  "POST /instances/:id/clone",
  "POST /instances/:id/backups",
  "POST /instances/:id/deploys",
  "POST /backups/uploads/:id/complete",
  "DELETE /backups/uploads/:id",
  "POST /tokens",
  "POST /tokens/:id/rotate",
  "POST /ssh-keys",
  "POST /webhooks",
  "DELETE /webhooks/:id",
  "DELETE /servers/:id",
  "DELETE /instances/:id/backup-policy",
  "DELETE /instances/:id",
  "DELETE /backups/:id",
  "DELETE /tokens/:id",
  "DELETE /users/:id",
  "POST /users/invitations",
  "DELETE /users/invitations/:id",
  "DELETE /settings/sso",
  "DELETE /auth/sessions",
  "DELETE /auth/sessions/:id",
  "POST /auth/second-factors/totp/confirm",
  "POST /auth/second-factors/passkeys",
  "DELETE /auth/second-factors/:id",
  "DELETE /users/:id/second-factors",
  "DELETE /ssh-keys/:id",
];

const counted = (response: ApiResponse) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => Number(response.headers[name]));

test.each(closedRoutes)("$title counts against the limit that docs/api.md says, even when it fails", async (route) => {
  const { api } = await me.token(["settings:read"]);
  const before = Date.now() / 1000;
  const [limit, remaining, reset = 0] = counted(await api.send(route.method, pathOf(route), bodyOf(route)));
  expect(limit).toBe(CREATE_DELETE.includes(route.title) ? 20 : 100);
  expect(remaining).toBe((limit ?? 0) - 1);
  expect(reset).toBeGreaterThan(before + 60 - 1); // in whole seconds
  expect(reset).toBeLessThan(Date.now() / 1000 + 60 + 1);
});

const BURST = 15;
const atOnce = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: BURST }, ask));

/**
 * Exactly as many requests of a burst pass as slots are free. On a busy machine, a response that is late may mean that its slot
 * counts twice.
 */
function expectExact(responses: readonly ApiResponse[], free: number, late: number): ApiResponse[] {
  const rejected = responses.filter(({ status }) => status === 429);
  const passed = responses.length - rejected.length;
  expect(passed).toBeLessThanOrEqual(free);
  expect(passed).toBeGreaterThanOrEqual(free - late);
  return rejected;
}

describe("creations and deletions", () => {
  test("the 21st creation in a minute is rejected, other requests are not, and a minute later creations work again", async () => {
    const token = await me.token();
    const access = tokenAccessRef(token.id);
    await takeSlots(access, { all: 18, create_delete: 18 });
    for (const left of [1, 0]) {
      const response = await token.api.delete("/ssh-keys/none");
      expect(response.status).toBe(404);
      expect(counted(response).slice(0, 2)).toEqual([20, left]);
    }
    await takeSlots(access, { all: 20, create_delete: 20 });
    const before = await me.trace();
    const rejected = await token.api.post("/ssh-keys", { name: "One too many", public_key: newPublicKey() });
    expect(rejected.status).toBe(429);
    expect(rejected.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { limit: 20, window_seconds: 60, scope: "create_delete" },
    });
    expect(counted(rejected).slice(0, 2)).toEqual([20, 0]);
    expect(rejected.headers["retry-after"]).toBe("60");
    expect(await me.trace()).toBe(before);
    expect((await token.api.get("/ssh-keys")).status).toBe(200);
    const minuteAgo = encodeStamp(Date.now() - 60_000);
    await updateOne(access.key, { set: { create_delete: Array.from({ length: 20 }, () => minuteAgo) } }, {});
    expect((await token.api.delete("/ssh-keys/none")).status).toBe(404);
  });

  test("a rejected request does not count", async () => {
    const token = await me.token();
    await takeSlots(tokenAccessRef(token.id), { all: 20, create_delete: 20 });
    for (let i = 0; i < 5; i++) expect((await token.api.delete("/ssh-keys/none")).status).toBe(429);
    // Whatever the request is, the headers show the limit closest to being reached.
    expect(counted(await token.api.get("/settings")).slice(0, 2)).toEqual([20, 0]);
    const access = await find(tokenAccessRef(token.id));
    expect(access?.all.filter((time) => time > 0)).toHaveLength(21);
  });

  test("a creation fails on the other limit if all of its slots are taken", async () => {
    const token = await me.token();
    await takeSlots(tokenAccessRef(token.id), { all: 100 });
    const rejected = await token.api.delete("/ssh-keys/none");
    expect(rejected.status).toBe(429);
    expect(rejected.error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("of 15 creations at once exactly as many succeed as there are free slots", async () => {
    const { api, id } = await me.token();
    await takeSlots(tokenAccessRef(id), { all: 13, create_delete: 13 });
    const { late, timed } = lateness();
    expectExact(await atOnce(() => timed(() => api.delete("/ssh-keys/none"))), 7, late());
  });
});

test("a slot is free again one minute after its request, to the millisecond", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) =>
    authorizeToken(value, { rate: "all", ipAddress: null, at: at + afterMs, waitSeconds: 0, requestId: "test" });
  for (let i = 0; i < 100; i++) expect((await ask(0)).kind).toBe("admitted");
  expect(await ask(59_999)).toMatchObject({ kind: "limited", retryAfterMs: 1 });
  const { late, timed } = lateness();
  const responses: Awaited<ReturnType<typeof ask>>[] = [];
  while (responses.length < 150) responses.push(...(await atOnce(() => timed(() => ask(60_000)))));
  const admitted = responses.filter(({ kind }) => kind === "admitted").length;
  expect(admitted).toBeLessThanOrEqual(100);
  expect(admitted).toBeGreaterThanOrEqual(100 - late());
  expect(responses.filter(({ kind }) => kind === "limited")).toHaveLength(150 - admitted);
});

test("a request that began earlier than those that took the slots waits no longer than a minute", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) =>
    authorizeToken(value, { rate: "create_delete", ipAddress: null, at: at + afterMs, waitSeconds: 0, requestId: "test" });
  for (let i = 0; i < 20; i++) expect((await ask(2_500)).kind).toBe("admitted");
  expect(await ask(0)).toMatchObject({ kind: "limited", retryAfterMs: 60_000 });
});

describe("what every request writes has at most 1 KB, so that it costs one write unit", () => {
  const LONGEST_ADDRESS = "2001:db8:85a3:1234:5678:8a2e:3703:7334";
  const taken = encodeStamp(Date.now() - 90_000);
  const waits = { w0: taken, w1: taken, w2: taken };
  const sizeOf = async (key: Key) => itemBytes((await readAll([key])).values().next().value ?? {});

  test.each([
    ["", []],
    [" with as many networks as there may be", Array.from({ length: 10 }, (_, i) => `2001:db8:85a3:${i}::/${64 - i}`)],
  ])("a token's item%s", async (_, networks) => {
    const allowed_ips = networks.map((each, i) => (i === 0 ? "2001:db8:85a3:1234::/64" : each));
    const session = await me.session();
    const body = { name: unique("token"), permissions: ALL_PERMISSIONS, expires_at: "2099-12-31T23:59:59.999Z", allowed_ips };
    const { id, token } = (await session.post("/tokens", body)).as(tokens.create().data);
    const key = tokenAccessRef(id).key;
    await updateOne(key, { set: waits }, {});
    const facts = { rate: "all", ipAddress: LONGEST_ADDRESS, at: Date.now(), waitSeconds: 0, requestId: "test" } as const;
    expect((await authorizeToken(token, facts)).kind).toBe("admitted");
    expect(await find(tokenAccessRef(id))).toMatchObject({ id, account_id: me.id, last_used_ip: LONGEST_ADDRESS });
    expect(await sizeOf(key)).toBeLessThanOrEqual(1024);
  });

  test("the item of a user's sessions", async () => {
    const user = await me.anotherUser({ role: "custom", permissions: [...ALL_PERMISSIONS] });
    const record = await find(userRef(user.id));
    if (record === undefined) throw new Error("There is no such user");
    for (let i = 0; i < 20; i++) await openSession(record, newId("session"));
    const key = userAccessRef(user.id).key;
    const session = await me.session(user);
    await updateOne(key, { set: { ...waits, s: true } }, {});
    expect((await session.get("/auth/me")).status).toBe(200);
    expect(await sizeOf(key)).toBe(1014); // docs/scale.md
  });
});

describe("all requests", () => {
  test("of 15 requests at once exactly as many succeed as there are free slots", async () => {
    const { api, id } = await me.token();
    await takeSlots(tokenAccessRef(id), { all: 93 });
    const { late, timed } = lateness();
    const rejected = expectExact(await atOnce(() => timed(() => api.get("/auth/me"))), 7, late());
    expect(rejected.length).toBeGreaterThanOrEqual(8);
    for (const { error } of rejected) expect(error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("each token has its own limits", async () => {
    const [one, other] = [await me.token(), await me.token()];
    await takeSlots(tokenAccessRef(one.id), { all: 100 });
    expect((await one.api.get("/auth/me")).status).toBe(429);
    expect((await other.api.get("/auth/me")).status).toBe(200);
  });

  test("a user's sessions share one limit", async () => {
    const user = await me.anotherUser();
    const [one, other] = [await me.session(user), await me.session(user)];
    expect(counted(await one.get("/auth/me")).slice(0, 2)).toEqual([100, 99]);
    expect(counted(await other.get("/auth/me")).slice(0, 2)).toEqual([100, 98]);
    await takeSlots(userAccessRef(user.id), { all: 100 });
    for (const session of [one, other]) expect((await session.get("/auth/me")).status).toBe(429);
    expect((await (await me.session()).get("/auth/me")).status).toBe(200);
  });

  test("a revoked token over its limit gets 401, not 429", async () => {
    const token = await me.token();
    await takeSlots(tokenAccessRef(token.id), { all: 100 });
    const change = startChange(await getAccount(me.id));
    revokeToken(change, await getToken(me.id, token.id));
    await change.commit();
    expect((await token.api.get("/auth/me")).status).toBe(401);
  });
});
