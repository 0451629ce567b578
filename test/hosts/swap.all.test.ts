// The swap of a restore and its undo, with a server that has databases: whoever removes one of them, neither succeeds without its
// data.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { filesProgram } from "../../shared/hosts/host-script.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { unless } from "../harness/unless.ts";
import { type MachineWithJobs, machineWithJobs } from "./jobs.ts";
import { noMachine, PAGES } from "./machine.ts";

const PROGRAM = filesProgram();

describe("the swap of a restore", unless(noMachine), () => {
  let jobs: MachineWithJobs;
  let archive: StoredArchive;
  let restore_id: string;
  beforeAll(async () => {
    jobs = await machineWithJobs();
    jobs.machine.standIn("nsenter", PAGES);
    jobs.begin();
    const { bytes, ...rest } = await jobs.backUp();
    ({ archive } = rest);
    writeFileSync(backup(), bytes);
  });
  beforeEach(() => {
    jobs.begin();
    restore_id = `op_swap_${randomBytes(4).toString("hex")}`;
    writeFileSync(note("databases"), "shop 7\n");
  });
  afterEach(() => {
    jobs.machine.docker(":");
    jobs.end();
  });
  afterAll(() => jobs.machine.stop());

  const backup = (): string => join(jobs.machine.root, "backup.zip");
  const note = (name: string): string => join(jobs.machine.notes, name);
  const here = (...path: string[]): string => join(jobs.machine.root, "instances/ins_1", ...path);
  const BOTH = { restore_database: true, restore_filestore: true };
  const build = () =>
    jobs.run<"build_restore">({
      kind: "build_restore",
      instance_id: "ins_1",
      restore_id,
      archive,
      neutralize: false,
      backup_first: false,
      ...BOTH,
    });
  const swap = () => jobs.run<"swap_restore">({ kind: "swap_restore", instance_id: "ins_1", restore_id, ...BOTH });
  const putBack = () => jobs.run<"put_back">({ kind: "put_back", instance_id: "ins_1", restore_id, start: true });
  const dropOld = () => jobs.run<"drop_old">({ kind: "drop_old", instance_id: "ins_1", restore_id });
  /** Maps the names of the databases to their OIDs. */
  const databases = (): Record<string, string> =>
    Object.fromEntries(
      readFileSync(note("databases"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")),
    );
  const readStatements = (): string => readFileSync(note("asked"), "utf8");
  /** Drops a database, as the code in the container could. */
  const drop = (name: string): void => {
    const { [name]: dropped, ...others } = databases();
    expect(dropped).toBeDefined();
    writeFileSync(
      note("databases"),
      Object.entries(others)
        .map((words) => `${words.join(" ")}\n`)
        .join(""),
    );
  };
  const failed = (message: string) => ({ code: "HOST_JOB_FAILED", message: expect.stringContaining(message) });
  const facts = (): string[] => readdirSync(here()).filter((name) => name.endsWith(".oid"));

  test("the database says which files it lists: generated styles of which one is missing are made anew", async () => {
    writeFileSync(note("listed"), "ab/gone\n");
    await build();
    expect(readStatements()).toContain("url like '/web/assets/%'");
    for (const name of ["listed", "asked"]) rmSync(note(name));
    restore_id += "_whole";
    await build();
    expect(readStatements()).not.toContain("url like '/web/assets/%'");
  });

  test("the databases trade places, and back, and what was replaced is dropped in the end", async () => {
    await build();
    const { [`new_${restore_id}`]: built } = databases();
    await swap();
    expect(databases()).toEqual({ shop: built, [`old_${restore_id}`]: "7" });
    await putBack();
    expect(databases()).toEqual({ shop: "7" });
    await build();
    await swap();
    await dropOld();
    expect(Object.keys(databases())).toEqual(["shop"]);
    expect(databases()).not.toEqual({ shop: "7" });
    expect([facts(), readdirSync(here("restores"))]).toEqual([[], []]);
  });

  test("a restore fails if the ERP drops its database after the last look at it, and its undo keeps the old data", async () => {
    await build();
    jobs.hostile("echo now > filestore/shop/present");
    // A statement that waits in one of the ERP's sessions, which do not end with its container.
    writeFileSync(note("before-files"), `case $* in *" prepare "*) sed -i /^new_/d $NOTES/databases ;; esac`);
    await expect(swap()).rejects.toMatchObject(failed("The restored database is not there any more"));
    rmSync(note("before-files"));
    expect(readFileSync(jobs.store("shop/present"), "utf8")).toBe("now\n");
    await putBack();
    expect(databases()).toEqual({ shop: "7" });
    expect(readFileSync(jobs.store("shop/present"), "utf8")).toBe("now\n");
  });

  test("an undo fails if the database from before the restore is gone, and leaves what was restored whole", async () => {
    await build();
    jobs.hostile("echo now > filestore/shop/present");
    await swap();
    drop(`old_${restore_id}`);
    await expect(putBack()).rejects.toMatchObject(failed("The database from before the restore is not there any more"));
    expect(Object.keys(databases())).toEqual(["shop"]);
    expect(readFileSync(jobs.store("shop/present"), "utf8")).toBe("present");
  });

  test("an undo brings back that there was no database, and leaves the ERP to what it does with its own", async () => {
    await build();
    drop("shop");
    await swap();
    await expect(putBack()).rejects.toMatchObject(failed("The ERP has no database"));
    expect(Object.keys(databases())).toEqual([`new_${restore_id}`]);
    writeFileSync(note("databases"), "shop 8\n"); // whatever is there now
    await putBack();
    expect([databases(), facts()]).toEqual([{ shop: "8" }, []]);
  });

  test("the ERP's sessions end before the swap, and the database from before it belongs to the superuser until it is put back", async () => {
    await build();
    rmSync(note("asked"));
    writeFileSync(note("sessions"), "2\n"); // one of them a parallel worker of the other, which is gone before its turn
    await swap();
    const [first = "", then = ""] = readStatements().split(/(?=begin;)/);
    expect(first).toMatch(/(pg_terminate_backend\(pid\)\)[^]*usename = 'odoo'[^]*){2}from pg_database where datname = 'new_/);
    expect(then).toContain(`alter database "old_${restore_id}" owner to current_user;`);
    expect(then).toContain(`alter database "old_${restore_id}" allow_connections false`);
    rmSync(note("asked"));
    await putBack();
    expect(readStatements()).toMatch(
      /pg_terminate_backend\(pid\)\)[^]*begin;[^]*"shop" owner to odoo;[^]*"shop" allow_connections true[^]*commit/,
    );
  });

  test.each([
    ["a swap", "new", swap],
    ["an undo", "old", putBack],
    ["dropping what was replaced", "old", dropOld],
  ])("a database server that recovers from a crash is not one without the database: %s", async (_, name, work) => {
    await build();
    if (work !== swap) await swap();
    for (const oid of facts()) rmSync(here(oid)); // as if an earlier version of the script had built or swapped it
    const before = databases();
    writeFileSync(note("recovers-at"), `where datname = '${name}_`);
    await expect(work()).rejects.toMatchObject(failed("The database server does not respond"));
    expect(databases()).toEqual(before);
    rmSync(note("recovers-at"));
    await work();
    expect(databases()).not.toEqual(before);
  });

  test("a clock that was set back while the ERP was stopped fails no restore", async () => {
    await build();
    writeFileSync(here("stopped_at"), String(Math.floor(Date.now() / 1000) + 3600));
    expect(await swap()).toEqual({ downtime_seconds: 0 });
  });

  test.each([
    ["unpack", "new_1"],
    ["swap", "new_1", "shop", "old_1"],
    ["swap_back", "old_1", "shop", "new_1"],
  ])("the files are on the disk before the next step relies on them: %s", (...command) => {
    const mounts = ["--mount", "type=volume,source=x,target=/var/lib/odoo", "--mount", `type=bind,source=${backup()},target=/in`];
    const program = `import os\nos.sync = lambda: os.write(2, b"synced\\n")\n${PROGRAM}`;
    const { stderr } = spawnSync(
      join(jobs.machine.root, "../commands/docker"),
      ["run", ...mounts, "--entrypoint", "python3", "image", "-I", "-c", program, ...command],
      { env: { PATH: process.env["PATH"], NOTES: jobs.machine.notes }, encoding: "utf8" },
    );
    expect(stderr).toMatch(/^synced\n\{.*\}$/m);
  });

  test("what replaces the old data is on the disk before that is dropped, and each step of a restore before the next", async () => {
    jobs.machine.standIn("sync", 'echo "synced $*" >> $NOTES/asked; exec /usr/bin/sync "$@"');
    await build();
    await swap();
    await dropOld();
    jobs.machine.standIn("sync", 'exec /usr/bin/sync "$@"');
    expect(readStatements()).toMatch(/^synced \n[^]*drop database if exists "old_/m);
    expect(readStatements()).toMatch(/^synced .*\/restores\/\w+\.draft\nsynced .*\/restores\n[^]*begin;/m);
  });

  test("nothing is swapped while a session of the ERP does not end", async () => {
    await build();
    writeFileSync(note("endless"), "");
    await expect(swap()).rejects.toMatchObject(failed("sessions in the database server do not end"));
    expect(databases()).toMatchObject({ shop: "7" });
    expect(readFileSync(here("restores", restore_id), "utf8")).toBe("built");
  });

  test("a restore that an earlier version of the script built, or swapped, goes on", async () => {
    await build();
    const { [`new_${restore_id}`]: built } = databases();
    rmSync(here(`new_${restore_id}.oid`));
    await swap();
    expect(databases()).toMatchObject({ shop: built });
    rmSync(here(`old_${restore_id}.oid`));
    await putBack();
    expect(databases()).toEqual({ shop: "7" });
  });
});
