// Rate limits: those of every route, exact even for concurrent requests.
import { beforeAll, describe, expect, test } from "vitest";
import { getAccount } from "../../shared/data/accounts.ts";
import { changeOf } from "../../shared/data/change.ts";
import { admitToken } from "../../shared/data/admission.ts";
import { getToken, revokeToken, tokenAccessRef } from "../../shared/data/tokens.ts";
import { openSession, userAccessRef, userRef } from "../../shared/data/users.ts";
import type { Key } from "../../shared/data/keys.ts";
import { stampOf } from "../../shared/data/stamps.ts";
import { find, readAll, updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, newPublicKey, type TestAccount, type TestToken } from "../harness/account.ts";
import { inBursts } from "../harness/bursts.ts";
import { itemBytes } from "../harness/item-size.ts";
import { lateness } from "../harness/late.ts";
import type { ApiResponse } from "../harness/client.ts";
import { bodyOf, closedRoutes, pathOf } from "../harness/requests.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** CONTRACT.md: a POST that creates a server, instance, clone, backup, token or SSH key, and every DELETE. */
const CREATE_DELETE = [
  "POST /servers",
  "POST /instances",
  "POST /instances/:id/clone",
  "POST /instances/:id/backups",
  "POST /backups/uploads/:id/complete",
  "DELETE /backups/uploads/:id",
  "POST /tokens",
  "POST /ssh-keys",
  "DELETE /servers/:id",
  "DELETE /instances/:id/backup-policy",
  "DELETE /instances/:id",
  "DELETE /backups/:id",
  "DELETE /tokens/:id",
  "DELETE /ssh-keys/:id",
];

const counted = (response: ApiResponse) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => Number(response.headers[name]));

test.each(closedRoutes)("$title counts against the limit that the contract assigns, even when it fails", async (route) => {
  const { api } = await me.token(["settings:read"]);
  const before = Date.now() / 1000;
  const [limit, remaining, reset = 0] = counted(await api.send(route.method, pathOf(route), bodyOf(route)));
  expect(limit).toBe(CREATE_DELETE.includes(route.title) ? 20 : 100);
  expect(remaining).toBe((limit ?? 0) - 1);
  expect(reset).toBeGreaterThan(before + 60 - 1); // in whole seconds
  expect(reset).toBeLessThan(Date.now() / 1000 + 60 + 1);
});

/** Moves the times of a token's counted requests back, as if this many seconds had passed. */
async function pass(token: TestToken, seconds: number): Promise<void> {
  const access = await find(tokenAccessRef(token.id));
  if (access === undefined) throw new Error("There is no such token");
  const { all, create_delete } = access;
  const earlier = (times: number[]) => times.map((time) => stampOf(time - seconds * 1000));
  await updateOne(tokenAccessRef(token.id).key, { set: { all: earlier(all), create_delete: earlier(create_delete) } }, {});
}

describe("creations and deletions", () => {
  test("the 21st creation in a minute is rejected, other requests are not, and a minute later creations work again", async () => {
    const token = await me.token();
    const began = Date.now() / 1000;
    for (let left = 19; left >= 0; left--) {
      const response = await token.api.delete("/ssh-keys/none");
      expect(response.status).toBe(404);
      expect(counted(response).slice(0, 2)).toEqual([20, left]);
    }
    const before = await me.trace();
    const rejected = await token.api.post("/ssh-keys", { name: "One too many", public_key: newPublicKey() });
    expect(rejected.status).toBe(429);
    expect(rejected.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { limit: 20, window_seconds: 60, scope: "create_delete" },
    });
    expect(counted(rejected).slice(0, 2)).toEqual([20, 0]);
    const wait = Number(rejected.headers["retry-after"]);
    const ended = Date.now() / 1000;
    expect(wait).toBeGreaterThanOrEqual(60 - Math.ceil(ended - began));
    expect(wait).toBeLessThanOrEqual(60);
    const reset = Number(rejected.headers["x-ratelimit-reset"]);
    expect(reset).toBeGreaterThan(began + 60 - 1); // in whole seconds
    expect(reset).toBeLessThan(ended + wait + 1);
    expect(await me.trace()).toBe(before);
    expect((await token.api.get("/ssh-keys")).status).toBe(200);
    await pass(token, 30);
    const later = await token.api.delete("/ssh-keys/none");
    expect(later.status).toBe(429);
    expect(Number(later.headers["retry-after"])).toBeLessThanOrEqual(31);
    await pass(token, 31);
    expect((await token.api.delete("/ssh-keys/none")).status).toBe(404);
  });

  test("a rejected request does not count", async () => {
    const token = await me.token();
    await Promise.all(Array.from({ length: 20 }, () => token.api.delete("/ssh-keys/none")));
    for (let i = 0; i < 5; i++) expect((await token.api.delete("/ssh-keys/none")).status).toBe(429);
    // Whatever the request is, the headers show the limit closest to being reached.
    expect(counted(await token.api.get("/settings")).slice(0, 2)).toEqual([20, 0]);
  });

  test("a creation fails on the other limit if all of its slots are taken", async () => {
    const token = await me.token();
    await inBursts(100, () => token.api.get("/auth/me"));
    const rejected = await token.api.delete("/ssh-keys/none");
    expect(rejected.status).toBe(429);
    expect(rejected.error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("exactly 20 of 60 creations succeed, 15 at once", async () => {
    const { api } = await me.token();
    const { late, timed } = lateness();
    const responses = await inBursts(60, () => timed(() => api.delete("/ssh-keys/none")));
    const passed = responses.filter(({ status }) => status === 404).length;
    expect(passed).toBeLessThanOrEqual(20);
    expect(passed).toBeGreaterThanOrEqual(20 - late());
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(60 - passed);
  });
});

test("a slot is free again one minute after its request, to the millisecond", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) => admitToken(value, { rate: "all", ipAddress: null, at: at + afterMs, waitSeconds: 0 });
  for (let i = 0; i < 100; i++) expect((await ask(0)).kind).toBe("admitted");
  expect(await ask(59_999)).toMatchObject({ kind: "limited", retryAfterMs: 1 });
  const { late, timed } = lateness();
  const responses = await inBursts(150, () => timed(() => ask(60_000)));
  const admitted = responses.filter(({ kind }) => kind === "admitted").length;
  expect(admitted).toBeLessThanOrEqual(100);
  expect(admitted).toBeGreaterThanOrEqual(100 - late());
  expect(responses.filter(({ kind }) => kind === "limited")).toHaveLength(150 - admitted);
});

test("a request that began earlier than those that took the slots waits no longer than a minute", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) =>
    admitToken(value, { rate: "create_delete", ipAddress: null, at: at + afterMs, waitSeconds: 0 });
  for (let i = 0; i < 20; i++) expect((await ask(2_500)).kind).toBe("admitted");
  expect(await ask(0)).toMatchObject({ kind: "limited", retryAfterMs: 60_000 });
});

describe("what every request writes has at most 1 KB, so that it costs one write unit", () => {
  const LONGEST_ADDRESS = "2001:0db8:85a3:0000:0000:8a2e:192.168.100.228";
  const taken = stampOf(Date.now() - 90_000);
  const waits = { wait_0: taken, wait_1: taken, wait_2: taken };
  const sizeOf = async (key: Key) => itemBytes((await readAll([key])).values().next().value ?? {});

  test("a token's item", async () => {
    const { id, api } = await me.token(undefined, "2099-12-31T23:59:59.999Z");
    const key = tokenAccessRef(id).key;
    await updateOne(key, { set: waits }, {});
    expect((await api.get("/auth/me")).status).toBe(200);
    await updateOne(key, { set: { last_used_ip: LONGEST_ADDRESS } }, {});
    expect(await sizeOf(key)).toBeLessThanOrEqual(1024);
  });

  test("the item of a user's sessions", async () => {
    const user = await me.anotherUser();
    const record = await find(userRef(user.id));
    if (record === undefined) throw new Error("There is no such user");
    for (let i = 0; i < 20; i++) await openSession(record, newId("session"));
    const key = userAccessRef(user.id).key;
    await updateOne(key, { set: waits }, {});
    expect((await (await me.session(user)).get("/auth/me")).status).toBe(200);
    expect(await sizeOf(key)).toBeLessThanOrEqual(1024);
  });
});

describe("all requests", () => {
  test("exactly 100 of 200 requests succeed, 15 at once", async () => {
    const { api } = await me.token();
    const { late, timed } = lateness();
    const responses = await inBursts(200, () => timed(() => api.get("/auth/me")));
    const passed = responses.filter(({ status }) => status === 200).length;
    expect(passed).toBeLessThanOrEqual(100);
    expect(passed).toBeGreaterThanOrEqual(100 - late());
    const rejected = responses.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(200 - passed);
    for (const { error } of rejected) expect(error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("each token has its own limits", async () => {
    const [one, other] = [await me.token(), await me.token()];
    await inBursts(100, () => one.api.get("/auth/me"));
    expect((await one.api.get("/auth/me")).status).toBe(429);
    expect((await other.api.get("/auth/me")).status).toBe(200);
  });

  test("a user's sessions share one limit", async () => {
    const user = await me.anotherUser();
    const [one, other] = [await me.session(user), await me.session(user)];
    expect(counted(await one.get("/auth/me")).slice(0, 2)).toEqual([100, 99]);
    expect(counted(await other.get("/auth/me")).slice(0, 2)).toEqual([100, 98]);
    await inBursts(98, () => one.get("/auth/me"));
    for (const session of [one, other]) expect((await session.get("/auth/me")).status).toBe(429);
    expect((await (await me.session()).get("/auth/me")).status).toBe(200);
  });

  test("a revoked token over its limit gets 401, not 429", async () => {
    const token = await me.token();
    await inBursts(101, () => token.api.get("/auth/me"));
    const change = changeOf(await getAccount(me.id));
    revokeToken(change, await getToken(me.id, token.id));
    await change.commit();
    expect((await token.api.get("/auth/me")).status).toBe(401);
  });
});
