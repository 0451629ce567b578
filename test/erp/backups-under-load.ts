// Backups on a full disk, and while files are deleted.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BackedUp, type Chain, DATABASE } from "./context.ts";
import { until } from "./machine.ts";

/**
 * Attachments as the ERP stores them, created and deleted without it: deleting some hundred through it takes as long as a backup.
 */
const ATTACHMENTS = `
import configparser, hashlib, os, psycopg2, time
conf = configparser.RawConfigParser()
conf.read("/etc/odoo/odoo.conf")
o = conf["options"]
base = psycopg2.connect(host=o["db_host"], user=o["db_user"], password=o["db_password"], dbname="${DATABASE}")
base.autocommit = True
cursor = base.cursor()
top = "/var/lib/odoo/filestore/${DATABASE}"
def make(count):
    for number in range(count):
        data = b"file %d" % number * 2000
        name = hashlib.sha1(data).hexdigest()
        name = f"{name[:2]}/{name}"
        os.makedirs(os.path.dirname(f"{top}/{name}"), exist_ok=True)
        open(f"{top}/{name}", "wb").write(data)
        cursor.execute("insert into ir_attachment (name, type, store_fname) values (%s, 'binary', %s)", (name, name))
        print(name)
def delete(names):
    for name in names:
        cursor.execute("delete from ir_attachment where store_fname = %s", (name,))
        os.unlink(f"{top}/{name}")
        time.sleep(0.008)`;

export async function backUpUnderLoad(
  { machine, databasesOf, service, client, guarantee, succeeds, fails, instanceOf, enter, downloaded }: Chain,
  { shop, password, bytes, written, backup }: BackedUp,
): Promise<void> {
  /** A separate disk for jobs alone. It hides those of earlier operations meanwhile. */
  async function withJobsOn(megabytes: number, work: (jobs: string) => Promise<void>): Promise<void> {
    const jobs = join(machine.root, "jobs");
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", jobs]);
    await work(jobs).finally(() => execFileSync("umount", [jobs]));
  }
  await guarantee("a backup without room on the disk fails before it writes anything, and leaves nothing", async () => {
    const before = await service.stored();
    await withJobsOn(200, async (jobs) => {
      const { data } = await client.backups.create({ params: { id: shop.id }, body: { note: "No room" } });
      assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /disk has \d+ MB free/);
      const leftovers = readdirSync(jobs, { recursive: true, encoding: "utf8" }).filter((name) => /\.zip|\.sql/.test(name));
      assert.deepEqual(leftovers, []);
    });
    assert.deepEqual(await service.stored(), before);
    await enter(shop, password);
  });

  await guarantee("a backup stops before it fills the disk, and the ERP keeps running", async () => {
    const before = await service.stored();
    const server = `erp-${shop.id}-db`;
    await withJobsOn(700, async (jobs) => {
      const lock = "set application_name = 'lock'; begin; lock res_partner in access exclusive mode; select pg_sleep(300)";
      machine.docker("exec", "-d", server, "psql", "-U", "odoo", "-d", DATABASE, "-c", lock); // the dump waits for it
      const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
      const archive = join(jobs, `${data.operation_id}-makeArchive`, "archive.zip");
      await until("it packs", 60, () => existsSync(archive), 20);
      execFileSync("fallocate", ["-l", "620m", join(jobs, "filling")]);
      assert.match(await fails(data.operation_id, "HOST_JOB_FAILED"), /stopped before the server's disk was full/);
      assert(!existsSync(archive));
      const release = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lock'";
      machine.docker("exec", server, "psql", "-U", "postgres", "-c", release);
    });
    assert.deepEqual(await service.stored(), before);
    await enter(shop, password);
  });

  await guarantee("a backup that waits while a table is rewritten has all of its rows", async () => {
    const server = `erp-${shop.id}-db`;
    const sql = (statements: string, ...options: string[]): string =>
      machine.docker("exec", ...options, server, "psql", "-U", "odoo", "-d", DATABASE, "-c", statements);
    sql("create table rewritten as select number::text as name from generate_series(1, 1000) as number");
    sql("set application_name = 'holder'; select pg_advisory_lock(1), pg_sleep(300)", "-d");
    sql("alter table rewritten alter column name type varchar using name || ' rewritten'; select pg_advisory_lock(1)", "-d");
    const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
    const locks = "select count(*) from pg_locks where relation = 'rewritten'::regclass and not granted";
    await until("it waits for the table", 60, () => /^\s*1$/m.test(sql(locks)), 20);
    sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holder'");
    await succeeds(data.operation_id);
    const archive = join(mkdtempSync(join(machine.root, "rewritten-")), "archive.zip");
    writeFileSync(archive, await downloaded(data.id));
    const dump = execFileSync("unzip", ["-p", archive, "dump.sql"], { encoding: "utf8", maxBuffer: 1024 ** 3 });
    assert.equal(dump.match(/^\d+ rewritten$/gm)?.length, 1000);
    sql("drop table rewritten");
  });

  await guarantee(
    "a safety backup that fails leaves the ERP running, with nothing swapped and nothing half finished",
    async () => {
      const marker = await (await enter(shop, password)).create("res.partner", { name: "Before the failed safety backup" });
      await withJobsOn(270, async () => {
        const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: true } });
        assert.match(await fails(data.id, "HOST_JOB_FAILED"), /A backup of the ERP needs \d+ MB/);
      });
      assert.equal((await instanceOf(shop.id)).status, "running");
      const after = await enter(shop, password);
      assert.deepEqual(await after.search("res.partner", [["name", "=", "Before the failed safety backup"]]), [marker]);
      assert.deepEqual(await after.file(written.attachment), bytes);
      assert.doesNotMatch(databasesOf(shop), /^(new|old)_/m);
    },
  );

  await guarantee("a backup while files are deleted has every file that its dump names", async () => {
    const inside = (code: string, ...options: string[]): string =>
      machine.docker("exec", ...options, `erp-${shop.id}`, "python3", "-c", `${ATTACHMENTS}\n${code}`);
    const names = inside("make(755)").trim().split("\n");
    const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
    const archive = join(machine.root, "jobs", `${data.operation_id}-makeArchive`, "archive.zip");
    await until("it packs", 60, () => existsSync(archive), 20);
    inside(`delete(${JSON.stringify(names)})`, "-d");
    await succeeds(data.operation_id);
    const record = (await client.backups.get({ params: { id: data.id } })).data;
    assert.deepEqual([record.status, record.missing_files], ["completed", 0]);
    const folder = mkdtempSync(join(machine.root, "deletions-"));
    writeFileSync(join(folder, "archive.zip"), await downloaded(data.id));
    execFileSync("unzip", ["-q", "archive.zip"], { cwd: folder });
    const dump = readFileSync(join(folder, "dump.sql"), "utf8");
    const dumpedNames = names.filter((name) => dump.includes(name));
    assert.deepEqual(
      dumpedNames.filter((name) => !existsSync(join(folder, "filestore", name))),
      [],
    );
    const remaining = Number(inside("print(sum(os.path.exists(f'{top}/{name}') for name in " + JSON.stringify(names) + "))"));
    assert(dumpedNames.length > 0 && remaining < names.length);
    console.log(`  its dump names ${dumpedNames.length} of ${names.length} files, of which ${remaining} were left at its end`);
  });
}
