// Modules that the image of the ERP lacks: an import names them, and so do dry runs, what is created from the backup, and its own
// backups.
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import { account, type TestAccount, uniqueDatabase, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { downloaded, imported } from "../harness/upload.ts";

let me: TestAccount;
let server: Server;
let archive: Uint8Array;
beforeAll(async () => {
  await processCloud();
  me = await account({ seeded: true });
  server = await me.server();
  archive = await downloaded(me.api, (await me.backup((await me.instance()).id)).id);
});

/** The archive, with these rows in its list of modules. */
function withModules(...rows: string[]): Uint8Array {
  const entries = unzipSync(archive);
  const dump = strFromU8(entries["dump.sql"] ?? new Uint8Array());
  const [, ownRows = ""] = /\nCOPY public\.ir_module_module [^\n]+\n([^\\]+)\\\./.exec(dump) ?? [];
  expect(ownRows).toContain("\tbase\tinstalled\t19.0.1.3\n");
  return zipSync({
    ...entries,
    "dump.sql": strToU8(dump.replace(ownRows, [ownRows, ...rows].join("\n").replace("\n\n", "\n") + "\n")),
  });
}
const QUEUE_JOB = "10\tqueue_job\tinstalled\t19.0.2.1";
const bodyOf = (backup: Backup) => ({
  name: "Moved in",
  server_id: server.id,
  erp_version: "19.0",
  edition: "community",
  database_name: uniqueDatabase(),
  admin_email: "me@example.com",
  domain: uniqueDomain(),
  backup_id: backup.id,
});
const resultOf = async (operationId: string) => (await me.api.get(`/operations/${operationId}`)).as(Operation).result;
const warningsOf = async (path: string, body: object) => (await me.api.post(`${path}?dry_run=true`, body)).as(DryRun).warnings;
const MISSING = expect.stringContaining("only in an older version: mail, queue_job.");

test("an archive says which of its modules the image lacks, before an instance is created from it and after", async () => {
  const newer = "11\tmail\tto upgrade\t19.0.2.0";
  const otherRows = ["12\tcrm\tinstalled\t19.0.1.9", "13\tgone\tuninstalled\t19.0.1.0", "14\tdraft\tto install\t19.0.1.0"];
  const backup = await imported(me, withModules(QUEUE_JOB, newer, ...otherRows), server.id);
  expect(backup.missing_modules).toEqual(["mail", "queue_job"]);
  const [operation] = (await me.api.get(`/operations?resource_id=${backup.id}&type=backup.import`)).as(z.array(Operation));
  expect(operation?.result).toMatchObject({ missing_modules: ["mail", "queue_job"] });
  expect(await warningsOf("/instances", bodyOf(backup))).toContainEqual(MISSING);

  const instance = (await me.api.post("/instances", bodyOf(backup))).as(Instance);
  expect(instance.missing_modules).toBeNull();
  await me.until(instance.operation_id);
  expect(await resultOf(String(instance.operation_id))).toMatchObject({ missing_modules: ["mail", "queue_job"] });
  const path = `/instances/${instance.id}`;
  expect((await me.api.get(path)).as(Instance).missing_modules).toEqual(["mail", "queue_job"]);

  const ownBackup = (await me.api.post(`${path}/backups`, {})).as(Backup);
  await me.until(ownBackup.operation_id);
  expect(ownBackup.missing_modules).toEqual(["mail", "queue_job"]);
  const copy = { name: "Copy", domain: uniqueDomain(), backup_id: ownBackup.id };
  expect(await warningsOf(`${path}/clone`, copy)).toContainEqual(MISSING);
  expect(await warningsOf(`${path}/clone`, { ...copy, restore_database: false })).not.toContainEqual(MISSING);
  expect(await warningsOf(`/backups/${ownBackup.id}/restore`, {})).toContainEqual(MISSING);
  const restore = (await me.api.post(`/backups/${ownBackup.id}/restore`, {})).as(Operation);
  await me.until(restore.id);
  expect(await resultOf(restore.id)).toMatchObject({ missing_modules: ["mail", "queue_job"] });
});

test("an instance whose image has all modules lacks none, and neither do its backups", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  expect((await me.api.get(`/instances/${instance.id}`)).as(Instance).missing_modules ?? []).toEqual([]);
  expect(await warningsOf(`/backups/${backup.id}/restore`, {})).not.toContainEqual(expect.stringContaining("modules"));
  expect((await imported(me, archive, server.id)).missing_modules).toEqual([]);
});
