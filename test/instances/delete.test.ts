// DELETE /instances/:id
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const used = async () => (await me.api.get("/settings")).as(Settings).quotas.instances.used;

test("when its deletion ends an instance is gone, its domain, database and slot are free, and its backups stay", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const before = await used();
  const response = await me.api.delete(`/instances/${instance.id}`);
  const operation = response.as(Operation);
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(operation).toMatchObject({ type: "instance.delete", resource: { type: "instance", id: instance.id } });
  await me.until(operation.id);
  expect((await me.api.get(`/instances/${instance.id}`)).status).toBe(404);
  expect((await me.api.get("/instances?per_page=100")).text).not.toContain(instance.id);
  expect(await used()).toBe(before - 1);

  expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toEqual(backup);
  expect((await me.api.get(`/instances/${instance.id}/backups`)).as(z.array(Backup))).toEqual([backup]);

  const { domain, database_name, server_id } = instance;
  expect((await me.api.post("/instances", await me.instanceBody({ domain, database_name, server_id }))).status).toBe(201);
});

test("a server can be deleted once its last instance is gone", async () => {
  const server = await me.server();
  const instance = await me.instance({ server_id: server.id });
  expect((await me.api.delete(`/servers/${server.id}`)).error?.code).toBe("CONFLICT");
  await me.until((await me.api.delete(`/instances/${instance.id}`)).as(Operation).id);
  await me.until((await me.api.delete(`/servers/${server.id}`)).as(Operation).id);
});

test.each(INSTANCE_STATUSES)("an instance that is %s can be deleted only if the table of statuses allows it", async (state) => {
  const other = await account();
  const { id } = await seedInstance(other.id, { state });
  const response = await other.api.delete(`/instances/${id}`);
  const allowed = ["running", "stopped", "failed"].includes(state);
  expect(response.status).toBe(allowed ? 202 : 409);
  if (!allowed) expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
});

test("deleting an instance on a server that is not active removes only the record, and the operation says so", async () => {
  const server = await seedServer(me.id, { state: "unreachable" });
  const instance = await seedInstance(me.id, { server_id: server.id });
  const operation = (await me.api.delete(`/instances/${instance.id}`)).as(Operation);
  expect((await me.until(operation.id)).result).toMatchObject({ host_skipped: true });
  expect((await me.api.get(`/instances/${instance.id}`)).status).toBe(404);
});

test("only one of two concurrent deletions of an instance succeeds", async () => {
  const instance = await me.instance();
  const responses = await Promise.all([1, 2].map(() => me.api.delete(`/instances/${instance.id}`)));
  const operations = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(operations).toHaveLength(1);
  await me.until(operations[0]?.id ?? null);
});
