// DELETE /backups/:id
import { beforeAll, expect, test } from "vitest";
import * as backups from "../../shared/api/backups.ts";
import type { BackupStatus } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

test("a backup and its archive are gone when the deletion ends", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const { url } = (await me.api.get(`/backups/${backup.id}/download`)).as(backups.download().data);
  const response = await me.api.delete(`/backups/${backup.id}`);
  const operation = response.as(Operation);
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(operation).toMatchObject({ type: "backup.delete", resource: { type: "backup", id: backup.id } });
  await me.until(operation.id);
  expect((await me.api.get(`/backups/${backup.id}`)).status).toBe(404);
  expect((await me.api.get(`/instances/${instance.id}/backups`)).meta?.total).toBe(0);
  expect((await fetch(url)).status).toBeGreaterThanOrEqual(400);
});

test.each<[BackupStatus, boolean]>([
  ["pending", false],
  ["running", false],
  ["completed", true],
  ["failed", true],
  ["deleting", false],
])("a backup that is %s can be deleted: %s", async (state, allowed) => {
  const backup = await seedBackup(await seedInstance(me.id), { state });
  const response = await me.api.delete(`/backups/${backup.id}`);
  if (allowed) await me.until(response.as(Operation).id);
  else expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
  expect((await me.api.get(`/backups/${backup.id}`)).status).toBe(allowed ? 404 : 200);
});

test("only one of two concurrent deletions of a backup succeeds", async () => {
  const backup = await seedBackup(await seedInstance(me.id));
  const responses = await Promise.all([1, 2].map(() => me.api.delete(`/backups/${backup.id}`)));
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(1);
});
