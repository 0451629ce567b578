// Moving in with archives that are none, large ones, those of other instances, and two at once.
import { randomBytes } from "node:crypto";
import { strFromU8, strToU8, unzipSync, zipSync, type Zippable } from "fflate";
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { hashFileName } from "../../shared/providers/sandbox/machines.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { account, type EndedOperation, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { downloaded, imported, sha256Of, uploaded } from "../harness/upload.ts";
import { expectFree, snapshotOf } from "../workflows/snapshot.ts";
import { erpOf } from "./erp-of.ts";

let cloud: TestCloud;
let me: TestAccount;
let server: Server;
/** An archive that a sandbox made. */
let archive: Uint8Array;
let source: Instance;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
  source = await me.instance();
  server = await me.server();
  archive = await downloaded(me.api, (await me.backup(source.id)).id);
});

const show = async (id: string): Promise<Backup> => (await me.api.get(`/backups/${id}`)).as(Backup);
async function failed(bytes: Uint8Array, sha256 = sha256Of(bytes)): Promise<EndedOperation & { backup: Backup }> {
  const { api } = await me.token();
  const { id } = await uploaded(api, bytes);
  const backup = (await api.post(`/backups/uploads/${id}/complete`, { sha256, server_id: server.id })).as(Backup);
  const operation = await me.until(backup.operation_id, "failed");
  const again = await api.post(`/backups/${backup.id}/import`, { server_id: server.id });
  expect(again.error).toMatchObject({ code: "INVALID_STATE", details: { status: "failed" } });
  expect(await storedObject(archiveKey({ account_id: me.id, id: backup.id }))).toBeUndefined();
  expectFree(await snapshotOf(cloud, me.id));
  return { ...operation, backup: await show(backup.id) };
}
const repacked = (change: (entries: Record<string, Uint8Array>) => Zippable): Uint8Array => zipSync(change(unzipSync(archive)));
/** The archive with this in a file, and a database that lists it. */
const archiveWith = (text: string): Uint8Array =>
  repacked((entries) => ({
    ...entries,
    [`filestore/${hashFileName(text)}`]: strToU8(text),
    "dump.sql": strToU8(
      strFromU8(entries["dump.sql"] ?? new Uint8Array()).replace("1\tlogo.svg\t", `2\tlarge\t${hashFileName(text)}\n$&`),
    ),
  }));
const moveIn = (backup: { id: string }, fields: object = {}) =>
  me.instanceBody({ server_id: server.id, backup_id: backup.id, ...fields });

test("what is no archive of a sandbox fails the import, with the reason, and leaves nothing in the storage", async () => {
  const bomb = zipSync({ "dump.sql": new Uint8Array(17 * 1024 ** 2), "manifest.json": strToU8("{}") });
  for (const [bytes, reason] of [
    [randomBytes(100), "it is not a zip file: create the backup in the ERP's database manager"],
    [bomb, "it unpacks to more than a sandbox instance can hold"],
    [
      repacked((entries) => ({ "manifest.json": entries["manifest.json"] ?? new Uint8Array() })),
      "it has no dump.sql, but manifest.json",
    ],
    [repacked((entries) => ({ ...entries, "../x": randomBytes(1) })), "it contains ../x, which is not part of an ERP's backup"],
    [repacked((entries) => ({ ...entries, "dump.sql": strToU8("\\! sh\n") })), "the dump"],
  ] as const) {
    const { error, backup } = await failed(bytes);
    expect(error).toMatchObject({ code: "BACKUP_CORRUPT", message: expect.stringContaining(reason) });
    expect(backup).toMatchObject({
      status: "failed",
      status_reason: error?.message,
      erp_version: null,
      size_bytes: null,
      expires_at: null,
    });
  }
  const large = (await failed(archiveWith("店".repeat(98_000)))).error;
  expect(large).toMatchObject({ message: expect.stringContaining("it holds more than a sandbox instance can") });
  const { error } = await failed(archive, "0".repeat(64));
  expect(error).toMatchObject({ code: "BACKUP_CORRUPT", message: expect.stringContaining("does not match its checksum") });
});

test("an archive of a version that the catalog does not have yet stays, and can be tried again", async () => {
  const later = repacked((entries) => ({
    ...entries,
    "manifest.json": strToU8(
      strFromU8(entries["manifest.json"] ?? new Uint8Array()).replace(/("major_version": )"[^"]+"/, '$1"21.0"'),
    ),
  }));
  const { api } = await me.token();
  const body = { sha256: sha256Of(later), server_id: server.id };
  const backup = (await api.post(`/backups/uploads/${(await uploaded(api, later)).id}/complete`, body)).as(Backup);
  const { error } = await me.until(backup.operation_id, "failed");
  const message = expect.stringContaining("it is of version 21.0, which the catalog does not have");
  expect(error).toMatchObject({ code: "HOST_JOB_FAILED", message });
  expect((await api.get(`/backups/${backup.id}`)).as(Backup)).toMatchObject({ status: "failed", expires_at: expect.any(String) });
  const again = (await api.post(`/backups/${backup.id}/import`, { server_id: server.id })).as(Operation);
  expect((await me.until(again.id, "failed")).error).toMatchObject({ message });
});

test("an archive as large as a sandbox takes, in characters of three bytes, is restored in every way", async () => {
  const backup = await imported(me, archiveWith("店".repeat(32_000)), server.id);
  const created = (await me.api.post("/instances", await moveIn(backup))).as(Instance);
  await me.until(created.operation_id);
  const newBackup = await me.backup(created.id);
  await me.until((await me.api.post(`/backups/${newBackup.id}/restore`, {})).as(Operation).id);
  expect(Object.values((await erpOf(me, created.id)).files)).toContain("店".repeat(32_000));
});

test("a server examines one archive at a time, is not deleted meanwhile, and the rejected upload stays", async () => {
  const { api } = await me.token();
  const other = await me.server();
  const [first, second] = [await uploaded(api, archive), await uploaded(api, archive)];
  const body = { sha256: sha256Of(archive), server_id: other.id };
  const release = holdWork(cloud, "examineArchive");
  const backup = (await api.post(`/backups/uploads/${first.id}/complete`, body)).as(Backup);
  const busy = { code: "OPERATION_IN_PROGRESS", details: { operation_id: backup.operation_id } };
  expect((await api.post(`/backups/uploads/${second.id}/complete`, body)).error).toMatchObject(busy);
  expect((await api.delete(`/servers/${other.id}`)).error).toMatchObject(busy);
  expect((await api.delete(`/backups/${backup.id}`)).error).toMatchObject(busy);
  release();
  await me.until(backup.operation_id);
  expect((await api.get(`/backups/uploads/${second.id}`)).as(Upload).parts).toHaveLength(1);
  await me.until((await api.post(`/backups/uploads/${second.id}/complete`, body)).as(Backup).operation_id);
});

test("an instance begins with another instance's backup like a clone: neutralized, with its own UUID and a generated password", async () => {
  const backup = await me.backup(source.id);
  const { api } = await me.token();
  const instance = (await api.post("/instances", await moveIn(backup))).as(instances.create().data);
  expect(instance).toMatchObject({ neutralized: true, admin_password: expect.any(String) });
  const { result } = await me.until(instance.operation_id);
  expect(result?.verification).toMatchObject({ is_neutralized: true, active_crons: 0, new_database_uuid: true });
  const { database } = await erpOf(me, instance.id);
  expect(database.users.every(({ password_hash }) => password_hash === "")).toBe(true);
  const plain = (await api.post("/instances", await moveIn(backup, { neutralize: false }))).as(instances.create().data);
  await me.until(plain.operation_id);
  expect((await erpOf(me, plain.id)).database.neutralized).toBe(false);
});

test("an instance from a backup needs the backup's version and edition, a completed backup, and both permissions", async () => {
  const backup = await me.backup(source.id);
  const ask = async (fields: object, api = me.api) => (await api.post("/instances", await moveIn(backup, fields))).error;
  expect(await ask({ erp_version: "18.0" })).toMatchObject({
    details: { field: "erp_version", reason: "must be the backup's: 19.0" },
  });
  const enterprise = await seedBackup(await seedInstance(me.id), { edition: "enterprise" });
  expect(await ask({ backup_id: enterprise.id })).toMatchObject({ details: { field: "edition" } });
  expect(await ask({ backup_id: unusedId("backup") })).toMatchObject({ details: { field: "backup_id" } });
  expect(await ask({ backup_id: undefined, neutralize: true })).toMatchObject({ details: { field: "neutralize" } });
  expect(await ask({ admin_password: "short" })).toMatchObject({ details: { field: "admin_password" } });
  const running = await seedBackup(await seedInstance(me.id), { state: "running" });
  expect(await ask({ backup_id: running.id })).toMatchObject({ code: "INVALID_STATE", details: { status: "running" } });
  const { api } = await me.token(ALL_PERMISSIONS.filter((each) => each !== "backups:restore"));
  expect(await ask({}, api)).toMatchObject({ message: "Token does not have permission: backups:restore" });
  expect(await ask({ backup_id: undefined, erp_version: "1.0" }, api)).toMatchObject({ code: "VALIDATION_ERROR" });
  const other = await account({ seeded: true });
  const foreign = await other.api.post("/instances", await moveIn(backup, { server_id: (await other.server()).id }));
  expect(foreign.error).toMatchObject({ details: { field: "backup_id" } });
});
