// POST /servers/:id/actions
import { beforeAll, describe, expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDatabase, uniqueDomain } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
});

const act = async (id: string, action: string) => (await me.token()).api.post(`/servers/${id}/actions`, { action });
const show = async (id: string) => (await me.api.get(`/instances/${id}`)).as(Instance);

test.each(["reboot", "update"])("the action %s ends with the server and its instances as they were", async (action) => {
  const { id } = await me.server();
  const failed = { status_reason: "The machine does not reboot" }; // the last time
  await updateOne(keys.record("server", me.id, id), { set: failed }, {});
  const running = await me.instance({ server_id: id });
  const stopped = await me.instance({ server_id: id });
  await me.until((await me.api.post(`/instances/${stopped.id}/actions`, { action: "stop" })).as(Operation).id);
  const response = await act(id, action);
  const operation = response.as(Operation);
  expect(response.status).toBe(202);
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(operation).toMatchObject({ type: `server.${action}`, resource: { type: "server", id } });
  const { result } = await me.until(operation.id);
  expect(result).toEqual({ downtime_seconds: 1 });
  const ended = (await me.api.get(`/servers/${id}`)).as(Server);
  expect(ended).toMatchObject({ status: "active", status_reason: null, operation_id: null });
  expect(await show(running.id)).toMatchObject({ status: "running", operation_id: null });
  expect(await show(stopped.id)).toMatchObject({ status: "stopped", operation_id: null });
});

test("a dry run names who is away, and for how long the last time, and begins nothing", async () => {
  const { id } = await me.server();
  const running = await me.instance({ server_id: id, name: "Shop" });
  const stopped = await seedInstance(me.id, { server_id: id, state: "stopped", name: "Closed" });
  await seedInstance(me.id, { server_id: id, state: "failed", installed: false });
  await seedInstance(me.id, { server_id: id, state: "deleting" });
  const plan = async (action: string) => (await me.api.post(`/servers/${id}/actions?dry_run=true`, { action })).as(DryRun);
  const reboot = await plan("reboot");
  const parameters = { name: "Shop" };
  expect(reboot).toMatchObject({ downtime_seconds: null, warnings: [] });
  expect(reboot.effects).toMatchObject([
    { action: "update", resource: { type: "server", id }, code: "server_rebooted" },
    { action: "restart", resource: { type: "instance", id: running.id }, code: "erp_away_for_reboot", parameters },
  ]);
  const { effects } = await plan("update");
  expect(effects.map(({ code, resource }) => [code, resource.id])).toEqual([
    ["server_packages_updated", id],
    ["server_proxy_updated", id],
    ["erp_away_for_update", running.id],
    ["erp_updated_at_start", stopped.id],
  ]);
  expect((await me.api.get(`/servers/${id}`)).as(Server).operation_id).toBeNull();
  await me.until((await act(id, "reboot")).as(Operation).id);
  expect((await plan("reboot")).downtime_seconds).toBe(1);
});

describe("a server that is rebooted or updated", () => {
  test("has no new work begun on its instances, and the errors name the operation", async () => {
    const operation_id = newId("operation");
    const { id: server_id } = await seedServer(me.id, { operation_id });
    const { id } = await seedInstance(me.id, { server_id });
    const { id: stopped } = await seedInstance(me.id, { server_id, state: "stopped" });
    const backup = await seedBackup(await seedInstance(me.id));
    const body = { name: "Copy", domain: uniqueDomain("copy"), backup_id: backup.id, server_id };
    const { api } = await me.token();
    const responses = [
      await act(server_id, "reboot"),
      await api.post(`/instances/${id}/actions`, { action: "restart" }),
      await api.post(`/instances/${stopped}/actions`, { action: "start" }),
      await api.post(`/instances/${id}/backups`, {}),
      await api.post(`/instances/${id}/deploys`, {}),
      await api.put(`/instances/${id}`, { domain: uniqueDomain() }),
      await api.delete(`/instances/${id}`),
      await api.post("/instances", await me.instanceBody({ server_id, database_name: uniqueDatabase() })),
      await api.post(`/instances/${backup.instance_id}/clone`, body),
      await api.post(`/backups/${backup.id}/drill`, { server_id }),
    ];
    for (const { status, error } of responses) {
      expect(status).toBe(409);
      expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id } });
    }
    expect((await show(id)).allowed_actions).toEqual([]);
    expect((await api.put(`/instances/${id}`, { name: "Renamed" })).status).toBe(200);
  });
});

test("a server that is not active cannot be rebooted or updated", async () => {
  const { id } = await seedServer(me.id, { state: "unreachable" });
  for (const action of ["reboot", "update"])
    expect((await act(id, action)).error).toMatchObject({ code: "INVALID_STATE", details: { status: "offline" } });
  expect((await act(id, "upgrade")).error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "action" } });
});
