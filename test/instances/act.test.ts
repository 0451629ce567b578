// POST /instances/:id/actions
import { beforeAll, describe, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { Instance, ListedInstance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
  serverId = (await seedServer(me.id)).id;
});

const act = (api: Client, id: string, action: string) => api.post(`/instances/${id}/actions`, { action });
const show = async (id: string) => (await (await me.token()).api.get(`/instances/${id}`)).as(Instance);

describe("what is allowed besides the status", () => {
  test("an instance on a server that is not active can only be deleted", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    for (const state of ["running", "stopped", "failed"] as const) {
      const { id } = await seedInstance(me.id, { server_id: server.id, state });
      expect((await show(id)).allowed_actions).toEqual(["delete"]);
      const listed = (await me.api.get("/instances?per_page=1")).as(ListedInstance.array())[0];
      const { certificate, disk_used_bytes: _, ...fields } = await show(id);
      expect([listed, certificate.status]).toEqual([
        { ...fields, server: { name: server.name, name_unicode: server.name, status: "offline" } },
        "pending",
      ]);
      const renamed = (await me.api.put(`/instances/${id}`, { name: "Renamed" })).as(Instance);
      expect(renamed.allowed_actions).toEqual(["delete"]);
    }
  });

  test("an instance without an installed ERP can only be deleted; every other action fails with that reason", async () => {
    const { id } = await seedInstance(me.id, { server_id: serverId, state: "failed", installed: false });
    expect((await show(id)).allowed_actions).toEqual(["delete"]);
    for (const action of ["start", "restart", "backup"]) {
      const { error } = await act((await me.token()).api, id, action);
      expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: "failed" } });
      expect(error?.message).toMatch(/never installed/);
    }
  });
});

test("stop, start and restart pass through their own statuses and end in the right one", async () => {
  const instance = await me.instance();
  for (const [action, through, to] of [
    ["stop", "stopping", "stopped"],
    ["start", "starting", "running"],
    ["restart", "restarting", "running"],
  ] as const) {
    const response = await act(me.api, instance.id, action);
    const operation = response.as(Operation);
    expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
    expect(operation).toMatchObject({
      type: `instance.${action}`,
      status: "pending",
      resource: { type: "instance", id: instance.id },
    });
    const during = await show(instance.id);
    expect([through, to]).toContain(during.status);
    await me.until(operation.id);
    expect(await show(instance.id)).toMatchObject({ status: to, operation_id: null, status_reason: null });
  }
});

test("the operation of a backup names the new backup in its result, and the instance's status does not change", async () => {
  const instance = await me.instance();
  const operation = (await act(me.api, instance.id, "backup")).as(Operation);
  expect(operation.type).toBe("backup.create");
  const backupId = operation.result?.backup_id;
  expect((await show(instance.id)).status).toBe("running");
  await me.until(operation.id);
  expect((await me.api.get(`/backups/${backupId}`)).as(Backup)).toMatchObject({
    status: "completed",
    instance_id: instance.id,
    kind: "manual",
  });
});

test("actions on an instance whose server is not active are rejected, and the error names the server", async () => {
  const server = await seedServer(me.id, { state: "unreachable" });
  const instance = await seedInstance(me.id, { server_id: server.id });
  for (const action of ["stop", "restart", "backup"]) {
    const { error } = await act((await me.token()).api, instance.id, action);
    expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: "offline", resource: server.id } });
  }
});

test("an action on an unknown instance returns 404", async () => {
  for (const action of ["start", "stop", "restart", "backup"])
    expect((await act(me.api, unusedId("instance"), action)).status).toBe(404);
});
