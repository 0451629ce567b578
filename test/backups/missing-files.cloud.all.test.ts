// Backups that lack files of their database: how many is said before, and an instance begins with them only if that is accepted.
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import type { Server } from "../../shared/api/servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { lacksManyFiles } from "../../shared/domain/missing-files.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
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

/** The archive, with so many files in its database that it does not have. */
function lacking(count: number): Uint8Array {
  const entries = unzipSync(archive);
  const rows = Array.from({ length: count }, (_, index) => `${index + 100}\tlost\t${String(index).padStart(40, "a")}\n`).join("");
  const dump = strFromU8(entries["dump.sql"] ?? new Uint8Array()).replace("1\tlogo.svg\t", `${rows}$&`);
  return zipSync({ ...entries, "dump.sql": strToU8(dump) });
}
const bodyOf = (backup: Backup, fields: object = {}) =>
  me.instanceBody({ server_id: server.id, backup_id: backup.id, ...fields });

test("an archive that lacks many files is imported, which says how many, and becomes an instance only if that is accepted", async () => {
  const backup = await imported(me, lacking(4), server.id);
  expect(backup.missing_files).toBe(4);
  expect(backup.listed_files).toBeGreaterThan(4);
  const [operation] = (await me.api.get(`/operations?resource_id=${backup.id}`)).text.match(/"missing_files":4/) ?? [];
  expect(operation).toBeDefined();
  const refused = { code: "INVALID_STATE", details: { missing_files: 4, listed_files: backup.listed_files } };
  for (const query of ["", "?dry_run=true"])
    for (const fields of [{}, { accept_missing_files: false }])
      expect((await me.api.post(`/instances${query}`, await bodyOf(backup, fields))).error).toMatchObject(refused);
  const accepted = await bodyOf(backup, { accept_missing_files: true });
  const { warnings } = (await me.api.post("/instances?dry_run=true", accepted)).as(DryRun);
  expect(JSON.stringify(warnings)).toContain("4 of the files that the backup's database lists are not in it");
  const { operation_id } = (await me.api.post("/instances", accepted)).as(Instance);
  await me.until(operation_id);
});

test("an archive that lacks three files needs no acceptance, and its dry run says so", async () => {
  const backup = await imported(me, lacking(3), server.id);
  const { warnings } = (await me.api.post("/instances?dry_run=true", await bodyOf(backup))).as(DryRun);
  expect(JSON.stringify(warnings)).toContain("3 of the files");
});

test("a clone of both parts needs the acceptance, and one of a part does not", async () => {
  const source = await me.instance();
  const backup = await me.backup(source.id);
  await updateOne(keys.record("backup", me.id, backup.id), { set: { missing_files: 31, listed_files: 605 } }, {});
  const ask = async (fields: object) =>
    me.api.post(`/instances/${source.id}/clone?dry_run=true`, {
      name: "Copy",
      domain: uniqueDomain(),
      backup_id: backup.id,
      ...fields,
    });
  expect((await ask({})).error).toMatchObject({ code: "INVALID_STATE", details: { missing_files: 31, listed_files: 605 } });
  for (const fields of [
    { accept_missing_files: true },
    { restore_filestore: false },
    { restore_database: false, neutralize: false },
  ])
    expect((await ask(fields)).status).toBe(200);
});

test("many are more than three and more than one percent; what was not counted is not many", () => {
  const of = (missing_files: number, listed_files: number | null) => lacksManyFiles({ missing_files, listed_files });
  expect([of(3, 3), of(4, 4), of(4, 400), of(5, 499), of(31, 605), of(9, null)]).toEqual([false, true, false, true, true, false]);
});
