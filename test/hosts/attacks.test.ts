// The code in an ERP's container is hostile: whatever it puts into its files, its database or an archive must not reach the machine.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { strToU8, unzipSync, zipSync } from "fflate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JobResult, Job, JobKind, MadeArchive } from "../../shared/hosts/host.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { BUCKET } from "../local/services.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, startMachine, type TestMachine, until } from "./machine.ts";

const ERP_USER = 101;

describe("a hostile ERP", unless(noMachine), () => {
  let s3: S3Client;
  let machine: TestMachine;
  /** A file of root's, on the machine. */
  let secret: string;
  let folder: string;
  beforeAll(async () => {
    const local = await ownAws();
    s3 = new S3Client({ ...local.as("operator"), forcePathStyle: true });
    machine = await startMachine();
    machine.docker(":");
  });
  beforeEach(() => {
    rmSync(join(machine.volume, "filestore"), { recursive: true, force: true });
    machine.install("ins_1", { present: Buffer.from("present") });
    folder = join(machine.root, "..", "root-only");
    mkdirSync(folder, { mode: 0o700, recursive: true });
    secret = join(folder, "authorized_keys");
    writeFileSync(secret, "root's own secret", { mode: 0o600 });
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
    rmSync(join(machine.root, "instances"), { recursive: true });
  });
  afterAll(() => machine.stop());

  const store = (...path: string[]): string => join(machine.volume, "filestore", ...path);
  const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  /** As the code in the container: it owns what it creates. */
  const hostile = (command: string): void => {
    execFileSync("bash", ["-c", command], { cwd: join(machine.volume) });
    execFileSync("chown", ["-hR", String(ERP_USER), machine.volume]);
  };

  let jobs = 0;
  async function run<K extends JobKind>(job: Omit<Job<K>, "id"> & { kind: K }): Promise<JobResult<K>> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job without its ID, and its ID
    const whole = { ...job, id: `op_${(jobs += 1)}-${job.kind}` } as unknown as Job<K>;
    let result: { of: JobResult<K> } | undefined;
    await until(
      `${job.kind} is ready`,
      async () => {
        const progress = await ssh.run(machine.server, whole);
        if (progress.ready) result = { of: progress.result };
        return progress.ready;
      },
      60,
    );
    if (result === undefined) throw new Error("There is no result");
    return result.of;
  }
  async function backUp(): Promise<{ made: MadeArchive; files: Record<string, Uint8Array>; archive: StoredArchive }> {
    const key = `accounts/acc_1/backups/bak_${jobs}.zip`;
    const made = await run<"make_archive">({ kind: "make_archive", instance_id: "ins_1", key, note: null });
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
    expect(sha256(bytes)).toBe(made.sha256);
    const { size_bytes } = made;
    return { made, files: unzipSync(bytes), archive: { key, size_bytes, sha256: made.sha256, erp_version: "19.0" } };
  }
  async function stored(bytes: Uint8Array): Promise<StoredArchive> {
    const key = `accounts/acc_1/backups/crafted-${jobs}.zip`;
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: bytes }));
    return { key, size_bytes: bytes.length, sha256: sha256(bytes), erp_version: "19.0" };
  }
  const verify = async (bytes: Uint8Array): Promise<null> =>
    run<"verify_archive">({ kind: "verify_archive", archive: await stored(bytes) });
  const restore = (archive: StoredArchive, what: { restore_database: boolean; restore_filestore: boolean }): Promise<null> =>
    run<"restore_archive">({
      kind: "restore_archive",
      instance_id: "ins_1",
      restore_id: `op_${jobs}`,
      archive,
      neutralize: false,
      ...what,
    });
  /** No file of root's was copied into the volume, overwritten or given to another owner. */
  const expectUntouched = (): void => {
    expect(readFileSync(secret, "utf8")).toBe("root's own secret");
    expect(readdirSync(folder)).toEqual(["authorized_keys"]);
    for (const path of [secret, folder]) expect(statSync(path).uid).toBe(0);
    expect(existsSync(join(folder, "..", "ran"))).toBe(false);
  };

  test("a hostile ERP cannot get the machine's files into its backup by links, which are counted and named", async () => {
    hostile(`cd filestore/shop && ln -s ${secret} link && ln -s ${folder} folder && mkdir deep && ln -s ${secret} deep/link`);
    const { made, files } = await backUp();
    expect(Object.keys(files).toSorted()).toEqual(["dump.sql", "filestore/present", "manifest.json"]);
    expect(made).toMatchObject({ skipped_files: 3, missing_files: 0 });
    expect(made.skipped_paths.toSorted()).toEqual(["deep/link", "folder", "link"]);
    expectUntouched();
  });

  test("a backup keeps every file whose name is text, and skips other names and special files", async () => {
    hostile(`cd filestore/shop && mkdir lost+found && echo a > 'lost+found/a b.txt' && echo u > ünï.txt && : > $'new\\nline' &&
      : > empty && : > $'\\xff' && mkfifo pipe && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'`);
    const { made, files } = await backUp();
    expect(Object.keys(files).toSorted()).toEqual(
      [
        "dump.sql",
        "manifest.json",
        ...["empty", "lost+found/a b.txt", "new\nline", "present", "ünï.txt"].map((name) => `filestore/${name}`),
      ].toSorted(),
    );
    expect(made).toMatchObject({ skipped_files: 3, missing_files: 0 });
    expect(made.skipped_paths.toSorted()).toEqual(["\\xff", "pipe", "socket"]);
  });

  test.each(["filestore", "filestore/shop"])("a job fails and names the folder if %s is a link", async (name) => {
    hostile(`rm -rf ${name} && ln -s ${folder} ${name}`);
    await expect(backUp()).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
      message: expect.stringContaining(`folder ${name} is a link`),
    });
    expectUntouched();
  });

  test("a hostile ERP cannot make a restore overwrite the machine's files or change their owner", async () => {
    hostile("mkdir -p filestore/shop/ab && echo archived > filestore/shop/ab/keys");
    const { archive } = await backUp();
    hostile(
      `cd filestore && rm -rf shop/ab && ln -s ${folder} shop/ab && ln -s ${folder} .snapshot && ln -s ${secret} shop/keys`,
    );
    for (const restore_database of [false, true]) {
      await restore(archive, { restore_database, restore_filestore: true });
      expect(readFileSync(store("shop/ab/keys"), "utf8")).toBe("archived\n");
      expectUntouched();
    }
    expect(readdirSync(store()).toSorted()).toEqual([".snapshot", "shop"]);
    await backUp();
    expectUntouched();
    expect(lstatSync(store("shop")).uid).toBe(ERP_USER);
  });

  test("nothing in a hostile database is executed", async () => {
    writeFileSync(join(machine.notes, "database-says"), `a[$(touch ${join(folder, "..", "ran")})]`);
    await expect(backUp()).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    await expect(run<"verify_clone">({ kind: "verify_clone", instance_id: "ins_1" })).rejects.toMatchObject({
      code: "HOST_JOB_FAILED",
    });
    expectUntouched();
  });

  test("a dump omits only the lines that database clients added", async () => {
    const body =
      "\ncreate table t ();\n\\restrict kept\nCOPY public.t (a) FROM stdin;\n\\restrict row\n\\.\n\n-- PostgreSQL database dump complete\n--\n";
    writeFileSync(
      join(machine.notes, "dump.sql"),
      `--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n${body}\n\\unrestrict abc\n\n`,
    );
    const { archive, files } = await backUp();
    expect(Buffer.from(files["dump.sql"] ?? []).toString()).toContain("\\restrict abc");
    await restore(archive, { restore_database: true, restore_filestore: true });
    expect(readFileSync(join(machine.notes, "restored.sql"), "utf8")).toBe(`--\n-- PostgreSQL database dump\n--\n\n${body}\n`);
  });

  const OWN = { "dump.sql": strToU8("select 1;"), "manifest.json": strToU8('{"major_version":"19.0"}') };

  test.each(["../x", "/etc/x", "filestore/../../x", "filestore//x", "other", "filestore/a/./b"])(
    "an archive with a file %s is rejected",
    async (name) => {
      await expect(verify(zipSync({ ...OWN, [name]: randomBytes(10) }))).rejects.toMatchObject({ code: "BACKUP_CORRUPT" });
      expectUntouched();
    },
  );

  test("an archive with links, with two listings or with damage is rejected", async () => {
    const link = zipSync({ ...OWN, "filestore/link": [strToU8(secret), { os: 3, attrs: 0o120777 * 65536 }] });
    const whole = zipSync({ ...OWN, "filestore/file": randomBytes(1000) }, { level: 0 });
    const other = Buffer.from(whole);
    other.write("filestore/fil2", other.lastIndexOf("filestore/file"));
    const damaged = Buffer.from(whole).fill(0, 200, 210);
    for (const bytes of [link, whole.subarray(0, 900)])
      await expect(verify(bytes)).rejects.toMatchObject({ code: "BACKUP_CORRUPT" });
    await verify(whole);
    // What only the contents show is found during the restore, beside the present data.
    for (const bytes of [link, other, damaged])
      await expect(restore(await stored(bytes), { restore_database: true, restore_filestore: true })).rejects.toMatchObject({
        code: "BACKUP_CORRUPT",
      });
    expect(readdirSync(store("shop"))).toEqual(["present"]);
    expectUntouched();
  });
});
