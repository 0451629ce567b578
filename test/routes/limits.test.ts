// Rate limits: those of every route, exact even for concurrent requests.
import { beforeAll, describe, expect, test } from "vitest";
import { getAccount } from "../../shared/data/accounts.ts";
import { changeOf } from "../../shared/data/change.ts";
import { getToken, revokeToken } from "../../shared/data/credentials.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { fingerprintOfId } from "../../shared/domain/token-value.ts";
import { account, newPublicKey, type TestAccount, type TestToken } from "../harness/account.ts";
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
  "POST /tokens",
  "POST /ssh-keys",
  "DELETE /servers/:id",
  "DELETE /instances/:id",
  "DELETE /backups/:id",
  "DELETE /tokens/:id",
  "DELETE /ssh-keys/:id",
];

const counted = (response: ApiResponse) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => Number(response.headers[name]));

test.each(closedRoutes)("$title counts against the limit that the contract assigns, even when it fails", async (route) => {
  const { api } = await me.token(["settings:read"]);
  const [limit, remaining, reset = 0] = counted(await api.send(route.method, pathOf(route), bodyOf(route)));
  expect(limit).toBe(CREATE_DELETE.includes(route.title) ? 20 : 100);
  expect(remaining).toBe((limit ?? 0) - 1);
  expect(Math.abs(reset - (Date.now() / 1000 + 60))).toBeLessThan(5);
});

/** Moves the times of a token's counted requests back, as if this many seconds had passed. */
async function pass(token: TestToken, seconds: number): Promise<void> {
  const { all, create_delete } = await getToken(me.id, token.id);
  const earlier = (times: number[]) => times.map((time) => Math.max(0, time - seconds * 1000));
  await updateOne(
    keys.credential(fingerprintOfId(token.id)),
    { set: { all: earlier(all), create_delete: earlier(create_delete) } },
    {},
  );
}

describe("creations and deletions", () => {
  test("the 21st creation in a minute is rejected, other requests are not, and a minute later creations work again", async () => {
    const token = await me.token();
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
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(Math.abs(Number(rejected.headers["x-ratelimit-reset"]) - (Date.now() / 1000 + wait))).toBeLessThan(3);
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
    await Promise.all(Array.from({ length: 100 }, () => token.api.get("/auth/me")));
    const rejected = await token.api.delete("/ssh-keys/none");
    expect(rejected.status).toBe(429);
    expect(rejected.error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("exactly 20 of 60 concurrent creations succeed", async () => {
    const { api } = await me.token();
    const responses = await Promise.all(Array.from({ length: 60 }, () => api.delete("/ssh-keys/none")));
    expect(responses.filter(({ status }) => status === 404)).toHaveLength(20);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(40);
  });
});

describe("all requests", () => {
  test("exactly 100 of 400 concurrent requests succeed", async () => {
    const { api } = await me.token();
    const responses = await Promise.all(Array.from({ length: 400 }, () => api.get("/auth/me")));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(100);
    const rejected = responses.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(300);
    for (const { error } of rejected) expect(error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });

  test("each token has its own limits", async () => {
    const [one, other] = [await me.token(), await me.token()];
    await Promise.all(Array.from({ length: 100 }, () => one.api.get("/auth/me")));
    expect((await one.api.get("/auth/me")).status).toBe(429);
    expect((await other.api.get("/auth/me")).status).toBe(200);
  });

  test("a user's sessions share one limit", async () => {
    const user = await me.anotherUser();
    const [one, other] = [await me.session(user), await me.session(user)];
    await Promise.all(Array.from({ length: 99 }, () => one.get("/auth/me")));
    expect((await other.get("/auth/me")).status).toBe(200);
    for (const session of [one, other]) expect((await session.get("/auth/me")).status).toBe(429);
    expect((await (await me.session()).get("/auth/me")).status).toBe(200);
  });

  test("a revoked token over its limit gets 401, not 429", async () => {
    const token = await me.token();
    await Promise.all(Array.from({ length: 101 }, () => token.api.get("/auth/me")));
    const change = changeOf(await getAccount(me.id));
    revokeToken(change, await getToken(me.id, token.id));
    await change.commit();
    expect((await token.api.get("/auth/me")).status).toBe(401);
  });
});
