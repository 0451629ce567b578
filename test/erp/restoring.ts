// Restores: killed, failing in the middle, of hostile files and of a damaged archive.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BackedUp, type Chain, DATABASE } from "./context.ts";
import { until } from "./machine.ts";

export async function restore(
  { machine, service, client, guarantee, succeeds, fails, survives, instanceOf, enter, backUp, downloaded }: Chain,
  { shop, password, erp, bytes, written, backup }: BackedUp,
): Promise<void> {
  const restored = await guarantee("a restore that is killed midway brings back what was changed and deleted", async () => {
    await erp.write("res.partner", [written.customer], { name: "Changed" });
    await erp.remove("ir.attachment", [written.attachment]);
    await erp.create("res.partner", { name: "Too late" });
    const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
    const operation = await survives(data.id, "buildRestore", 1.5);
    const again = await enter(shop, password);
    assert.deepEqual(await again.search("res.partner", [["name", "=", "First customer"]]), [written.customer]);
    assert.deepEqual(await again.search("res.partner", [["name", "in", ["Changed", "Too late"]]]), []);
    assert.deepEqual(await again.file(written.attachment), bytes);
    return operation;
  });
  await guarantee("the safety backup has the data from before the restore", async () => {
    const id = restored.result?.safety_backup_id ?? "";
    const { data } = await client.backups.restore({ params: { id }, body: { backup_first: false } });
    await succeeds(data.id);
    const again = await enter(shop, password);
    assert.equal((await again.search("res.partner", [["name", "in", ["Changed", "Too late"]]])).length, 2);
    assert.equal(await again.file(written.attachment), undefined);
  });

  await guarantee("the safety backup has everything that users write until a restore stops the ERP", async () => {
    const writer = await enter(shop, password);
    const responded: string[] = [];
    const enough = new AbortController();
    const writes = (async () => {
      for (let number = 1; !enough.signal.aborted; number++) {
        const name = `Meanwhile ${number}.`;
        await writer
          .create("res.partner", { name })
          .then(() => responded.push(name))
          .catch(() => sleep(100));
      }
    })();
    const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
    const { result } = await succeeds(data.id);
    enough.abort();
    await writes;
    const folder = mkdtempSync(join(machine.root, "safety-"));
    writeFileSync(join(folder, "archive.zip"), await downloaded(result?.safety_backup_id ?? ""));
    const dump = execFileSync("unzip", ["-p", join(folder, "archive.zip"), "dump.sql"], { maxBuffer: 1024 ** 3 }).toString();
    const after = await enter(shop, password);
    const isKept = async (name: string): Promise<boolean> =>
      dump.includes(`${name}\t`) || (await after.search("res.partner", [["name", "=", name]])).length === 1;
    const lost: string[] = [];
    for (const name of responded) if (!(await isKept(name))) lost.push(name);
    assert(responded.length > 0);
    assert.deepEqual(lost, []);
    console.log(`  ${responded.length} writes succeeded; the ERP was stopped for ${result?.downtime_seconds} s`);
    assert((result?.downtime_seconds ?? 0) > 0);
  });

  await guarantee(
    "code in the ERP's container cannot reach the machine's files by links, and root there has no privileges",
    async () => {
      const secret = join(machine.root, "secret");
      writeFileSync(secret, "the machine's own secret", { mode: 0o600 });
      const files = `/var/lib/odoo/filestore/${DATABASE}`;
      const inside = (command: string): string =>
        machine.docker("exec", `erp-${shop.id}`, "bash", "-c", `cd ${files} && ${command}`);
      assert.throws(
        () => machine.docker("exec", "-u", "root", `erp-${shop.id}`, "touch", `${files}/by-root`),
        /Permission denied/,
      );
      inside(`ln -s ${secret} link && ln -s ${machine.root} folder && mkfifo pipe && mkdir own-folder && echo a > 'own-folder/ü b.txt' &&
      : > $'\\xff'`);
      const record = await backUp(shop.id, "With links");
      assert.deepEqual([record.status, record.missing_files, record.skipped_files], ["completed", 0, 4]);
      const folder = mkdtempSync(join(machine.root, "links-"));
      writeFileSync(join(folder, "archive.zip"), await downloaded(record.id));
      execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
      assert.equal(readFileSync(join(folder, "filestore/own-folder/ü b.txt"), "utf8"), "a\n");
      assert.throws(() => execFileSync("grep", ["-rqF", "the machine's own secret", folder]));
      inside(`rm -rf 'own-folder' && ln -s ${machine.root} own-folder`);
      const restore = { restore_database: false, backup_first: false };
      await succeeds((await client.backups.restore({ params: { id: record.id }, body: restore })).data.id);
      assert.equal(inside("cat 'own-folder/ü b.txt'"), "a\n");
      inside("cd .. && mv shop elsewhere && ln -s elsewhere shop");
      const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
      assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /folder filestore\/shop is a link/);
      machine.docker("exec", `erp-${shop.id}`, "bash", "-c", "cd /var/lib/odoo/filestore && rm shop && mv elsewhere shop");
      assert.equal(readFileSync(secret, "utf8"), "the machine's own secret");
      assert.deepEqual(
        [statSync(secret).uid, statSync(machine.root).uid, existsSync(join(machine.root, "ü b.txt"))],
        [0, 0, false],
      );
      rmSync(secret);
    },
  );

  await guarantee("a restore that fails in the middle leaves the ERP as it was", async () => {
    const before = await enter(shop, password);
    const marker = await before.create("res.partner", { name: "Written after the backup" });
    const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
    const loading = `erp-${shop.id}-psql`;
    await until("the dump is loaded", 300, () => machine.docker("ps", "--format", "{{.Names}}").includes(loading), 20);
    machine.docker("rm", "-f", loading);
    assert.match(await fails(data.id, "HOST_JOB_FAILED"), /could not be restored/);
    assert.equal((await instanceOf(shop.id)).status, "running");
    const after = await enter(shop, password);
    assert.deepEqual(await after.search("res.partner", [["name", "=", "Written after the backup"]]), [marker]);
    assert.deepEqual(await after.file(written.attachment), bytes);
  });

  await guarantee("an archive that was changed in the store is rejected, and the ERP is untouched", async () => {
    const second = await backUp(shop.id, "To be damaged");
    const key = (await service.stored()).find((name) => name.includes(second.id));
    assert(key);
    await service.damage(key);
    const { data } = await client.backups.restore({ params: { id: second.id }, body: {} });
    await fails(data.id, "BACKUP_CORRUPT");
    assert.equal((await instanceOf(shop.id)).status, "running");
    const after = await enter(shop, password);
    assert.deepEqual(await after.file(written.attachment), bytes);
  });
}
