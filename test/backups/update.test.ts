// PUT /backups/:id
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { startChange } from "../../shared/data/change.ts";
import { markCorrupt } from "../../shared/operations/backups/corrupt-backups.ts";
import { reserveExpiry } from "../../shared/operations/backups/expiry.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { backupRef, beginDeletion, getBackup } from "../../shared/records/backups.ts";
import { keys } from "../../shared/data/keys.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import type { BackupStatus } from "../../shared/domain/lifecycle.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

let me: TestAccount;
let instance: InstanceRecord;
beforeAll(async () => {
  me = await account({ seeded: true });
  instance = await seedInstance(me.id);
});

const backup = (fields: Parameters<typeof seedBackup>[1] = {}) => seedBackup(instance, fields);

test("a note can be changed and removed, and the lock stays as it is", async () => {
  const { id } = await backup({ note: "before" });
  const before = (await me.api.get(`/backups/${id}`)).as(Backup);
  const changed = (await me.api.put(`/backups/${id}`, { note: " after " })).as(Backup);
  expect(changed).toEqual({ ...before, note: "after" });
  await me.api.put(`/backups/${id}`, { locked: true });
  expect((await me.api.put(`/backups/${id}`, { note: null })).as(Backup)).toEqual({ ...before, note: null, locked: true });
  expect((await me.api.get(`/backups/${id}`)).as(Backup)).toEqual({ ...before, note: null, locked: true });
});

test.each<[string, unknown, string]>([
  ["no field", {}, "note"],
  ["an empty note", { note: "" }, "note"],
  ["a note of 201 characters", { note: "n".repeat(201) }, "note"],
  ["a lock that is no boolean", { locked: "true" }, "locked"],
  ["an unknown field", { locked: true, kind: "manual" }, "kind"],
])("a change with %s is rejected and changes nothing", async (_what, body, field) => {
  const { id } = await backup();
  const response = await me.api.put(`/backups/${id}`, body);
  expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
  expect((await me.api.get(`/backups/${id}`)).as(Backup)).toMatchObject({ note: null, locked: false });
});

test.each<[BackupStatus, number]>([
  ["pending", 200],
  ["running", 200],
  ["completed", 200],
  ["failed", 200],
  ["deleting", 409],
])("locking a backup that is %s returns %i", async (state, status) => {
  const { id } = await backup({ state });
  const response = await me.api.put(`/backups/${id}`, { locked: true });
  expect(response.status).toBe(status);
  if (status !== 200) expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
  expect((await me.api.get(`/backups/${id}`)).as(Backup).locked).toBe(status === 200);
});

test("a locked backup cannot be deleted until it is unlocked", async () => {
  const { id } = await backup();
  await me.api.put(`/backups/${id}`, { locked: true });
  const response = await me.api.delete(`/backups/${id}`);
  expect(response.error).toMatchObject({
    code: "INVALID_STATE",
    message: "The backup is locked; unlock it before you delete it",
  });
  expect((await me.api.get(`/backups/${id}`)).as(Backup)).toMatchObject({ status: "completed", locked: true });
  await me.api.put(`/backups/${id}`, { locked: false });
  expect((await me.api.delete(`/backups/${id}`)).status).toBe(202);
});

test("a lock that comes after the deletion has read the backup still stops the deletion", async () => {
  const read = await backup();
  await me.api.put(`/backups/${read.id}`, { locked: true });
  const change = startChange(await getAccount(me.id));
  beginDeletion(change, { operator: "test", requestId: "test" }, read, newId("operation"));
  await expect(change.commit()).rejects.toMatchObject({ code: "INVALID_STATE" });
  expect((await getBackup(me.id, read.id)).state).toBe("completed");
});

test("of a lock and a deletion at the same time one succeeds", async () => {
  const rounds = Array.from({ length: 8 }, async () => {
    const { id } = await backup();
    const [locked, deleted] = await Promise.all([
      me.api.put(`/backups/${id}`, { locked: true }),
      me.api.delete(`/backups/${id}`),
    ]);
    expect([locked.status, deleted.status]).toEqual(locked.status === 200 ? [200, 409] : [409, 202]);
    if (locked.status === 200) expect((await getBackup(me.id, id)).state).toBe("completed");
  });
  await Promise.all(rounds);
});

test("an expired safety backup that is locked stays, and goes once it is unlocked", async () => {
  await backup(); // the last completed backup of an instance stays anyway
  const { id } = await backup({ kind: "pre_restore", expires_at: "2026-01-01T00:00:00.000Z" });
  await me.api.put(`/backups/${id}`, { locked: true });
  expect(await reserveExpiry({ accountId: me.id, backupId: id })).toBeUndefined();
  await me.api.put(`/backups/${id}`, { locked: false });
  expect(await reserveExpiry({ accountId: me.id, backupId: id })).toMatchObject({ type: "backup.delete" });
});

test("a safety backup that turns out to be corrupt no longer expires", async () => {
  await backup();
  const { id } = await backup({ kind: "pre_restore", expires_at: "2026-01-01T00:00:00.000Z" });
  await markCorrupt(me.id, id, { message: "One of its files is damaged", reason: null });
  expect((await me.api.get(`/backups/${id}`)).body).toMatchObject({ data: { status: "failed", expires_at: null } });
  expect(await reserveExpiry({ accountId: me.id, backupId: id })).toBeUndefined();
});

test("a backup from before there were locks counts as unlocked", async () => {
  const { id } = await backup();
  await updateOne(keys.record("backup", me.id, id), { remove: ["locked"] }, {});
  expect((await find(backupRef(me.id, id)))?.locked).toBe(false);
  expect((await me.api.delete(`/backups/${id}`)).status).toBe(202);
});
