// The code in an ERP's container is hostile: whatever it puts into its files, its database or an archive must not reach the
// machine.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import { drivenProgram } from "./files-program.ts";
import { type MachineWithJobs, machineWithJobs } from "./jobs.ts";
import { noMachine } from "./machine.ts";

const ERP_USER = 101;

describe("a hostile ERP", unless(noMachine), () => {
  let jobs: MachineWithJobs;
  beforeAll(async () => {
    jobs = await machineWithJobs();
  });
  beforeEach(() => jobs.begin());
  afterEach(() => jobs.end());
  afterAll(() => jobs.machine.stop());

  test("a hostile ERP cannot get the machine's files into its backup by links, which are counted and named", async () => {
    jobs.hostile(
      `cd filestore/shop && ln -s ${jobs.secret} link && ln -s ${jobs.folder} folder && mkdir deep && ln -s ${jobs.secret} deep/link`,
    );
    const { result, files } = await jobs.backUp();
    expect(Object.keys(files).toSorted()).toEqual(["dump.sql", "filestore/present", "manifest.json"]);
    expect(result).toMatchObject({ skipped_files: 3, missing_files: 0 });
    expect(result.skipped_paths.toSorted()).toEqual(["deep/link", "folder", "link"]);
    jobs.expectUntouched();
  });

  test("a backup keeps every file whose name is text, and skips other names and special files", async () => {
    jobs.hostile(`cd filestore/shop && mkdir lost+found && echo a > 'lost+found/a b.txt' && echo u > ünï.txt && : > $'new\\nline' &&
      : > empty && : > $'\\xff' && mkfifo pipe && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'`);
    const { result, files } = await jobs.backUp();
    expect(Object.keys(files).toSorted()).toEqual(
      [
        "dump.sql",
        "manifest.json",
        ...["empty", "lost+found/a b.txt", "new\nline", "present", "ünï.txt"].map((name) => `filestore/${name}`),
      ].toSorted(),
    );
    expect(result).toMatchObject({ skipped_files: 3, missing_files: 0 });
    expect(result.skipped_paths.toSorted()).toEqual(["\\xff", "pipe", "socket"]);
  });

  test.each(["filestore", "filestore/shop"])("a job fails and names the folder if %s is a link", async (name) => {
    jobs.hostile(`rm -rf ${name} && ln -s ${jobs.folder} ${name}`);
    await expect(jobs.backUp()).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringContaining(`folder ${name} is a link`),
    });
    jobs.expectUntouched();
  });

  test("a hostile ERP cannot make a restore overwrite the machine's files or change their owner", async () => {
    jobs.hostile("mkdir -p filestore/shop/ab && echo archived > filestore/shop/ab/keys");
    const { archive } = await jobs.backUp();
    jobs.hostile(
      `cd filestore && rm -rf shop/ab && ln -s ${jobs.folder} shop/ab && ln -s ${jobs.folder} .snapshot && ln -s ${jobs.secret} shop/keys`,
    );
    for (const restore_database of [false, true]) {
      await jobs.restore(archive, { restore_database, restore_filestore: true });
      expect(readFileSync(jobs.store("shop/ab/keys"), "utf8")).toBe("archived\n");
      jobs.expectUntouched();
    }
    expect(readdirSync(jobs.store()).toSorted()).toEqual([".snapshot", "shop"]);
    await jobs.backUp();
    jobs.expectUntouched();
    expect(lstatSync(jobs.store("shop")).uid).toBe(ERP_USER);
  });

  const BOTH = { restore_database: true, restore_filestore: true };
  const note = (name: string): string => join(jobs.machine.notes, name);
  const FAILED = { code: "HOST_JOB_FAILED" };
  /** More than a pipe holds: who writes it waits until it is read. */
  const LONG = `-- ${randomBytes(200_000).toString("hex")}\n-- PostgreSQL database dump complete\n`;

  test("what a hostile ERP does to files that are being restored never condemns the backup", async () => {
    jobs.hostile("mkdir -p filestore/shop/ab && echo archived > filestore/shop/ab/keys");
    writeFileSync(note("dump.sql"), LONG);
    const { archive } = await jobs.backUp();
    const built = `$(ls -d ${jobs.store()}/new_*)`;
    writeFileSync(note("meanwhile"), `until [ -d "${built}" ]; do sleep 0.05; done; : > ${built}/ab`);
    await expect(jobs.restore(archive, BOTH)).rejects.toMatchObject(FAILED);
    rmSync(note("meanwhile"));
    await jobs.restore(archive, BOTH);
  });

  test.each(["rm -r $new", "mv $new ${new/new_/old_}"])("a restore never succeeds without its files: %s", async (command) => {
    const { archive } = await jobs.backUp();
    jobs.hostile("echo new > filestore/shop/present");
    jobs.machine.docker(`case $1 in stop) for new in ${jobs.store()}/new_*; do ${command}; done ;; esac`);
    await expect(jobs.restore(archive, BOTH)).rejects.toMatchObject(FAILED);
    expect(readFileSync(jobs.store("shop/present"), "utf8")).toBe("new\n");
    jobs.machine.docker(":");
  });

  test("folders that nobody may enter or that are deeper than a path can be long are removed", async () => {
    jobs.hostile(`mkdir -p filestore/.snapshot/closed/in && : > filestore/.snapshot/closed/in/file
      python3 -c 'import os
os.chdir("filestore/.snapshot")
for _ in range(60):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)'
      chown -R ${ERP_USER} filestore && chmod 0 filestore/.snapshot/closed/in filestore/.snapshot/closed`);
    await jobs.backUp();
    expect(readdirSync(jobs.store())).toEqual(["shop"]);
  });

  test("files with any name in the database are counted in a backup as in its restore", async () => {
    jobs.hostile(`: > $'filestore/shop/a\nb'`);
    const rows = ["a\\nb", "present", "gone\\tand\\nmissing"].map((name) => `1\t${name}\n`).join("");
    writeFileSync(
      note("dump.sql"),
      `\nCOPY public.ir_attachment (id, store_fname) FROM stdin;\n${rows}\\.\n\n-- PostgreSQL database dump complete\n`,
    );
    const { result, archive } = await jobs.backUp();
    expect(result.missing_files).toBe(1);
    writeFileSync(note("listed"), "a\nb\npresent\ngone\tand\nmissing\n");
    await jobs.restore(archive, BOTH);
  });

  test("a file that the ERP removes while its files are measured takes no room, and ends nothing", () => {
    const measured = drivenProgram('commands.walk = lambda top: [b"gone"]\nprint(json.dumps(measure("shop")))');
    expect(JSON.parse(execFileSync("python3", ["-I", "-c", measured], { encoding: "utf8" }))).toEqual({ bytes: 0 });
  });

  test("an archive without a file that its database lists is corrupt", async () => {
    const table = "\nCOPY public.ir_attachment (id, store_fname) FROM stdin;\n1\tgone\n\\.\n";
    const manifest = '{"major_version":"19.0","missing_files":0}';
    const archive = await jobs.stored(zipSync({ "dump.sql": strToU8(table), "manifest.json": strToU8(manifest) }));
    await expect(jobs.restore(archive, BOTH)).rejects.toMatchObject({
      code: "BACKUP_CORRUPT",
      message: expect.stringContaining("1 files that its database lists are not in it, 0 were missing when it was made"),
    });
    await jobs.restore(archive, { restore_database: true, restore_filestore: false });
  });

  test("a backup skips what could not be restored: long paths, and a file with the name of a folder", async () => {
    const long = Array.from({ length: 6 }, () => "l".repeat(200)).join("/");
    jobs.hostile(`mkdir -p filestore/shop/${long} && : > filestore/shop/${long}/file`);
    const store = jobs.store();
    writeFileSync(
      note("meanwhile"),
      `: > ${store}/.snapshot/z; mkdir ${store}/shop/z; echo f > ${store}/shop/z/f; chown -R ${ERP_USER} ${store}`,
    );
    const { result, archive, files } = await jobs.backUp();
    rmSync(note("meanwhile"));
    expect(Object.keys(files)).not.toContain("filestore/z/f");
    expect(result.skipped_files).toBe(2);
    await jobs.restore(archive, BOTH);
  });

  const dumpNaming = (...names: string[]): string =>
    `--\nCOPY public.ir_attachment (id, store_fname) FROM stdin;\n${names.map((name) => `1\t${name}\n`).join("")}\\.\n-- PostgreSQL database dump complete\n`;

  test("a file that comes before the database's snapshot and is deleted right after it is in the backup", async () => {
    writeFileSync(note("dump.sql"), dumpNaming("present", "late"));
    const [file, link] = [jobs.store("shop/late"), jobs.store(".snapshot/late")];
    writeFileSync(
      note("at-snapshot"),
      `echo late > ${file}; chown ${ERP_USER} ${file}; for _ in {1..100}; do [ -e ${link} ] && break; sleep 0.05; done; rm ${file}`,
    );
    const { result, files } = await jobs.backUp();
    expect(result).toMatchObject({ missing_files: 0, skipped_files: 0 });
    expect(Object.keys(files)).toContain("filestore/late");
  });

  test("a file that was lost before the backup is counted, and one that is taken from the backup while it is packed fails it", async () => {
    writeFileSync(note("dump.sql"), dumpNaming("present", "gone"));
    expect((await jobs.backUp()).result).toMatchObject({ missing_files: 1 });
    writeFileSync(note("meanwhile"), `rm ${jobs.store("shop/present")} ${jobs.store(".snapshot/present")}`);
    await expect(jobs.backUp()).rejects.toMatchObject({
      ...FAILED,
      message: expect.stringContaining("1 of the files that the database lists were removed from the backup's own folder"),
    });
  });

  test("a database's role gets its password and settings back before a backup and a restore, and a backup opens a closed database", async () => {
    const RESET = "alter role odoo reset all; alter role odoo password 'secret'";
    const { archive } = await jobs.backUp();
    const statements = readFileSync(note("asked"), "utf8");
    expect(statements).toContain(RESET);
    const opened = statements.slice(0, statements.indexOf("pg_database_size"));
    for (const reset of ['role odoo in database "shop" reset all', 'database "shop" reset all'])
      expect(opened).toContain(`alter ${reset};`);
    expect(opened).toContain(
      'alter database "shop" allow_connections true connection limit -1; grant all on database "shop" to odoo',
    );
    rmSync(note("asked"));
    await jobs.restore(archive, BOTH);
    expect(readFileSync(note("asked"), "utf8")).toContain(RESET);
  });

  test("an error of the machine while it reads an archive never condemns the backup", async () => {
    const { archive } = await jobs.backUp();
    const first = `if [ $1 = dgst ] && [ ! -e $NOTES/read ]; then : > $NOTES/read; WRONG; fi; exec /usr/bin/openssl "$@"`;
    for (const wrong of ["kill -9 $$", "echo 0; exit"]) {
      jobs.machine.standIn(
        "openssl",
        first.replace("WRONG", () => wrong),
      );
      await expect(jobs.restore(archive, BOTH)).rejects.toMatchObject(FAILED);
      await jobs.restore(archive, BOTH);
      rmSync(note("read"));
    }
    jobs.machine.standIn("openssl", 'exec /usr/bin/openssl "$@"');
  });

  test("nothing in a hostile database is executed", async () => {
    writeFileSync(join(jobs.machine.notes, "database-says"), `a[$(touch ${join(jobs.folder, "..", "ran")})]`);
    await expect(jobs.backUp()).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    await expect(jobs.run<"verify_clone">({ kind: "verify_clone", instance_id: "ins_1" })).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
    });
    jobs.expectUntouched();
  });

  test("a dump omits only the lines that database clients added", async () => {
    const body =
      "\ncreate table t ();\n\\restrict kept\nCOPY public.t (a) FROM stdin;\n\\restrict row\n\\.\n\n-- PostgreSQL database dump complete\n--\n";
    writeFileSync(
      join(jobs.machine.notes, "dump.sql"),
      `--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n${body}\n\\unrestrict abc\n\n`,
    );
    const { archive, files } = await jobs.backUp();
    expect(Buffer.from(files["dump.sql"] ?? []).toString()).toContain("\\restrict abc");
    await jobs.restore(archive, { restore_database: true, restore_filestore: true });
    expect(readFileSync(join(jobs.machine.notes, "restored.sql"), "utf8")).toBe(
      `--\n-- PostgreSQL database dump\n--\n\n${body}\n\n`,
    );
  });

  const OWN = { "dump.sql": strToU8("select 1;"), "manifest.json": strToU8('{"major_version":"19.0"}') };

  test.each(["../x", "/etc/x", "filestore/../../x", "filestore//x", "other", "filestore/a/./b"])(
    "an archive with a file %s is rejected",
    async (name) => {
      await expect(jobs.verify(await jobs.stored(zipSync({ ...OWN, [name]: randomBytes(10) })))).rejects.toMatchObject({
        code: "BACKUP_CORRUPT",
      });
      jobs.expectUntouched();
    },
  );

  test("an archive with links, with two listings or with damage is rejected", async () => {
    const link = zipSync({ ...OWN, "filestore/link": [strToU8(jobs.secret), { os: 3, attrs: 0o120777 * 65536 }] });
    const archive = zipSync({ ...OWN, "filestore/file": randomBytes(1000) }, { level: 0 });
    const other = Buffer.from(archive);
    other.write("filestore/fil2", other.lastIndexOf("filestore/file"));
    const damaged = Buffer.from(archive).fill(0, 200, 210);
    for (const bytes of [link, archive.subarray(0, 900)])
      await expect(jobs.verify(await jobs.stored(bytes))).rejects.toMatchObject({ code: "BACKUP_CORRUPT" });
    await jobs.verify(await jobs.stored(archive));
    // What only the contents show is found during the restore, beside the present data.
    for (const bytes of [link, other, damaged])
      await expect(
        jobs.restore(await jobs.stored(bytes), { restore_database: true, restore_filestore: true }),
      ).rejects.toMatchObject({
        code: "BACKUP_CORRUPT",
      });
    expect(readdirSync(jobs.store("shop"))).toEqual(["present"]);
    jobs.expectUntouched();
  });
});
