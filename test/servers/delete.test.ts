// DELETE /servers/:id
import { beforeAll, expect, test } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import type { ServerPhase } from "../../shared/domain/lifecycle.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { Server } from "../../shared/api/servers.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
});

const used = async () => (await me.api.get("/settings")).as(Settings).quotas.servers.used;

test("a server is offline during its deletion, and then gone, and its slot in the quota is free", async () => {
  const server = await me.server();
  const before = await used();
  const response = await me.api.delete(`/servers/${server.id}`);
  const operation = response.as(Operation);
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(operation).toMatchObject({ type: "server.delete", status: "pending", resource: { type: "server", id: server.id } });
  await me.until(operation.id);
  expect((await me.api.get(`/servers/${server.id}`)).status).toBe(404);
  expect((await me.api.delete(`/servers/${server.id}`)).status).toBe(404);
  expect((await me.api.get("/servers?per_page=100")).text).not.toContain(server.id);
  expect(await used()).toBe(before - 1);
  expect((await me.api.get(`/operations/${operation.id}`)).as(Operation).status).toBe("succeeded");
});

test("a server with instances cannot be deleted", async () => {
  const { server_id: serverId } = await seedInstance(me.id);
  const response = await me.api.delete(`/servers/${serverId}`);
  expect(response.status).toBe(409);
  expect(response.error).toMatchObject({ code: "CONFLICT", details: { resource: "instance" } });
  expect((await me.api.get(`/servers/${serverId}`)).as(Server)).toMatchObject({ status: "active", operation_id: null });
});

test("only one of three concurrent deletions succeeds, and the errors of the others name its operation", async () => {
  const server = await me.server();
  const responses = await Promise.all([1, 2, 3].map(() => me.api.delete(`/servers/${server.id}`)));
  const [operation, ...more] = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(more).toEqual([]);
  for (const { status, error } of responses.filter((each) => each.status !== 202))
    if (status !== 404) expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: operation?.id } });
  await me.until(operation?.id ?? null);
});

test("an instance created during the deletion of its server either keeps the server or fails", async () => {
  const server = await me.server();
  const body = await me.instanceBody({ server_id: server.id });
  const [deletion, instance] = await Promise.all([me.api.delete(`/servers/${server.id}`), me.api.post("/instances", body)]);
  expect([deletion.status === 202, instance.status === 201].filter(Boolean)).toHaveLength(1);
});

test.each<[ServerPhase, boolean]>([
  ["creating", false],
  ["ready", true],
  ["unreachable", true],
  ["create_failed", true],
  ["deleting", false],
  ["delete_failed", true],
])("a server that is %s can be deleted: %s", async (state, allowed) => {
  const server = await seedServer(me.id, { state });
  const { api } = await me.token();
  const response = await api.delete(`/servers/${server.id}`);
  if (allowed) await me.until(response.as(Operation).id);
  else expect(response.error).toMatchObject({ code: "INVALID_STATE" });
  expect((await api.get(`/servers/${server.id}`)).status).toBe(allowed ? 404 : 200);
});
