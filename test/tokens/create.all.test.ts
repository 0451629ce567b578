// POST /tokens: how values and times are written, retries, other accounts, and tokens for some networks.
import { crc32 } from "node:zlib";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as tokens from "../../shared/api/tokens.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, type TestUser, unique } from "../harness/account.ts";
import { type Client, clientWith } from "../harness/client.ts";

let me: TestAccount;
let user: TestUser;
let session: Client;
beforeAll(async () => {
  me = await account();
});
// Creating tokens counts as creations: each test has a user with separate limits.
beforeEach(async () => {
  user = await me.anotherUser();
  session = await me.session(user);
});

const newToken = (response: Awaited<ReturnType<Client["post"]>>) => response.as(tokens.create().data);
const draft = (fields: Record<string, unknown> = {}) => ({ name: unique("pipeline"), permissions: ["servers:read"], ...fields });

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
function base62(number: number): string {
  return number < 62 ? BASE62.charAt(number) : base62(Math.floor(number / 62)) + BASE62.charAt(number % 62);
}

test("a retry gets the stored response although the token has expired meanwhile", async () => {
  const body = draft({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  const create = () => session.post("/tokens", body, { headers: { "idempotency-key": "brief" } });
  const first = await create();
  expect(first.status).toBe(201);
  await updateOne(keys.token(me.id, newToken(first).id), { set: { expires_at: new Date().toISOString() } }, {});
  const again = await create();
  expect([again.status, again.headers["idempotent-replayed"], again.text]).toEqual([201, "true", first.text]);
});

test("a token's value is its prefix, at least 160 random bits in base62, and their CRC32 in six characters", async () => {
  const { token } = newToken(await session.post("/tokens", draft()));
  expect(token).toMatch(/^svc_test_[0-9A-Za-z]{33,}$/);
  const random = token.slice("svc_test_".length, -6);
  expect(random.length * Math.log2(62)).toBeGreaterThanOrEqual(160);
  expect(token.slice(-6)).toBe(base62(crc32(token.slice(0, -6))).padStart(6, "0"));
});

describe("expires_at", () => {
  test.each(["2020-01-01T00:00:00.000Z", "tomorrow", "2027-02-30T00:00:00Z", "2027-01-01", ""])(
    'the expires_at "%s" is invalid',
    async (expires_at) => {
      const { error } = await session.post("/tokens", draft({ expires_at }));
      expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "expires_at" } });
    },
  );

  test("an expiry is returned in UTC with milliseconds, however it was written", async () => {
    const credential = newToken(await session.post("/tokens", draft({ expires_at: "2037-01-31T00:00:00Z" })));
    expect(credential.expires_at).toBe("2037-01-31T00:00:00.000Z");
  });
});

test("two accounts can have tokens with the same name", async () => {
  const body = draft();
  expect((await session.post("/tokens", body)).status).toBe(201);
  expect((await (await (await account()).session()).post("/tokens", body)).status).toBe(201);
});

describe("a token with networks", () => {
  test("stays so when it is rotated", async () => {
    const credential = newToken(await session.post("/tokens", draft({ allowed_ips: ["127.0.0.7"] })));
    const next = newToken(await session.post(`/tokens/${credential.id}/rotate`, {}));
    expect(next.allowed_ips).toEqual(["127.0.0.7/32"]);
    for (const token of [credential.token, next.token]) {
      expect((await clientWith(token).get("/auth/me")).status).toBe(401);
      expect((await clientWith(token).get("/auth/me", { from: "127.0.0.7" })).status).toBe(200);
    }
  });

  test.each([
    ["a name", ["example.com"], "must be an IPv4 network, or an IPv6 network of /64 or shorter"],
    ["one IPv6 address", ["2001:db8::1"], "must be an IPv4 network, or an IPv6 network of /64 or shorter"],
    ["a prefix that is too long", ["192.0.2.0/33"], "must be an IPv4 network, or an IPv6 network of /64 or shorter"],
    ["more than 10", Array.from({ length: 11 }, (_, i) => `192.0.2.${i}`), "must contain at most 10"],
  ])("cannot have %s", async (_, allowed_ips, reason) => {
    const { error } = await session.post("/tokens", draft({ allowed_ips }));
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { reason } });
  });
});
