// Drills that meet damage, missing things, and other work on their server.
import { createHash } from "node:crypto";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { getBackup } from "../../shared/records/backups.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { getArchive, putArchive, removeArchive } from "../../shared/storage/archives.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedServer } from "../harness/seed.ts";
import { expectFree, snapshotOf } from "../workflows/snapshot.ts";
import { drillsOf, passedOf } from "./drills.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});

const { begin, show, drilled } = drillsOf(() => ({ cloud, me }));

test("a drill of an archive that is damaged, replaced or gone fails the checksum, makes no other check, and ends the backup's use", async () => {
  const instance = await me.instance();
  const onlyChecksum = { checksum: false, restores: null, boots: null, rows: null, files: null };
  const keyOf = async ({ id }: Backup) => archiveKey(await getBackup(me.id, id));
  const intact = await me.backup(instance.id);
  const corrupt = await me.backup(instance.id, { note: "corrupt" });
  const replaced = await me.backup(instance.id);
  await putArchive(await keyOf(replaced), Buffer.from("PK"));
  const gone = await me.backup(instance.id);
  await removeArchive(await keyOf(gone));
  const last = { last_backup_id: gone.id, last_backup_at: gone.completed_at };
  await updateOne(keys.record("instance", me.id, instance.id), { set: last }, {});
  for (const { id } of [corrupt, replaced, gone]) {
    const after = await drilled(id);
    expect(passedOf(after)).toEqual(onlyChecksum);
    expect(after).toMatchObject({ status: "failed", status_reason: after.drill?.checks[0]?.detail, operation_id: null });
    expect((await me.api.post(`/backups/${id}/drill`, {})).error?.code).toBe("INVALID_STATE");
  }
  const { protection } = (await me.api.get(`/instances/${instance.id}`)).as(Instance);
  expect(protection.last_backup_at).toBe(intact.completed_at);
});

test("a backup without row counts passes, and says that they are unknown", async () => {
  const { id } = await me.backup((await me.instance()).id);
  const key = archiveKey(await getBackup(me.id, id));
  const entries = unzipSync((await getArchive(key)) ?? new Uint8Array());
  const { rows, ...manifest } = z
    .looseObject({ rows: z.unknown() })
    .parse(JSON.parse(strFromU8(entries["manifest.json"] ?? new Uint8Array())));
  expect(rows).toMatchObject({ "public.sandbox_note": 1 });
  const older = zipSync({ ...entries, "manifest.json": strToU8(JSON.stringify(manifest)) });
  const sha256 = createHash("sha256").update(older).digest("hex");
  const stored_checksum = await putArchive(key, older);
  await updateOne(keys.record("backup", me.id, id), { set: { size_bytes: older.length, sha256, stored_checksum } }, {});
  expect(passedOf(await drilled(id))).toEqual({ checksum: true, restores: true, boots: true, rows: null, files: true });
});

test("the backup of a deleted instance is drilled on a server that the request names", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  await me.until((await me.api.delete(`/instances/${instance.id}`)).as(Operation).id);
  const without = await me.api.post(`/backups/${backup.id}/drill`, {});
  expect(without.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
  const unknown = await me.api.post(`/backups/${backup.id}/drill`, { server_id: unusedId("server") });
  expect(unknown.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
  expect((await drilled(backup.id, { server_id: instance.server_id })).drill?.status).toBe("passed");
});

test("a server has one drill at a time; the backup is held, the instance and the server's other work are not", async () => {
  const instance = await me.instance();
  const [first, second] = [await me.backup(instance.id), await me.backup(instance.id)];
  const release = holdWork(cloud, "drillArchive");
  const responses = await Promise.all([first, second, first].map(({ id }) => me.api.post(`/backups/${id}/drill`, {})));
  const [operation, ...others] = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(others).toEqual([]);
  for (const { status, error } of responses)
    if (status !== 202) expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: operation?.id } });
  const backupId = operation?.resource.id ?? "";
  const { error } = await me.api.post(`/backups/${backupId === first.id ? second.id : first.id}/drill`, {});
  expect(error?.message).toBe("The server is checking another archive; wait until that is done, or choose another server");
  expect((await me.api.delete(`/backups/${backupId}`)).error?.code).toBe("OPERATION_IN_PROGRESS");
  await me.until((await me.api.post(`/backups/${backupId}/restore`, { backup_first: false })).as(Operation).id);
  const elsewhere = await seedServer(me.id);
  await me.until((await me.api.post(`/instances/${instance.id}/actions`, { action: "restart" })).as(Operation).id);
  expect(elsewhere.instances).toBe(0);
  release();
  await me.until(operation?.id ?? null);
  expect((await show(backupId)).drill?.status).toBe("passed");
  expect((await drilled(second.id)).drill?.status).toBe("passed");
});

test("a server is not deleted during a drill on it", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const other = await me.server();
  const release = holdWork(cloud, "drillArchive");
  const operation = await begin(backup.id, { server_id: other.id });
  const response = await me.api.delete(`/servers/${other.id}`);
  expect(response.error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: operation.id } });
  release();
  await me.until(operation.id);
  await me.until((await me.api.delete(`/servers/${other.id}`)).as(Operation).id);
});

const Task = z.looseObject({ task: z.string() });

test("a drill that cannot be held fails, and the last result stays", async () => {
  const backup = await me.backup((await me.instance()).id);
  const { drill } = await drilled(backup.id);
  const stop = cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "drillArchive") return next();
    throw Object.assign(new Error("HOST_UNREACHABLE: The server does not respond"), { name: "GiveUp" });
  });
  const operation = await begin(backup.id);
  expect((await me.until(operation.id, "failed")).error).toMatchObject({ code: "HOST_UNREACHABLE" });
  stop();
  expect(await show(backup.id)).toMatchObject({ drill, status: "completed", status_reason: null, operation_id: null });
  expectFree(await snapshotOf(cloud, me.id));
});
