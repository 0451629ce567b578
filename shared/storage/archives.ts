// Backup archives in S3: put, read, compared and removed.
import { createHash } from "node:crypto";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { variable } from "../runtime/env.ts";
import { GiveUp, isPassing, TryAgain } from "../runtime/task-errors.ts";

let client: S3Client | undefined;

/** The tasks that wait for it may take minutes. Path style, so that a store on this machine needs no names of its own. */
const s3 = (): S3Client =>
  (client ??= new S3Client({
    forcePathStyle: true,
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 60_000 },
  }));

const at = (key: string) => ({ Bucket: variable("BACKUP_BUCKET"), Key: key });

/** Stores an archive, which the store refuses if it arrives damaged; returns the checksum that the store then shows. */
export async function putArchive(key: string, bytes: Uint8Array): Promise<string> {
  const checksum = createHash("sha256").update(bytes).digest("base64");
  await told(() =>
    s3().send(new PutObjectCommand({ ...at(key), Body: bytes, ChecksumSHA256: checksum, ContentType: "application/zip" })),
  );
  return checksum;
}

/** Undefined if the store has no such archive. For the sandbox's: a real one is too large for a function. */
export const getArchive = (key: string): Promise<Uint8Array | undefined> =>
  told(async () => {
    try {
      const { Body } = await s3().send(new GetObjectCommand(at(key)));
      return await Body?.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  });

/** Makes sure that the store has what was made, before anybody relies on it. */
export async function requireStored(key: string, made: { size_bytes: number; stored_checksum: string }): Promise<void> {
  const held = await told(async () => {
    try {
      return await s3().send(new HeadObjectCommand({ ...at(key), ChecksumMode: "ENABLED" }));
    } catch (error) {
      if (error instanceof NotFound || error instanceof NoSuchKey) return undefined;
      throw error;
    }
  });
  if (held?.ContentLength !== made.size_bytes || held.ChecksumSHA256 !== made.stored_checksum)
    throw new GiveUp("STORAGE_ERROR", "The stored archive is not the one that was made");
}

/** Removing what is not there is fine. */
export async function removeArchive(key: string): Promise<void> {
  await told(() => s3().send(new DeleteObjectCommand(at(key))));
}

async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw isPassing(cause)
      ? new TryAgain("STORAGE_ERROR", "The store of backups was not available for too long", { cause })
      : new GiveUp("STORAGE_ERROR", "The store of backups refused the archive", { cause });
  }
}
