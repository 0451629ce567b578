// Moves a backup from a machine to the storage: packs it there, uploads it in parts, and completes it.
//
// Each poll determines everything from the machine's jobs and the storage, so whatever was interrupted continues.
import { createHash } from "node:crypto";
import * as z from "zod";
import { GiveUp } from "../platform/task-errors.ts";
import { isStored, requireStored } from "../storage/archives.ts";
import { presignedPart } from "../storage/presign.ts";
import { store } from "../storage/store.ts";
import { checksumOfParts, completeUpload, type HeldPart, heldParts, openUpload } from "../storage/uploads.ts";
import type { HostedServer, Job, JobProgress } from "./host.ts";
import { advance, type Advanced } from "./ssh-job.ts";
import { limitMinutes, statusParameters } from "./ssh-parameters.ts";
import type { Machine } from "./ssh-script.ts";
import { because } from "../domain/reasons.ts";
import { HOUR_SECONDS } from "../domain/durations.ts";

const SHA256_BYTES = 32;
/** S3's own limit. */
const PARTS_MAX = 10_000;

const PATHS_MAX = 20;
const PATH_CHARACTERS_MAX = 200;

/** The archive that was packed on the machine. */
const Packed = z.object({
  size_bytes: z.number().int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  part_bytes: z.number().int().positive(),
  /** The SHA-256 of each part, in base64. */
  parts: z
    .array(z.string().refine((text) => Buffer.from(text, "base64").length === SHA256_BYTES))
    .min(1)
    .max(PARTS_MAX),
  missing_files: z.number().int().min(0).default(0),
  listed_files: z.number().int().min(0).nullable().default(null),
  skipped_files: z.number().int().min(0).default(0),
  /** Chosen by anyone who can write to the file tree, so cut to a readable length. */
  skipped_paths: z
    .array(z.string().transform((path) => path.slice(0, PATH_CHARACTERS_MAX)))
    .transform((paths) => paths.slice(0, PATHS_MAX))
    .default([]),
});
type Packed = z.infer<typeof Packed>;

interface Part {
  number: number;
  size: number;
  sha256: string;
}

/**
 * Addresses are made when they are needed, for as many parts as the fastest machine sends within the time that they are good for:
 * 64 GB at once. A slower machine stops when they expire, and continues with new ones.
 */
const PARTS_AT_ONCE = 1000;
const ADDRESS_SECONDS = HOUR_SECONDS;
const SENDING_SECONDS = 50 * 60;
const UPLOAD_MINUTES = 59;

export async function makeArchive(
  machine: Machine,
  server: HostedServer,
  job: Job<"make_archive">,
): Promise<JobProgress<"make_archive">> {
  const packed = await advance(machine, {
    id: job.id,
    kind: job.kind,
    minutes: limitMinutes("make_archive"),
    parameters: async () => ({
      INSTANCE_ID: job.instance_id,
      RESTORE_ID: job.restore_id ?? "",
      CODE: JSON.stringify(job.code ?? null),
      ...(await statusParameters(server)),
    }),
    secrets: [],
  });
  if (!packed.ready) return { ready: false };
  const archive = Packed.parse(packed.result);
  const { size_bytes, sha256, parts, missing_files, listed_files, skipped_files, skipped_paths } = archive;
  const stored_checksum = checksumOfParts(parts);
  const result = { size_bytes, sha256, stored_checksum, missing_files, listed_files, skipped_files, skipped_paths };
  if (!(await isStored(job.key, result))) {
    if (!(await upload(machine, job, archive))) return { ready: false };
    await requireStored(job.key, result);
  }
  return { ready: true, result };
}

/** Removes from the machine what the job that created an archive left there. */
export const forgetArchive = (machine: Machine, { id, made_by }: { id: string; made_by: string }): Promise<Advanced> =>
  advance(machine, {
    id,
    kind: "forget",
    minutes: limitMinutes("forget_archive"),
    parameters: () => Promise.resolve({ JOB: made_by }),
    secrets: [],
  });

/** The number of the last part that a job sent; it sends them in their order. */
const Sent = z.object({ through: z.number().int() });

async function upload(machine: Machine, job: Job<"make_archive">, archive: Packed, round = 1): Promise<boolean> {
  const uploadId = await openUpload(job.key);
  const parts = splitIntoParts(archive);
  const storedParts = await heldParts(job.key, uploadId);
  const missing = findMissing(parts, storedParts);
  if (missing.length === 0) {
    await completeUpload(job.key, uploadId, storedParts.slice(0, parts.length));
    return true;
  }
  const sent = await send(machine, job, { uploadId, round, missing, part_bytes: archive.part_bytes });
  if (!sent.ready) return false;
  const { through } = Sent.parse(sent.result);
  if (findMissing(parts, await heldParts(job.key, uploadId)).some(({ number }) => number <= through))
    throw new GiveUp("STORAGE_ERROR", because("storage_lacks_parts"));
  return upload(machine, job, archive, round + 1);
}

const splitIntoParts = ({ parts, size_bytes, part_bytes }: Packed): Part[] =>
  parts.map((sha256, index) => ({
    number: index + 1,
    size: Math.min(part_bytes, size_bytes - index * part_bytes),
    sha256,
  }));

const findMissing = (parts: readonly Part[], storedParts: readonly HeldPart[]): Part[] => {
  const byNumber = new Map(storedParts.map((part) => [part.number, part]));
  return parts.filter(
    ({ number, size, sha256 }) => byNumber.get(number)?.size !== size || byNumber.get(number)?.sha256 !== sha256,
  );
};

interface Batch {
  uploadId: string;
  round: number;
  missing: readonly Part[];
  part_bytes: number;
}

async function send(
  machine: Machine,
  job: Job<"make_archive">,
  { uploadId, round, missing, part_bytes }: Batch,
): Promise<Advanced> {
  // For another upload it is another job, not the one that failed with an upload that is gone.
  const upload = createHash("sha256").update(uploadId).digest("hex").slice(0, 8);
  try {
    return await advance(machine, {
      id: `${job.id}-parts-${round}-${upload}`,
      kind: "upload_parts",
      minutes: UPLOAD_MINUTES,
      parameters: async () => ({
        ARCHIVE_JOB: job.id,
        PART_BYTES: String(part_bytes),
        SECONDS: String(SENDING_SECONDS),
        PARTS: (await Promise.all(missing.slice(0, PARTS_AT_ONCE).map((part) => formatLine(part, job.key, uploadId)))).join("\n"),
      }),
      secrets: [],
    });
  } catch (error) {
    if (!(error instanceof GiveUp) || error.code !== "STORAGE_ERROR" || !isLoopback(store().endpoint)) throw error;
    throw new GiveUp("STORAGE_ERROR", because("storage_not_reached", { why: error.reason }), { cause: error });
  }
}

/** The address and what must be sent with it. */
async function formatLine({ number, sha256 }: Part, key: string, upload_id: string): Promise<string> {
  const { url } = await presignedPart({ key, upload_id, number, sha256 }, ADDRESS_SECONDS);
  return `${number} ${url} ${sha256}`;
}

const isLoopback = ({ hostname }: URL): boolean => /^(127\.|localhost$|\[::1\]$)/.test(hostname);
