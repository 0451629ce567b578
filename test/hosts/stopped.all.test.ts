// What interrupts a job: a disk that fills during the work, or Docker or a URL that goes away while the job reads an archive.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Job, JobKind } from "../../shared/hosts/host.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, PIECE_BYTES, processesWith, startMachine, type TestMachine, until } from "./machine.ts";

/** The job reads its archive in three pieces. */
const FILE_BYTES = 2.5 * PIECE_BYTES;

describe("interrupted jobs", unless(noMachine), () => {
  let machine: TestMachine;
  let archive: StoredArchive;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", { file: randomBytes(FILE_BYTES) });
    machine.docker('case "$*" in stop*) echo "$*" >> $NOTES/stops ;; esac');
    const key = "accounts/acc_1/backups/bak_1.zip";
    const job: Job<"make_archive"> = { id: "op_first-makeArchive", kind: "make_archive", instance_id: "ins_1", key, note: null };
    await ended(job);
    const result = await resultOf(job);
    archive = { key, size_bytes: result.size_bytes, sha256: result.sha256, erp_version: "19.0" };
    machine.standIn("df", '[ -e $NOTES/full ] || exec /usr/bin/df "$@"; echo Avail Inodes IFree; cat $NOTES/full');
  });
  afterEach(() => {
    machine.standIn("curl", 'exec /usr/bin/curl "$@"');
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());

  const note = (name: string): string => join(machine.notes, name);
  /** Returns the error's message. */
  const ended = (job: Job): Promise<void> => until(`${job.id} is ready`, async () => (await ssh.run(machine.server, job)).ready);
  async function resultOf<K extends JobKind>(job: Job<K>) {
    const progress = await ssh.run(machine.server, job);
    if (!progress.ready) throw new Error("It was ready");
    return progress.result;
  }
  const rests = (): Promise<void> =>
    until("no process is left", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
  /** Whoever writes or reads this waits for the other end. */
  const pipe = (name: string): void => void execFileSync("mkfifo", [note(name)]);
  const buildRestore = (operation: string): Job<"build_restore"> => ({
    id: `${operation}-buildRestore`,
    kind: "build_restore",
    instance_id: "ins_1",
    restore_id: operation,
    archive,
    restore_database: true,
    restore_filestore: true,
    neutralize: false,
    backup_first: false,
  });
  const full = (free: string) => ({
    name: "GiveUp",
    code: "HOST_JOB_FAILED",
    message: expect.stringContaining(`disk was full: it has ${free} free`),
  });

  /** Btrfs has no fixed number of inodes. */
  const BTRFS = "100000000 0 0";

  test("a backup that fills the disk fails with that reason, the ERP keeps running, and nothing of the backup is left", async () => {
    pipe("dump.sql");
    const key = "accounts/acc_1/backups/bak_full.zip";
    const job: Job = { id: "op_full-makeArchive", kind: "make_archive", instance_id: "ins_1", key, note: null };
    await ssh.run(machine.server, job);
    const here = join(machine.root, "jobs", job.id);
    await until("it packs", () => existsSync(join(here, "archive.zip")));
    writeFileSync(note("full"), BTRFS);
    await expect(ended(job)).rejects.toMatchObject(full("96 MB"));
    await rests();
    expect([existsSync(join(here, "archive.zip")), existsSync(join(here, "work")), existsSync(note("stops"))]).toEqual([
      false,
      false,
      false,
    ]);
    rmSync(note("full"));
    rmSync(note("dump.sql"));
    await ended({ ...job, id: "op_next-makeArchive" });
    expect(readdirSync(join(machine.volume, "filestore"))).toEqual(["shop"]);
  });

  test.each([
    [BTRFS, "96 MB"],
    ["64000000000 1000000 49999", "49999 inodes"],
  ])("a restore that fills the disk (%s) fails with that reason, and its undo removes what it built", async (df, free) => {
    pipe("restored.sql");
    const operation = `op_filling_${free.slice(-2).toLowerCase()}`;
    const job = buildRestore(operation);
    await ssh.run(machine.server, job);
    const built = join(machine.volume, "filestore", `new_${operation}`);
    await until("it unpacks", () => existsSync(built));
    writeFileSync(note("full"), df);
    await expect(ended(job)).rejects.toMatchObject(full(free));
    await rests();
    await ended({
      id: `${operation}-putBack-try1`,
      kind: "put_back",
      instance_id: "ins_1",
      restore_id: operation,
      start: true,
      ends: [job.id],
    });
    expect(existsSync(built)).toBe(false);
    expect(readdirSync(join(machine.root, "instances/ins_1/restores"))).toEqual([]);
    expect(existsSync(note("stops"))).toBe(false);
  });

  test("a job fails at once if a container at the other end of its pipe does not start", async () => {
    writeFileSync(note("no-client"), "");
    const key = "accounts/acc_1/backups/bak_alone.zip";
    const alone = { name: "GiveUp", code: "HOST_JOB_FAILED" };
    await expect(
      ended({ id: "op_alone-makeArchive", kind: "make_archive", instance_id: "ins_1", key, note: null }),
    ).rejects.toMatchObject({ ...alone, message: expect.stringContaining("The database could not be dumped completely") });
    await expect(ended(buildRestore("op_alone"))).rejects.toMatchObject({
      ...alone,
      message: expect.stringContaining("The backup's database could not be restored"),
    });
    await rests();
  });

  test("a job starts again if Docker stops during the verification of an archive", async () => {
    machine.standIn("curl", '[ -e $NOTES/was ] && exec /usr/bin/curl "$@"; touch $NOTES/was $NOTES/away; exit 7');
    const job: Job = { id: "op_away-verifyArchive", kind: "verify_archive", archive };
    await ssh.run(machine.server, job);
    await until("Docker goes away", () => existsSync(note("away")));
    await rests();
    rmSync(note("away"));
    await ended(job);
    expect(await ssh.run(machine.server, job)).toEqual({ ready: true, result: null });
  });

  /** From the second piece on, the store rejects the URL this many times; there is no pause before the next try. */
  const expire = (times: number, change: string = INVALID): void =>
    machine.standIn(
      "curl",
      `config=$(cat)
       if [[ "$*" == *"-r ${PIECE_BYTES}-"* && $(cat $NOTES/refused | wc -l) -lt ${times} ]]; then
         echo >> $NOTES/refused
         config=\${config//X-Amz-Signature=/${change}}
       fi
       exec /usr/bin/curl "$@" --retry 0 <<<"$config"`,
    );
  const [INVALID, OF_ENDED_SESSION] = ["X-Amz-Signature=0", "X-Amz-Security-Token=ended\\&X-Amz-Signature="];
  const errors = (): number => readFileSync(note("refused"), "utf8").length;

  test.each([
    [1, INVALID],
    [2, OF_ENDED_SESSION],
  ])("a job that reads the archive starts again with a new URL when the URL expires %i times: %s", async (times, change) => {
    writeFileSync(note("refused"), "");
    expire(times, change);
    const job = buildRestore(`op_expired_${times}`);
    await ended(job);
    expect(errors()).toBe(times);
    expect(readFileSync(join(machine.volume, "filestore", `new_op_expired_${times}`, "file"))).toHaveLength(FILE_BYTES);
  });

  test("a job fails with the reason if the storage rejects new URLs too", async () => {
    writeFileSync(note("refused"), "");
    expire(9);
    await expect(ended(buildRestore("op_refused"))).rejects.toMatchObject({
      name: "GiveUp",
      code: "STORAGE_ERROR",
      message: expect.stringContaining("The backup storage rejected the download URL"),
    });
    expect(errors()).toBe(3);
  });
});
