// POST /backups/:id/restore: of parts, without a safety backup, of a stopped instance, of a damaged archive, and twice at once.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
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

test("a restore without backup_first takes no safety backup", async () => {
  const { instance, backup } = await changedSince();
  const { result } = await me.until((await restore(backup, { backup_first: false })).as(Operation).id);
  expect(result?.safety_backup_id).toBeUndefined();
  expect((await api.get(`/instances/${instance.id}/backups`)).as(z.array(Backup))).toEqual([backup]);
});

test("a restore with restore_database false leaves the database unchanged", async () => {
  const { instance, backup } = await changedSince();
  await me.until((await restore(backup, { restore_database: false, backup_first: false })).as(Operation).id);
  expect(await dataOf(instance.id)).toEqual(NEW);
});

test("a stopped instance is still stopped after a restore", async () => {
  const { instance, backup } = await changedSince();
  await me.until((await api.post(`/instances/${instance.id}/actions`, { action: "stop" })).as(Operation).id);
  await me.until((await restore(backup)).as(Operation).id);
  expect(await show(instance.id)).toMatchObject({ status: "stopped", operation_id: null });
  await me.until((await api.post(`/instances/${instance.id}/actions`, { action: "start" })).as(Operation).id);
  expect(await dataOf(instance.id)).toEqual(OLD);
});

test("a damaged archive fails the restore before anything changes, and nobody can use the backup any more", async () => {
  const { instance, backup } = await changedSince("corrupt");
  expect(backup.status).toBe("completed");
  const { error } = await me.until((await restore(backup)).as(Operation).id, "failed");
  expect(error?.code).toBe("BACKUP_CORRUPT");
  expect(await show(instance.id)).toMatchObject({ status: "running", operation_id: null });
  expect(await dataOf(instance.id)).toEqual(NEW);
  expect((await api.get(`/backups/${backup.id}`)).as(Backup)).toEqual({
    ...backup,
    status: "failed",
    status_reason: error?.message,
    reason: { code: "backup_unusable", parameters: expect.any(Object) },
  });
  expect((await api.get(`/backups?status=failed`)).text).toContain(backup.id);
  expect((await api.get(`/backups?status=completed`)).text).not.toContain(backup.id);
  const again = await Promise.all([restore(backup), api.get(`/backups/${backup.id}/download`)]);
  for (const { error: denial } of again) expect(denial).toMatchObject({ code: "INVALID_STATE", details: { status: "failed" } });
  await me.until((await api.delete(`/backups/${backup.id}`)).as(Operation).id);
});

describe("rejected restores", () => {
  test("a restore is rejected while another operation holds the instance, and the backup cannot be deleted meanwhile", async () => {
    const { backup } = await changedSince();
    await api.delete("/backups/none"); // a function that has to load first would be too late
    const responses = await Promise.all([restore(backup), restore(backup), api.delete(`/backups/${backup.id}`)]);
    const [operation, ...more] = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
    expect(more).toEqual([]);
    for (const { status, error } of responses)
      if (status === 409) expect(["OPERATION_IN_PROGRESS", "INVALID_STATE"]).toContain(error?.code);
    await me.until(operation?.id ?? null);
  });
});
