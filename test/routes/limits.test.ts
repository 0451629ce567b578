// Rate limits: what counts, what is rejected, and how much is written for it.
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
import { takeSlots } from "../harness/slots.ts";
import type { ApiResponse } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const counted = (response: ApiResponse) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => Number(response.headers[name]));

describe("creations and deletions", () => {
  test("the 21st creation in a minute is rejected, other requests are not, and a minute later creations work again", async () => {
    const token = await me.token();
    const access = tokenAccessRef(token.id);
    await takeSlots(access, { all: 18, create_delete: 18 });
    for (const remaining of [1, 0]) {
      const response = await token.api.delete("/ssh-keys/none");
      expect(response.status).toBe(404);
      expect(counted(response).slice(0, 2)).toEqual([20, remaining]);
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
});

describe("what every request writes has at most 1 KB, so that it costs one write unit", () => {
  const LONGEST_ADDRESS = "2001:db8:85a3:1234:5678:8a2e:3703:7334";
  const stamp = encodeStamp(Date.now() - 90_000);
  const waits = { w0: stamp, w1: stamp, w2: stamp };
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
