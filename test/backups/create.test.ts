// POST /instances/:id/backups
import { beforeAll, describe, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

test("a backup exists immediately as pending, and is completed with its size and SHA-256 when its operation ends", async () => {
  const instance = await me.instance();
  const before = await me.api.get(`/instances/${instance.id}`);
  const response = await me.api.post(`/instances/${instance.id}/backups`, { note: "before the upgrade" });
  const backup = response.as(Backup);
  expect(response.headers["location"]).toBe(`/api/v1/backups/${backup.id}`);
  expect(backup).toEqual({
    id: expect.stringMatching(/^bak_[0-9a-z]{26}$/),
    instance_id: instance.id,
    instance_name: instance.name,
    status: "pending",
    status_reason: null,
    reason: null,
    file_name: null,
    kind: "manual",
    erp_version: instance.erp_version,
    edition: instance.edition,
    database_name: instance.database_name,
    size_bytes: null,
    sha256: null,
    missing_files: 0,
    skipped_files: 0,
    left_out: [],
    missing_modules: null,
    listed_files: null,
    note: "before the upgrade",
    locked: false,
    labels: {},
    retained_by: [],
    drill: null,
    operation_id: expect.stringMatching(/^op_/),
    created_at: expect.any(String),
    completed_at: null,
    expires_at: null,
  });
  await me.until(backup.operation_id);
  const ifMatch = { headers: { "if-match": before.headers["etag"] ?? "" } };
  const edit = await me.api.put(`/instances/${instance.id}`, { labels: {} }, ifMatch);
  expect(edit.status, "the backup has not changed the instance").toBe(200);
  expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toEqual({
    ...backup,
    listed_files: 1,
    status: "completed",
    size_bytes: expect.any(Number),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    operation_id: null,
    completed_at: expect.any(String),
  });
  expect((await me.api.get(`/operations/${backup.operation_id}`)).as(Operation)).toMatchObject({
    type: "backup.create",
    status: "succeeded",
    resource: { type: "backup", id: backup.id },
    result: { backup_id: backup.id },
  });
});

test("creating a backup needs no body, and a note has at most 200 characters", async () => {
  const instance = await seedInstance(me.id);
  expect((await me.api.post(`/instances/${instance.id}/backups`)).as(Backup).note).toBeNull();
  const other = await seedInstance(me.id);
  expect((await me.api.post(`/instances/${other.id}/backups`, { note: "é".repeat(200) })).status).toBe(201);
  const { error } = await me.api.post(`/instances/${other.id}/backups`, { note: "a".repeat(201) });
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "note" } });
});

test("a backup locks its instance, and the error of a second backup names the operation", async () => {
  const instance = await me.instance();
  const responses = await Promise.all([1, 2, 3].map(() => me.api.post(`/instances/${instance.id}/backups`)));
  const [won, ...more] = responses.filter(({ status }) => status === 201).map((response) => response.as(Backup));
  expect(more).toEqual([]);
  for (const { error } of responses.filter(({ status }) => status !== 201))
    expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: won?.operation_id } });
  await me.until(won?.operation_id ?? null);
  expect((await me.api.get(`/instances/${instance.id}`)).as(Instance)).toMatchObject({ status: "running", operation_id: null });
  expect((await me.api.get(`/instances/${instance.id}/backups`)).meta?.total).toBe(1);
});

describe("the instance's state", () => {
  test.each(INSTANCE_STATUSES)(
    "a backup of an instance that is %s is allowed only if the table of statuses allows it",
    async (state) => {
      const other = await account();
      const instance = await seedInstance(other.id, { state });
      const response = await other.api.post(`/instances/${instance.id}/backups`);
      const allowed = ["running", "stopped"].includes(state);
      expect(response.status).toBe(allowed ? 201 : 409);
      if (!allowed) expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
    },
  );

  test("a backup on a server that is not active is rejected and the error names the server", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    const instance = await seedInstance(me.id, { server_id: server.id });
    const { error } = await me.api.post(`/instances/${instance.id}/backups`);
    expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: "offline", resource: server.id } });
  });
});

test("in the sandbox the note fail-upload makes the backup fail; the instance keeps running and the backup can be deleted", async () => {
  const instance = await me.instance();
  const backup = (await me.api.post(`/instances/${instance.id}/backups`, { note: "fail-upload" })).as(Backup);
  const { error } = await me.until(backup.operation_id, "failed");
  expect(error?.code).toBe("STORAGE_ERROR");
  expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toMatchObject({
    status: "failed",
    status_reason: error?.message,
    completed_at: null,
    operation_id: null,
  });
  expect((await me.api.get(`/instances/${instance.id}`)).as(Instance)).toMatchObject({ status: "running", operation_id: null });
  await me.until((await me.api.delete(`/backups/${backup.id}`)).as(Operation).id);
});
