// POST /backups/:id/restore
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { type BackupStatus, INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { NEW, OLD, restoresOf } from "./restores.ts";

let me: TestAccount;
let api: Client;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
});
beforeEach(async () => {
  api = (await me.token()).api;
});

const { dataOf, show, restore, changedSince } = restoresOf(() => ({ me, api }));

test("a restore brings back the backup's data and keeps the previous data in a safety backup that expires", async () => {
  const { instance, backup } = await changedSince();
  const response = await restore(backup);
  const operation = response.as(Operation);
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(operation).toMatchObject({
    type: "backup.restore",
    resource: { type: "instance", id: instance.id },
    result: { backup_id: backup.id },
  });
  const { result } = await me.until(operation.id);
  expect(await dataOf(instance.id)).toEqual(OLD);
  expect(await show(instance.id)).toMatchObject({ status: "running", operation_id: null, status_reason: null });

  const safety = (await api.get(`/backups/${result?.safety_backup_id}`)).as(Backup);
  expect(safety).toMatchObject({ kind: "pre_restore", status: "completed", instance_id: instance.id, operation_id: null });
  expect(Math.abs(Date.parse(safety.expires_at ?? "") - Date.now() - 14 * 86_400_000)).toBeLessThan(60_000);
  await me.until((await restore(safety, { backup_first: false })).as(Operation).id);
  expect(await dataOf(instance.id)).toEqual(NEW);
});

test("a restore of the files alone does not neutralize the database", async () => {
  const backup = await seedBackup(await seedInstance(me.id));
  const response = await restore(backup, { restore_database: false, neutralize: true });
  expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "neutralize" } });
  const neither = await restore(backup, { restore_database: false, restore_filestore: false, neutralize: true });
  expect(neither.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "restore_database" } });
});

test("a restore of neither the database nor the files is invalid", async () => {
  const backup = await seedBackup(await seedInstance(me.id));
  const { error } = await restore(backup, { restore_database: false, restore_filestore: false });
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "restore_database" } });
});

test("restoring a backup of a deleted instance fails, and the error says to clone it instead", async () => {
  const { instance, backup } = await changedSince();
  await me.until((await api.delete(`/instances/${instance.id}`)).as(Operation).id);
  const response = await restore(backup);
  expect(response.status).toBe(409);
  expect(response.error).toMatchObject({ code: "INVALID_STATE", message: expect.stringMatching(/clone/i) });
});

describe("rejected restores", () => {
  test.each<BackupStatus>(["pending", "running", "failed", "deleting"])(
    "a restore of a backup that is %s is rejected",
    async (state) => {
      const instance = await seedInstance(me.id);
      const { error } = await restore(await seedBackup(instance, { state }));
      expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
      expect((await show(instance.id)).status).toBe("running");
    },
  );

  test.each(INSTANCE_STATUSES)(
    "a restore of an instance that is %s is allowed only if the table of statuses allows it",
    async (state) => {
      const instance = await seedInstance(me.id, { state });
      const response = await restore(await seedBackup(instance));
      const allowed = ["running", "stopped", "failed"].includes(state);
      expect(response.status).toBe(allowed ? 202 : 409);
      if (!allowed) expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
    },
  );

  test("a restore on a server that is not active is rejected and the error names the server", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    const backup = await seedBackup(await seedInstance(me.id, { server_id: server.id }));
    expect((await restore(backup)).error).toMatchObject({
      code: "INVALID_STATE",
      details: { status: "offline", resource: server.id },
    });
  });
});
