// How an archive gets from a machine to the store: a real SSH server, real uploads by presigned URLs, and what can go wrong.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Job, MadeArchive } from "../../shared/hosts/host.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { removeArchive, requireStored, storedObject } from "../../shared/storage/archives.ts";
import { presignedArchive, presignedPart } from "../../shared/storage/presign.ts";
import { heldParts, openUpload } from "../../shared/storage/uploads.ts";
import { BUCKET, type Local } from "../local/services.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, processesWith, signal, startMachine, type TestMachine, until } from "./machine.ts";

describe("a backup over SSH", unless(noMachine), () => {
  let local: Local;
  let s3: S3Client;
  let machine: TestMachine;
  beforeAll(async () => {
    local = await ownAws();
    s3 = new S3Client({ ...local.as("operator"), forcePathStyle: true });
    machine = await startMachine();
    machine.install("ins_1", { file: randomBytes(11 * 1024 * 1024) });
    machine.docker(":");
  });
  afterEach(() => {
    machine.standIn("curl", 'exec /usr/bin/curl "$@"');
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());

  let backups = 0;
  function backup(): Job<"make_archive"> {
    const number = (backups += 1);
    return {
      id: `op_${number}-makeArchive`,
      kind: "make_archive",
      instance_id: "ins_1",
      key: `accounts/acc_1/backups/bak_${number}.zip`,
      note: null,
    };
  }
  const archiveOf = ({ id }: Job): string => join(machine.root, "jobs", id, "archive.zip");
  /** Polls the job until it is ready, or until a condition is true. */
  async function look(job: Job<"make_archive">, isTrue: () => boolean = () => false): Promise<MadeArchive | undefined> {
    let result: MadeArchive | undefined;
    await until(`${job.id} is ready`, async () => {
      const progress = await ssh.run(machine.server, job);
      if (progress.ready) result = progress.result;
      return result !== undefined || isTrue();
    });
    return result;
  }
  /**
   * Undoes the job as the workflow does. The undo's ID doesn't begin with that of the job it ends, which would end the undo, too.
   */
  async function undo(job: Job<"make_archive">): Promise<void> {
    const id = job.id.replace("makeArchive", "forgetArchive-try1");
    const forget: Job = { id, kind: "forget_archive", made_by: job.id, ends: [job.id] };
    await until("it is forgotten", async () => (await ssh.run(machine.server, forget)).ready);
    await removeArchive(job.key);
  }
  async function stored(Key: string): Promise<Buffer> {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }
  const objects = async (Prefix: string): Promise<number> =>
    (await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }))).KeyCount ?? 0;
  const uploads = async (Prefix: string): Promise<number> =>
    (await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix }))).Uploads?.length ?? 0;
  const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  /** Holds the second part until there is a note `go`. */
  const slowAtPartTwo = (): void =>
    machine.standIn(
      "curl",
      `config=$(cat)
       if [[ $config == *partNumber=2* ]]; then touch $NOTES/waits; until [ -e $NOTES/go ]; do sleep 0.05; done; fi
       /usr/bin/curl "$@" <<<"$config"`,
    );
  const waits = (): boolean => existsSync(join(machine.notes, "waits"));
  const go = (): void => writeFileSync(join(machine.notes, "go"), "");

  test("a backup over SSH arrives complete, in parts with signed checksums, and leaves nothing on the machine", async () => {
    const job = backup();
    const result = await look(job);
    const bytes = await stored(job.key);
    expect(result).toEqual({
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      stored_checksum: expect.stringMatching(/=-\d+$/),
      missing_files: 0,
      listed_files: 0,
      skipped_files: 0,
      skipped_paths: [],
    });
    expect(Number(result?.stored_checksum.split("-")[1])).toBeGreaterThan(1);
    // The transaction locks the tables before anything in it takes a snapshot: their list is from before it, and begins it.
    const statements = readFileSync(join(machine.notes, "held"), "utf8");
    expect(statements).toMatch(
      /'begin isolation level repeatable read read only'[^]*lock table only[^]*\n\\gexec\n[^]*pg_export_snapshot/,
    );
    expect(statements).not.toMatch(/^begin/m);
    expect(await uploads(job.key)).toBe(0);
    const forget: Job = { id: `${job.id}-forget`, kind: "forget_archive", made_by: job.id };
    await until("it is forgotten", async () => (await ssh.run(machine.server, forget)).ready);
    expect(existsSync(archiveOf(job))).toBe(false);
    if (result !== undefined) await requireStored(job.key, result);
    expect(await storedObject(`${job.key}-other`)).toBeUndefined();
    vi.stubEnv("BACKUP_BUCKET", "no-such-bucket");
    await expect(storedObject(job.key), "an archive is not lost because its bucket is another").rejects.toThrow(/^STORAGE_ERROR/);
    vi.unstubAllEnvs();
    // Asked again, as by the next step, it is the same archive.
    expect(await ssh.run(machine.server, job)).toEqual({ ready: true, result });
    const downloaded = await fetch(await presignedArchive(job.key, 60));
    expect(sha256(Buffer.from(await downloaded.arrayBuffer()))).toBe(result?.sha256);
  });

  test("the storage rejects a backup that was damaged on the machine, and it is removed without a trace", async () => {
    const job = backup();
    const firstRun = ssh.run(machine.server, job);
    await firstRun;
    slowAtPartTwo();
    await look(job, waits);
    const bytes = readFileSync(archiveOf(job));
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    bytes[6 * 1024 * 1024] = (bytes[6 * 1024 * 1024] ?? 0) ^ 1;
    writeFileSync(archiveOf(job), bytes);
    go();
    await expect(look(job)).rejects.toMatchObject({ name: "GiveUp", code: "STORAGE_ERROR" });
    await undo(job);
    expect([existsSync(archiveOf(job)), await objects(job.key), await uploads(job.key)]).toEqual([false, 0, 0]);
  });

  test("after a crash between two parts, an upload continues with the missing ones", async () => {
    const job = backup();
    slowAtPartTwo();
    await look(job, waits);
    const sent = () =>
      local.aws.calls.list().filter(({ action, resources }) => action === "UploadPart" && resources.join().includes(job.key));
    expect(sent()).toMatchObject([{ status: 200 }]);
    for (const pid of processesWith(`ERP_HOSTING_ROOT=${machine.root}`)) signal(pid, "SIGKILL");
    go();
    const result = await look(job);
    expect(sha256(await stored(job.key))).toBe(result?.sha256);
    expect(sent()).toHaveLength(Number(result?.stored_checksum.split("-")[1]));
  });

  /**
   * Runs `work` as when Lambda's session has ended or its keys are no longer valid: the store rejects URLs that are signed now.
   */
  async function withExpired(name: (typeof EXPIRING)[number], work: () => Promise<void>): Promise<void> {
    const { [name]: good } = process.env;
    process.env[name] = "expired";
    await work().finally(() => {
      if (good === undefined) delete process.env[name];
      else process.env[name] = good;
    });
  }
  const EXPIRING = ["AWS_SESSION_TOKEN", "AWS_SECRET_ACCESS_KEY"] as const;
  /** Makes curl try again without pauses. */
  const hastyCurl = (): void => machine.standIn("curl", 'exec /usr/bin/curl "$@" --retry 0');
  const errors = (): number => local.aws.calls.list().filter(({ status }) => status === 400 || status === 403).length;

  test.each(EXPIRING)("an upload starts again with new URLs when the storage rejects the old ones: %s", async (name) => {
    const job = backup();
    hastyCurl();
    const before = errors();
    await withExpired(name, async () => {
      await until("an address was refused", async () => !(await ssh.run(machine.server, job)).ready && errors() > before);
    });
    const result = await look(job);
    expect(sha256(await stored(job.key))).toBe(result?.sha256);
  });

  test("an upload gives up when the storage rejects new URLs too", async () => {
    const job = backup();
    hastyCurl();
    await withExpired("AWS_SECRET_ACCESS_KEY", () =>
      expect(look(job)).rejects.toMatchObject({ name: "GiveUp", code: "STORAGE_ERROR" }),
    );
  });

  test("a backup continues the upload of a try that died, and of two uploads aborts one", async () => {
    const job = backup();
    for (const _ of [1, 2])
      await s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: job.key, ChecksumAlgorithm: "SHA256" }));
    const result = await look(job);
    expect(sha256(await stored(job.key))).toBe(result?.sha256);
    expect(await uploads(job.key)).toBe(0);
  });

  test("a backup that is undone midway leaves no object, parts, files or processes", async () => {
    const job = backup();
    slowAtPartTwo();
    await look(job, waits);
    expect(await uploads(job.key)).toBe(1);
    await undo(job);
    expect([existsSync(archiveOf(job)), await objects(job.key), await uploads(job.key)]).toEqual([false, 0, 0]);
    await until("no process is left", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
  });

  test("each upload URL accepts one part's bytes only", async () => {
    const key = "accounts/acc_1/backups/bak_address.zip";
    const sum = (text: string): string => createHash("sha256").update(text).digest("base64");
    const upload_id = await openUpload(key);
    const { url } = await presignedPart({ key, upload_id, number: 1, sha256: sum("mine") }, 60);
    const put = async (body: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(url, { method: "PUT", body, headers })).status;
    expect(await put("other", { "x-amz-checksum-sha256": sum("mine") })).toBe(400);
    expect(await put("other", { "x-amz-checksum-sha256": sum("other") })).toBe(403);
    expect(await put("mine", {})).toBe(403);
    expect(await put("mine", { "x-amz-checksum-sha256": sum("mine") })).toBe(200);
    expect(await heldParts(key, upload_id)).toMatchObject([{ number: 1, size: 4, sha256: sum("mine") }]);
    await removeArchive(key);
  });
});
