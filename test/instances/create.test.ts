// POST /instances
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import type { ServerPhase } from "../../shared/domain/lifecycle.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, uniqueDatabase, uniqueDomain, unusedId } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { seedServer } from "../harness/seed.ts";
import { everyItem } from "../harness/table.ts";

let me: TestAccount;
let server: Server;
let api: Client;
beforeAll(async () => {
  me = await account();
  await setQuota(me.id, "server", 100);
  server = await me.server();
});
beforeEach(async () => {
  api = (await me.token()).api;
});
const bodyFor = (fields: Record<string, unknown> = {}) => me.instanceBody({ server_id: server.id, ...fields });

test("every field that names nothing is named at once", async () => {
  const wrong = { erp_version: "11.0", edition: "enterprise", server_id: unusedId("server"), backup_id: unusedId("backup") };
  const { error } = await api.post("/instances", await bodyFor(wrong));
  const fields = Object.keys(wrong).map((field) => ({ field }));
  expect(error?.details?.["errors"]).toMatchObject(fields);
});

test("an instance exists immediately as provisioning, with its password, and is running when its operation ends", async () => {
  const body = await bodyFor();
  const response = await api.post("/instances", body);
  const { admin_password, ...instance } = response.as(instances.create().data);
  expect(response.headers["location"]).toBe(`/api/v1/instances/${instance.id}`);
  expect(admin_password).toMatch(/^\S{16,}$/);
  expect(instance).toEqual({
    ...body,
    id: expect.stringMatching(/^ins_[0-9a-z]{26}$/),
    url: `https://${String(body["domain"])}`,
    domain_unicode: body["domain"],
    admin_email_unicode: body["admin_email"],
    previous_domains: [],
    status: "provisioning",
    status_reason: null,
    reason: null,
    operation_id: expect.stringMatching(/^op_/),
    cloned_from_backup_id: null,
    neutralized: false,
    labels: {},
    allowed_actions: [],
    dns_record: { type: "A", name: body["domain"], value: server.ip_address },
    protection: { status: "unprotected", last_backup_at: null, next_backup_at: null },
    certificate: { status: "pending", expires_at: null, checked_at: null },
    health: { status: "unknown", since: null, checks: [] },
    disk_quota_bytes: null,
    disk_used_bytes: null,
    missing_modules: null,
    update_available: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  await me.until(instance.operation_id);
  const instanceResponse = await api.get(`/instances/${instance.id}`);
  expect(instanceResponse.as(Instance)).toEqual({
    ...instance,
    status: "running",
    operation_id: null,
    allowed_actions: expect.arrayContaining(["stop", "restart", "backup", "restore", "update", "delete"]),
    health: { status: "ok", since: expect.any(String), checks: expect.arrayContaining([{ name: "page", passed: true }]) },
    missing_modules: [],
    updated_at: expect.any(String),
  });
  expect(instanceResponse.text).not.toContain("password");
  expect((await api.get(`/operations/${instance.operation_id}`)).as(Operation)).toMatchObject({
    type: "instance.create",
    status: "succeeded",
    progress: 100,
    resource: { type: "instance", id: instance.id },
  });
});

test("the password of an instance is never stored in plain text, neither before nor after its use, and is not in the operation", async () => {
  const { admin_password = "", operation_id } = (await api.post("/instances", await bodyFor())).as(instances.create().data);
  const find = async () => (await everyItem()).filter((item) => item.includes(admin_password));
  expect(await find()).toEqual([]);
  await me.until(operation_id);
  expect(await find()).toEqual([]);
  expect((await everyItem()).filter((item) => item.includes(`#sealed"`) && item.includes(operation_id ?? ""))).toEqual([]);
  expect((await api.get(`/operations/${operation_id}`)).text).not.toContain(admin_password);
});

describe("invalid fields", () => {
  test.each([
    ["the version is not in the catalog", { erp_version: "16.0" }, "erp_version"],
    ["the edition is not available", { edition: "enterprise" }, "edition"],
    ["the domain has uppercase letters", { domain: "Shop.example.com" }, "domain"],
    ["the domain has one label", { domain: "localhost" }, "domain"],
    ["the domain is an IP address", { domain: "203.0.113.10" }, "domain"],
    ["the domain has a port", { domain: "shop.example.com:8069" }, "domain"],
    ["the domain ends in a dot", { domain: "shop.example.com." }, "domain"],
    ["the domain has a label of 64 characters", { domain: `${"a".repeat(64)}.example.com` }, "domain"],
    ["the domain has 254 characters", { domain: `${"a.".repeat(125)}com.de` }, "domain"],
    ["the database name starts with a digit", { database_name: "1shop" }, "database_name"],
    ["the database name has a hyphen", { database_name: "my-shop" }, "database_name"],
    ["the database name has 64 characters", { database_name: "a".repeat(64) }, "database_name"],
    ["the database name contains SQL", { database_name: 'x"; drop' }, "database_name"],
    ["the database name is reserved", { database_name: "template1" }, "database_name"],
    ["the email is invalid", { admin_email: "admin" }, "admin_email"],
    ["the name has 65 characters", { name: "a".repeat(65) }, "name"],
    ["the name has only spaces", { name: "   " }, "name"],
    ["the name has a direction mark", { name: "Shop\u202e" }, "name"],
  ])("creating an instance is rejected and names the field if %s", async (_, fields, field) => {
    const before = await me.trace();
    const response = await api.post("/instances", await bodyFor(fields));
    expect(response.status).toBe(422);
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
    expect(await me.trace()).toBe(before);
  });
});

test("a name of 64 characters in any script, a database name of 63 and a deprecated version are valid", async () => {
  const fields = { name: "é".repeat(64), database_name: "a".repeat(63), erp_version: "17.0" };
  expect((await api.post("/instances", await bodyFor(fields))).as(Instance)).toMatchObject(fields);
});

describe("what must be unique", () => {
  const conflictOn = async (fields: Record<string, unknown>, field: string) => {
    const before = await me.trace();
    const response = await api.post("/instances", await bodyFor(fields));
    expect(response.status).toBe(409);
    expect(response.error).toMatchObject({ code: "CONFLICT", details: { field } });
    expect(await me.trace()).toBe(before);
  };

  test("a domain is unique in its account, on any server; another account can use it too", async () => {
    const { domain } = await me.instance();
    await conflictOn({ domain }, "domain");
    await conflictOn({ domain, server_id: (await seedServer(me.id)).id }, "domain");
    const other = await account();
    expect((await other.api.post("/instances", await other.instanceBody({ domain }))).status).toBe(201);
  });

  test("a database name is unique on its server; another server can have the same", async () => {
    const { database_name } = await me.instance({ server_id: server.id });
    await conflictOn({ database_name }, "database_name");
    const elsewhere = await bodyFor({ database_name, server_id: (await seedServer(me.id)).id });
    expect((await api.post("/instances", elsewhere)).status).toBe(201);
  });

  test("only one of five concurrent creations with one domain succeeds", async () => {
    const domain = uniqueDomain();
    const bodies = await Promise.all(Array.from({ length: 5 }, () => bodyFor({ domain, database_name: uniqueDatabase() })));
    const responses = await Promise.all(bodies.map((body) => api.post("/instances", body)));
    expect(statusesOf(responses)).toEqual([201, 409, 409, 409, 409]);
  });
});

test.each<[ServerPhase, string]>([
  ["creating", "provisioning"],
  ["unreachable", "offline"],
  ["create_failed", "offline"],
  ["deleting", "offline"],
  ["delete_failed", "offline"],
])("creating an instance on a server that is %s is rejected, and the error names the server", async (state, status) => {
  const other = await seedServer(me.id, { state });
  const response = await api.post("/instances", await bodyFor({ server_id: other.id }));
  expect(response.status).toBe(409);
  expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status, resource: other.id } });
});

test("creating an instance beyond the account's quota fails", async () => {
  const other = await account();
  await setQuota(other.id, "instance", 1);
  await other.api.post("/instances", await other.instanceBody());
  const over = await other.api.post("/instances", await other.instanceBody());
  expect(over.error).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "instance", limit: 1 } });
});

test("in the sandbox the domain fail-install.* makes the installation fail: operation and instance show the reason, and the instance can be deleted", async () => {
  const instance = (await api.post("/instances", await bodyFor({ domain: `fail-install.${unique("x")}.example.com` }))).as(
    Instance,
  );
  const { error } = await me.until(instance.operation_id, "failed");
  expect(error).toMatchObject({ code: "HOST_JOB_FAILED" });
  const failed = (await api.get(`/instances/${instance.id}`)).as(Instance);
  expect(failed).toMatchObject({ status: "failed", status_reason: error?.message, operation_id: null });
  expect(failed.allowed_actions).toEqual(["delete"]);
  await me.until((await api.delete(`/instances/${instance.id}`)).as(Operation).id);
  expect((await api.get(`/instances/${instance.id}`)).status).toBe(404);
});
