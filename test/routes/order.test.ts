// The order in which the service checks a request: each pair of those that docs/api.md lists, with a request that fails both
// checks.
import { beforeAll, describe, expect, test } from "vitest";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { getToken, revokeToken, tokenAccessRef } from "../../shared/records/tokens.ts";
import { account, newPublicKey, type TestAccount, uniqueDomain, unusedId } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { takeSlots } from "../harness/slots.ts";

let me: TestAccount;
/** Over every limit. */
let exhausted: Client;
/** Has no permission that the tests need. */
let powerless: Client;

beforeAll(async () => {
  me = await account();
  const token = await me.token(["settings:read"]);
  await takeSlots(tokenAccessRef(token.id), { all: 100 });
  exhausted = token.api;
  powerless = (await me.token(["settings:read"])).api;
});

const HUGE = "x".repeat(64 * 1024 + 1);
const TEXT = { headers: { "content-type": "text/plain" } };
const BAD_KEY = { headers: { "idempotency-key": "x".repeat(256) } };
const code = async (response: ReturnType<Client["get"]>) => (await response).error?.code;

test("an unknown path returns 404 before 401", async () => {
  expect(await code(anonymous.get("/nothing"))).toBe("NOT_FOUND");
});

test("405 comes before 401", async () => {
  expect(await code(anonymous.send("PATCH", "/servers"))).toBe("METHOD_NOT_ALLOWED");
});

test("401 comes before 429", async () => {
  const token = await me.token();
  await takeSlots(tokenAccessRef(token.id), { all: 100 });
  expect(await code(token.api.get("/auth/me"))).toBe("RATE_LIMIT_EXCEEDED");
  const change = startChange(await getAccount(me.id));
  revokeToken(change, await getToken(me.id, token.id));
  await change.commit();
  expect(await code(token.api.get("/auth/me"))).toBe("UNAUTHORIZED");
});

test("429 comes before 403, for a permission and for a session", async () => {
  expect(await code(exhausted.get("/servers"))).toBe("RATE_LIMIT_EXCEEDED");
  expect(await code(exhausted.get("/tokens"))).toBe("RATE_LIMIT_EXCEEDED");
});

test("403 comes before 413, 415, 400 and 422", async () => {
  expect(await code(powerless.post("/servers", HUGE))).toBe("FORBIDDEN");
  expect(await code(powerless.post("/servers", "{}", TEXT))).toBe("FORBIDDEN");
  expect(await code(powerless.post("/servers", "{"))).toBe("FORBIDDEN");
  expect(await code(powerless.post("/servers", {}))).toBe("FORBIDDEN");
  expect(await code(powerless.get("/servers?page=0"))).toBe("FORBIDDEN");
});

test("413 comes before 415, which comes before 400, which comes before 422", async () => {
  expect(await code(me.api.post("/servers", HUGE, TEXT))).toBe("PAYLOAD_TOO_LARGE");
  expect(await code(me.api.post("/servers", "{", TEXT))).toBe("UNSUPPORTED_MEDIA_TYPE");
  expect(await code(me.api.post("/servers", '{"no_such_field":1'))).toBe("MALFORMED_REQUEST");
});

test("a permission that depends on the body comes after the body's 422, and before the resource's 404", async () => {
  const path = `/instances/${unusedId("instance")}/actions`;
  expect(await code(powerless.post(path, { action: "explode" }))).toBe("VALIDATION_ERROR");
  expect(await code(powerless.post(path, { action: "stop" }))).toBe("FORBIDDEN");
});

describe("Idempotency-Key", () => {
  const wrong = { code: "VALIDATION_ERROR", details: { field: "Idempotency-Key" } };

  test("a missing Idempotency-Key error comes after the body's 422", async () => {
    const { error } = await me.api.post("/ssh-keys", { name: "" }, BAD_KEY);
    expect(error?.details?.["field"]).toBe("name");
  });

  test("an invalid Idempotency-Key comes before the 404 of the path's resource", async () => {
    const { error } = await me.api.post(`/instances/${unusedId("instance")}/backups`, {}, BAD_KEY);
    expect(error).toMatchObject(wrong);
  });

  test("a reused Idempotency-Key comes before the 404 of the path's resource", async () => {
    const headers = { "idempotency-key": "order" };
    expect((await me.api.post("/ssh-keys", { name: "First", public_key: newPublicKey() }, { headers })).status).toBe(201);
    expect(await code(me.api.post(`/instances/${unusedId("instance")}/backups`, {}, { headers }))).toBe("IDEMPOTENCY_KEY_REUSED");
  });
});

test("the 404 of the path's resource comes before the 422 of IDs in the body", async () => {
  const body = { name: "Copy", domain: uniqueDomain(), backup_id: unusedId("backup"), server_id: unusedId("server") };
  expect(await code(me.api.post(`/instances/${unusedId("instance")}/clone`, body))).toBe("NOT_FOUND");
});

test("the body's 422 comes before 404", async () => {
  expect(await code(me.api.put("/servers/none", { name: "UPPER" }))).toBe("VALIDATION_ERROR");
  expect(await code(me.api.get("/operations/none?wait=99"))).toBe("VALIDATION_ERROR");
});

describe("422 for ids in the body comes before 409", () => {
  test("an unknown SSH key comes before a taken name", async () => {
    const { name } = await seedServer(me.id);
    const response = await me.api.post("/servers", await me.serverBody({ name, ssh_key_id: unusedId("ssh_key") }));
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "ssh_key_id" } });
  });

  test("an unknown server comes before a taken domain", async () => {
    const { domain } = await seedInstance(me.id);
    const response = await me.api.post("/instances", await me.instanceBody({ domain, server_id: unusedId("server") }));
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
  });

  test("a version that is not in the catalog comes before a server that is not active", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    const response = await me.api.post("/instances", await me.instanceBody({ erp_version: "99.0", server_id: server.id }));
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "erp_version" } });
  });

  test("an unknown server comes before a backup that is not completed", async () => {
    const instance = await seedInstance(me.id);
    const backup = await seedBackup(instance, { state: "failed" });
    const body = { name: "Copy", domain: instance.domain, backup_id: backup.id, server_id: unusedId("server") };
    const response = await me.api.post(`/instances/${instance.id}/clone`, body);
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
  });
});
