// POST /servers
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../shared/api/catalog.ts";
import { Operation } from "../../shared/api/operations.ts";
import * as servers from "../../shared/api/servers.ts";
import { ListedServer, Server } from "../../shared/api/servers.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, unusedId } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { seedServer } from "../harness/seed.ts";

let me: TestAccount;
let api: Client;
beforeAll(async () => {
  me = await account();
  await setQuota(me.id, "server", 100);
});
beforeEach(async () => {
  api = (await me.token()).api;
});

test("a server exists immediately in provisioning, and is active when its operation has ended", async () => {
  const body = await me.serverBody();
  const response = await api.post("/servers", body, { headers: { "x-request-id": "create-server" } });
  const server = response.as(Server);
  const [provider] = (await api.get("/catalog")).as(Catalog).providers;
  const { cpu, memory_gb, disk_gb } = provider?.sizes.find(({ code }) => code === body["size"]) ?? {};
  expect(response.headers["location"]).toBe(`/api/v1/servers/${server.id}`);
  expect(server).toEqual({
    ...body,
    ssh_key_name: "Test key",
    id: expect.stringMatching(/^srv_[0-9a-z]{26}$/),
    name_unicode: body["name"],
    ip_address: null,
    status: "provisioning",
    status_reason: null,
    reason: null,
    labels: {},
    specs: { cpu, memory_gb, disk_gb },
    operation_id: expect.stringMatching(/^op_/),
    last_seen_at: null,
    disk_size_bytes: null,
    disk_free_bytes: null,
    memory_free_bytes: null,
    needs_reboot: null,
    reported_at: null,
    instance_count: 0,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  await me.until(server.operation_id);
  const operation = (await api.get(`/operations/${server.operation_id}`)).as(Operation);
  expect(operation).toMatchObject({
    type: "server.create",
    status: "succeeded",
    progress: 100,
    step: null,
    resource: { type: "server", id: server.id },
    error: null,
    request_id: "create-server",
    created_by: { type: "token" },
  });
  expect((await api.get(`/servers/${server.id}`)).as(Server)).toEqual({
    ...server,
    status: "active",
    ip_address: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
    operation_id: null,
    last_seen_at: expect.toSatisfy((value: unknown) => value === null || typeof value === "string"),
    updated_at: expect.any(String),
  });
});

test("every new server has its own ID, and the newest is first in the list", async () => {
  const post = async () => (await api.post("/servers", await me.serverBody())).as(Server).id;
  const ids = [await post(), await post()];
  const listed = (await api.get("/servers?per_page=2")).as(ListedServer.array()).map(({ id }) => id);
  expect(listed).toEqual(ids.toReversed());
});

describe("invalid fields", () => {
  test.each([
    ["the provider is not in the catalog", { provider: "acme" }, "provider"],
    ["the provider does not have the region", { region: "moon-1" }, "region"],
    ["the provider does not have the size", { size: "gigantic" }, "size"],
    ["the size is not offered in the region", { region: "eu-west", size: "xlarge" }, "size"],
    ["the SSH key does not exist", { ssh_key_id: unusedId("ssh_key") }, "ssh_key_id"],
    ["the name has uppercase letters", { name: "Erp" }, "name"],
    ["the name ends in a hyphen", { name: "erp-" }, "name"],
    ["the name has a dot", { name: "erp.example" }, "name"],
    ["the name has 64 characters", { name: "a".repeat(64) }, "name"],
  ])("creating a server is rejected and names the field if %s", async (_, fields, field) => {
    const body = await me.serverBody(fields);
    const before = await me.trace();
    const response = await api.post("/servers", body);
    expect(response.status).toBe(422);
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
    expect(await me.trace()).toBe(before);
  });
});

test("every invalid field is named at once", async () => {
  const wrong = { region: "moon-1", size: "gigantic", ssh_key_id: unusedId("ssh_key") };
  const { error } = await api.post("/servers", await me.serverBody(wrong));
  expect(error?.details?.["errors"]).toMatchObject([{ field: "region" }, { field: "size" }, { field: "ssh_key_id" }]);
});

test("a server's name is trimmed", async () => {
  const name = unique("erp");
  const response = await api.post("/servers", await me.serverBody({ name: ` ${name}\n` }));
  expect(response.as(servers.create().data).name).toBe(name);
});

test("a server's name has 1 to 63 characters", async () => {
  for (const name of ["a".repeat(63), "z"]) expect((await api.post("/servers", await me.serverBody({ name }))).status).toBe(201);
});

test("a taken server name is a conflict, even for concurrent creations, and is free again after the deletion", async () => {
  const body = await me.serverBody();
  const responses = await Promise.all([1, 2, 3].map(() => api.post("/servers", body)));
  expect(statusesOf(responses)).toEqual([201, 409, 409]);
  const server = responses.find(({ status }) => status === 201)?.as(Server);
  for (const { error } of responses.filter(({ status }) => status === 409))
    expect(error).toMatchObject({ code: "CONFLICT", details: { field: "name", resource: server?.id } });
  await me.until(server?.operation_id ?? null);
  const deletion = (await api.delete(`/servers/${server?.id}`)).as(Operation);
  await me.until(deletion.id);
  expect((await api.post("/servers", body)).status).toBe(201);
});

test("creating servers beyond the account's quota fails exactly, even concurrently", async () => {
  const other = await account();
  await setQuota(other.id, "server", 3);
  const body = await other.serverBody();
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => other.api.post("/servers", { ...body, name: unique("quota") })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const { error } of responses.filter(({ status }) => status !== 201))
    expect(error).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "server", limit: 3 } });
  expect((await other.api.get("/servers")).meta?.total).toBe(3);
});

describe("names with an effect in the sandbox", () => {
  test.each([
    ["fail-quota", "PROVIDER_QUOTA_EXCEEDED"],
    ["fail-capacity", "PROVIDER_OUT_OF_CAPACITY"],
    ["fail-timeout", "TIMEOUT"],
  ])("in the sandbox a server named %s fails with that error, is cleaned up, and can be deleted", async (name, code) => {
    const other = await account();
    const server = (await other.api.post("/servers", await other.serverBody({ name }))).as(Server);
    const { error } = await other.until(server.operation_id, "failed");
    expect(error).toMatchObject({ code, message: expect.stringMatching(/\w+/), reason: { parameters: {} } });
    const failed = (await other.api.get(`/servers/${server.id}`)).as(Server);
    expect(failed).toMatchObject({ status: "offline", status_reason: error?.message, operation_id: null });
    const rejected = await other.api.post("/instances", await other.instanceBody({ server_id: server.id }));
    expect(rejected.error).toMatchObject({ code: "INVALID_STATE", details: { status: "offline", resource: server.id } });
    const deletion = (await other.api.delete(`/servers/${server.id}`)).as(Operation);
    await other.until(deletion.id);
    expect((await other.api.get(`/servers/${server.id}`)).status).toBe(404);
    expect((await other.api.get("/settings")).body).toMatchObject({ data: { quotas: { servers: { used: 0 } } } });
  });

  test("in the sandbox a server named flaky-* fails twice at the provider and then becomes active", async () => {
    expect((await me.server({ name: unique("flaky") })).status).toBe("active");
  });
});

test("a server that could not be created keeps its name until it is deleted", async () => {
  const server = await seedServer(me.id, { state: "create_failed" });
  expect((await api.post("/servers", await me.serverBody({ name: server.name }))).error?.code).toBe("CONFLICT");
});
