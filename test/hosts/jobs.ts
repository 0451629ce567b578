// A machine with an ERP on it, the jobs that the service runs there, and a store for their archives.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { unzipSync } from "fflate";
import { expect } from "vitest";
import type { JobResult, Job, JobKind, MadeArchive } from "../../shared/hosts/host.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { TryAgain } from "../../shared/platform/task-errors.ts";
import { BUCKET } from "../local/services.ts";
import { ownAws } from "./cloud.ts";
import { startMachine, type TestMachine, until } from "./machine.ts";

const ERP_USER = 101;
const INSTANCE = "ins_1";

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Polls a job until it is ready. A machine that cannot be reached is asked again, as workflows do. */
export async function runToEnd<K extends JobKind>({ server }: TestMachine, job: Job<K>): Promise<JobResult<K>> {
  let result: { of: JobResult<K> } | undefined;
  await until(`${job.id} is ready`, async () => {
    const progress = await ssh.run(server, job).catch((error: unknown) => {
      if (error instanceof TryAgain && error.code === "HOST_UNREACHABLE") return undefined;
      throw error;
    });
    if (progress?.ready) result = { of: progress.result };
    return result !== undefined;
  });
  if (result === undefined) throw new Error(`${job.id} has no result`);
  return result.of;
}

/** Starts a machine that runs jobs for the calling file. */
export async function machineWithJobs() {
  const local = await ownAws();
  const s3 = new S3Client({ ...local.as("operator"), forcePathStyle: true });
  const machine = await startMachine();
  machine.docker(":");
  const folder = join(machine.root, "..", "root-only");
  /** A file of root's, on the machine. */
  const secret = join(folder, "authorized_keys");
  const store = (...path: string[]): string => join(machine.volume, "filestore", ...path);

  let jobs = 0;
  async function run<K extends JobKind>(job: Omit<Job<K>, "id"> & { kind: K }): Promise<JobResult<K>> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job without its ID, and its ID
    const jobWithId = { ...job, id: `op_${(jobs += 1)}-${job.kind}` } as unknown as Job<K>;
    return runToEnd(machine, jobWithId);
  }

  async function backUp(code?: Job<"make_archive">["code"]): Promise<{
    result: MadeArchive;
    bytes: Uint8Array;
    files: Record<string, Uint8Array>;
    archive: StoredArchive;
  }> {
    const key = `accounts/acc_1/backups/bak_${jobs}.zip`;
    const result = await run<"make_archive">({ kind: "make_archive", instance_id: INSTANCE, key, note: null, code });
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
    expect(sha256(bytes)).toBe(result.sha256);
    const { size_bytes } = result;
    return { result, bytes, files: unzipSync(bytes), archive: { key, size_bytes, sha256: result.sha256, erp_version: "19.0" } };
  }
  /** Stores an archive as if the service had made it, unless it is said to be another one. */
  async function stored(bytes: Uint8Array, of: Uint8Array = bytes): Promise<StoredArchive> {
    const key = `accounts/acc_1/backups/crafted-${jobs}.zip`;
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: bytes }));
    return { key, size_bytes: of.length, sha256: sha256(of), erp_version: "19.0" };
  }

  return {
    machine,
    folder,
    secret,
    store,
    run,
    backUp,
    stored,
    /** An ERP with one file, and a file of root's beside it. */
    begin: (): void => {
      rmSync(join(machine.volume, "filestore"), { recursive: true, force: true });
      machine.install(INSTANCE, { present: Buffer.from("present") });
      mkdirSync(folder, { mode: 0o700, recursive: true });
      writeFileSync(secret, "root's own secret", { mode: 0o600 });
    },
    end: (): void => {
      for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name), { recursive: true });
      rmSync(join(machine.root, "instances"), { recursive: true });
    },
    /** Runs a command as the code in the container, which owns what it creates. */
    hostile: (command: string): void => {
      execFileSync("bash", ["-c", command], { cwd: join(machine.volume) });
      execFileSync("chown", ["-hR", String(ERP_USER), machine.volume]);
    },
    verify: (archive: StoredArchive): Promise<null> => run<"verify_archive">({ kind: "verify_archive", archive }),
    restore: (
      archive: StoredArchive,
      parts: { restore_database: boolean; restore_filestore: boolean },
    ): Promise<JobResult<"restore_archive">> =>
      run<"restore_archive">({
        kind: "restore_archive",
        instance_id: INSTANCE,
        restore_id: `op_${jobs}`,
        archive,
        neutralize: false,
        ...parts,
      }),
    /** No file of root's was copied into the volume, overwritten or given to another owner. */
    expectUntouched: (): void => {
      expect(readFileSync(secret, "utf8")).toBe("root's own secret");
      expect(readdirSync(folder)).toEqual(["authorized_keys"]);
      for (const path of [secret, folder]) expect(statSync(path).uid).toBe(0);
      expect(existsSync(join(folder, "..", "ran"))).toBe(false);
    },
  };
}
export type MachineWithJobs = Awaited<ReturnType<typeof machineWithJobs>>;
