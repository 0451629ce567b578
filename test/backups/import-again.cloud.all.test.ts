// POST /backups/:id/import: an import that failed for another reason than its archive is tried again without sending that again.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Event } from "../../shared/api/events.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { removeOne, transact, updateOne } from "../../shared/data/table.ts";
import { put } from "../../shared/data/writes.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";
import { downloaded, sha256Of, uploaded } from "../harness/upload.ts";
import { expectConsistent, snapshotOf } from "../workflows/snapshot.ts";

let cloud: TestCloud;
let me: TestAccount;
let server: Server;
let archive: Uint8Array;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
  server = await me.server();
  archive = await downloaded(me.api, (await me.backup((await me.instance()).id)).id);
});

const show = async (id: string): Promise<Backup> => (await me.api.get(`/backups/${id}`)).as(Backup);
const isStored = async (id: string): Promise<boolean> =>
  (await storedObject(archiveKey({ account_id: me.id, id }))) !== undefined;

/** Returns a backup whose import has failed: in the sandbox the note fails the first import, as a full disk does. */
async function failedImport(): Promise<Backup> {
  const { api } = await me.token();
  const { id } = await uploaded(api, archive, { note: "fail-import" });
  const body = { sha256: sha256Of(archive), server_id: server.id };
  const backup = (await api.post(`/backups/uploads/${id}/complete`, body)).as(Backup);
  await me.until(backup.operation_id, "failed");
  return show(backup.id);
}
const again = async ({ id }: Backup, server_id = server.id) =>
  (await me.token()).api.post(`/backups/${id}/import`, { server_id });

const DAY_MS = 86_400_000;

test("a failed import keeps its archive for seven days, and succeeds on another server without sending it again", async () => {
  const failed = await failedImport();
  expect(failed).toMatchObject({ status: "failed", status_reason: expect.stringContaining("disk was full") });
  const remainingMs = Date.parse(failed.expires_at ?? "") - Date.now();
  expect(remainingMs).toBeGreaterThan(6.9 * DAY_MS);
  expect(remainingMs).toBeLessThan(7 * DAY_MS);
  expect(await isStored(failed.id)).toBe(true);
  const other = await me.server();
  const release = holdWork(cloud, "examineArchive");
  const response = await again(failed, other.id);
  const operation = response.as(Operation);
  expect(operation).toMatchObject({ type: "backup.import", resource: { type: "backup", id: failed.id } });
  expect(response.headers["location"]).toBe(`/api/v1/operations/${operation.id}`);
  expect(await show(failed.id)).toMatchObject({ status_reason: null, operation_id: operation.id });
  release();
  await me.until(operation.id);
  expect(await show(failed.id)).toMatchObject({
    status: "completed",
    status_reason: null,
    expires_at: null,
    erp_version: "19.0",
    sha256: sha256Of(archive),
  });
  expect(await downloaded(me.api, failed.id)).toEqual(archive);
  expect((await again(failed)).error).toMatchObject({ code: "INVALID_STATE", details: { status: "completed" } });
  const events = (await me.api.get(`/events?resource_id=${failed.id}&class=audit`)).as(z.array(Event));
  expect(events.filter(({ type }) => type === "backup.import")).toHaveLength(2);
  expectConsistent(await snapshotOf(cloud, me.id));
});

test("of tries at once one begins, and neither another server nor a deletion gets between", async () => {
  const failed = await failedImport();
  const other = await me.server();
  const release = holdWork(cloud, "examineArchive");
  const responses = await Promise.all([again(failed), again(failed, other.id), again(failed)]);
  const [operation, ...more] = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(more).toEqual([]);
  const busy = { code: "OPERATION_IN_PROGRESS", details: { operation_id: operation?.id } };
  for (const { status, error } of responses) if (status !== 202) expect(error).toMatchObject(busy);
  expect((await me.api.delete(`/backups/${failed.id}`)).error).toMatchObject(busy);
  release();
  await me.until(String(operation?.id));
});

test.each([
  ["joining the parts", "joinParts"],
  ["examining it", "examineArchive"],
  ["recording it", "recordImport"],
])("an import that is killed while it is %s can be tried again, with seven new days", async (_, task) => {
  const { api } = await me.token();
  const { id } = await uploaded(api, archive);
  const stop = cloud.states.intercept(async (call, next) => {
    if (JSON.stringify(call.payload).includes(`"task":"${task}"`)) throw Object.assign(new Error("killed"), { name: "Killed" });
    return next(call);
  });
  const body = { sha256: sha256Of(archive), server_id: server.id };
  const { id: backupId, operation_id } = (await api.post(`/backups/uploads/${id}/complete`, body)).as(Backup);
  await me.until(operation_id, "failed").finally(stop);
  const failed = await show(backupId);
  expect((await findOperation(me.id, String(operation_id)))?.error?.code).toBe("INTERNAL_ERROR");
  expect(failed.expires_at).not.toBeNull();
  await me.until((await again(failed)).as(Operation).id);
  expect((await show(backupId)).status).toBe("completed");
});

test("a try on a server that is not active, or that does not exist, changes nothing", async () => {
  const failed = await failedImport();
  const away = await me.server();
  for (let probe = 0; probe < FAILED_PROBES_MAX; probe++)
    await recordProbe(await getServer(me.id, away.id), { responded: false });
  expect((await again(failed, away.id)).error).toMatchObject({
    code: "INVALID_STATE",
    details: { status: "offline", resource: away.id },
  });
  expect((await again(failed, "srv_01kag8w1s2e7tv8q4m5n6p7r8s")).error).toMatchObject({ details: { field: "server_id" } });
  expect(await show(failed.id)).toEqual(failed);
});

test("a backup that is no failed import is not imported again", async () => {
  const backup = await me.backup((await me.instance()).id);
  expect((await again(backup)).error).toMatchObject({ code: "INVALID_STATE", details: { status: "completed" } });
});

test("after seven days the archive and its record are gone; one that is locked, or being tried again, stays", async () => {
  const [expired, locked, tried] = [await failedImport(), await failedImport(), await failedImport()];
  await me.api.put(`/backups/${locked.id}`, { locked: true });
  const past = new Date(Date.now() - 1000).toISOString();
  for (const { id, expires_at } of [expired, locked, tried]) {
    await removeOne(keys.expiringBackup(String(expires_at), id));
    await transact([put(keys.expiringBackup(past, id), { account_id: me.id, backup_id: id, instance_id: null })]);
    await updateOne(keys.record("backup", me.id, id), { set: { expires_at: past } }, {});
  }
  const release = holdWork(cloud, "examineArchive");
  const operation = (await again(tried)).as(Operation);
  await cloud.events.fire("expirebackups");
  release();
  await me.until(operation.id);
  await cloud.states.settled();
  expect((await me.api.get(`/backups/${expired.id}`)).status).toBe(404);
  expect(await isStored(expired.id)).toBe(false);
  expect((await show(tried.id)).status).toBe("completed");
  expect([(await show(locked.id)).status, await isStored(locked.id)]).toEqual(["failed", true]);
  expectConsistent(await snapshotOf(cloud, me.id));
});
