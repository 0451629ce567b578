// The first backup: what its archive has in it, and that nothing of it stays on the machine.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Backup } from "../../shared/api/backups.ts";
import { type Chain, type Shop } from "./context.ts";

export async function backUpShop(
  { machine, client, guarantee, survives, downloaded }: Chain,
  { shop, bytes }: Shop,
): Promise<Backup> {
  const backup = await guarantee("a backup is completed, although packing it is killed midway", async () => {
    const { data } = await client.backups.create({ params: { id: shop.id }, body: { note: "Before the change" } });
    await survives(data.operation_id, "makeArchive", 0.3);
    const record = (await client.backups.get({ params: { id: data.id } })).data;
    assert.equal(record.status, "completed");
    return record;
  });
  await guarantee("its download is the ERP's own archive with the file in it, and matches the record", async () => {
    const folder = mkdtempSync(join(machine.root, "download-"));
    writeFileSync(join(folder, "archive.zip"), await downloaded(backup.id));
    execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
    assert.equal(execFileSync("sha256sum", ["archive.zip"], { cwd: folder, encoding: "utf8" }).slice(0, 64), backup.sha256);
    assert.deepEqual(readdirSync(folder).toSorted(), ["archive.zip", "dump.sql", "filestore", "manifest.json"]);
    assert.equal(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")).major_version, "19.0");
    execFileSync("grep", ["-rqs", "--binary-files=text", "-F", "First customer", join(folder, "dump.sql")]);
    const files = readdirSync(join(folder, "filestore"), { recursive: true, encoding: "utf8", withFileTypes: true });
    assert(files.some((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).equals(bytes)));
  });

  await guarantee("nothing of a backup stays on the machine", async () => {
    const leftovers = readdirSync(machine.root, { recursive: true, encoding: "utf8" }).filter((name) =>
      /jobs\/.*(\.zip|\/work|\/parameters)/.test(name),
    );
    assert.deepEqual(leftovers, []);
  });
  return backup;
}
