// POST /tokens
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as tokens from "../../shared/api/tokens.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { authorizeToken } from "../../shared/operations/credentials/admission.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, type TestUser, unique } from "../harness/account.ts";
import { type Client, clientWith } from "../harness/client.ts";
import { everyItem } from "../harness/table.ts";

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

test("a token shows its full value only once, and afterwards its prefix", async () => {
  const body = draft({ permissions: ["servers:read", "backups:restore"] });
  const response = await session.post("/tokens", body);
  const { token, ...record } = newToken(response);
  expect(response.headers["location"]).toBe(`/api/v1/tokens/${record.id}`);
  expect(record).toEqual({
    id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
    name: body.name,
    prefix: "svc_test_",
    last4: token.slice(-4),
    permissions: body.permissions,
    created_at: expect.any(String),
    created_by: { type: "user", id: user.id, name: user.name },
    last_used_at: null,
    last_used_ip: null,
    expires_at: null,
    allowed_ips: [],
    replaces: null,
    replaced_by: null,
  });
  const tokenResponse = await session.get(`/tokens/${record.id}`);
  expect(tokenResponse.as(tokens.get().data)).toEqual(record);
  expect(tokenResponse.text).not.toContain(token);
  const listed = await session.get("/tokens?per_page=100");
  expect(listed.text).not.toContain(token);
  expect(listed.as(tokens.list().data)).toContainEqual(record);
});

test("a token can be created explicitly without an expiry", async () => {
  expect(newToken(await session.post("/tokens", draft({ expires_at: null }))).expires_at).toBeNull();
});

test("the table contains neither a token's value nor a part of it", async () => {
  const { token } = newToken(await session.post("/tokens", draft(), { headers: { "idempotency-key": unique("key") } }));
  const secret = token.slice("svc_test_".length, -6);
  expect((await everyItem()).filter((item) => item.includes(secret))).toEqual([]);
});

test("a new token has exactly its permissions, immediately", async () => {
  const { token } = newToken(await session.post("/tokens", draft({ permissions: ["settings:read"] })));
  const api = clientWith(token);
  expect((await api.get("/settings")).status).toBe(200);
  expect((await api.put("/settings", { account_name: "x" })).status).toBe(403);
  expect((await api.get("/servers")).status).toBe(403);
});

test("the last use of a token is recorded with its time and IP address", async () => {
  const { token, id } = newToken(await session.post("/tokens", draft()));
  const before = new Date().toISOString();
  await clientWith(token).get("/auth/me", { from: "127.0.2.1" });
  const { last_used_at, last_used_ip } = (await session.get(`/tokens/${id}`)).as(tokens.get().data);
  expect(last_used_ip).toBe("127.0.2.1");
  expect(last_used_at === null ? "" : last_used_at >= before).toBe(true);
});

describe("expires_at", () => {
  test("a token stops working at expires_at", async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const credential = newToken(await session.post("/tokens", draft({ expires_at })));
    expect(credential.expires_at).toBe(expires_at);
    expect((await clientWith(credential.token).get("/auth/me")).status).toBe(200);
    const facts = { rate: "all", ipAddress: null, waitSeconds: 0, requestId: "test" } as const;
    const admission = async (at: number) => (await authorizeToken(credential.token, { ...facts, at })).kind;
    expect(await admission(Date.parse(expires_at) - 1)).toBe("admitted");
    expect(await admission(Date.parse(expires_at))).toBe("rejected");
    const expired = await me.token(ALL_PERMISSIONS, new Date(Date.now() - 1).toISOString());
    expect((await expired.api.get("/auth/me")).status).toBe(401);
  });
});

test("a token needs at least one permission, and only known ones without duplicates", async () => {
  for (const permissions of [[], ["servers:read", "servers:read"], ["servers:all"], ["*"], [""]]) {
    const { error } = await session.post("/tokens", draft({ permissions }));
    expect(error?.code).toBe("VALIDATION_ERROR");
    expect(error?.details?.["field"]).toMatch(/^permissions(\.0)?$/);
  }
  expect(newToken(await session.post("/tokens", draft({ permissions: ALL_PERMISSIONS }))).permissions).toEqual(ALL_PERMISSIONS);
});

test("another token's name is a conflict on that field, and is free after its deletion", async () => {
  const body = draft();
  const { id } = newToken(await session.post("/tokens", body));
  const response = await session.post("/tokens", body);
  expect(response.status).toBe(409);
  expect(response.error).toMatchObject({ code: "CONFLICT", details: { field: "name" } });
  await session.delete(`/tokens/${id}`);
  expect((await session.post("/tokens", body)).status).toBe(201);
});

test("creating tokens beyond the account's quota fails, naming the resource and the limit", async () => {
  const other = await account();
  await setQuota(other.id, "token", 2);
  const otherSession = await other.session();
  expect((await otherSession.post("/tokens", draft())).status).toBe(201);
  const over = await otherSession.post("/tokens", draft());
  expect(over.status).toBe(409);
  expect(over.error).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "token", limit: 2 } });
});

describe("a token with networks", () => {
  test("works from them only, and from elsewhere it is unknown, and neither counted nor used", async () => {
    const credential = newToken(
      await session.post("/tokens", draft({ allowed_ips: ["127.0.4.9/24", "127.0.0.7", "127.0.4.0/24"] })),
    );
    expect(credential.allowed_ips).toEqual(["127.0.0.7/32", "127.0.4.0/24"]);
    const get = (from?: string) => clientWith(credential.token).get("/auth/me", from === undefined ? {} : { from });
    const [inside, alone, outside, beside] = [
      await get("127.0.4.200"),
      await get("127.0.0.7"),
      await get(),
      await get("127.0.5.1"),
    ];
    expect([inside.status, alone.status, outside.status, beside.status]).toEqual([200, 200, 401, 401]);
    expect(outside.error).toEqual((await clientWith(`${credential.token.slice(0, -1)}!`).get("/auth/me")).error);
    expect((await session.get(`/tokens/${credential.id}`)).as(tokens.get().data)).toMatchObject({
      last_used_ip: "127.0.0.7",
      allowed_ips: ["127.0.0.7/32", "127.0.4.0/24"],
    });
    for (let i = 0; i < 100; i++) await get("127.0.5.1");
    expect((await get("127.0.4.1")).status).toBe(200);
  });
});
