// Backup archives in the bucket.
import { createHash } from "node:crypto";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { variable } from "../runtime/env.ts";

let client: S3Client | undefined;
const s3 = (): S3Client => (client ??= new S3Client({ forcePathStyle: true, maxAttempts: 3 }));

const place = (key: string) => ({ Bucket: variable("BACKUP_BUCKET"), Key: key });

export interface StoredArchive {
  size_bytes: number;
  /** S3's own SHA-256 of what it has, in base64; undefined for an archive that arrived in parts. */
  checksum: string | undefined;
}

/** Stores an archive whole; S3 refuses it if it arrives damaged. */
export async function putArchive(key: string, bytes: Uint8Array): Promise<StoredArchive> {
  const checksum = createHash("sha256").update(bytes).digest("base64");
  await s3().send(new PutObjectCommand({ ...place(key), Body: bytes, ContentType: "application/zip", ChecksumSHA256: checksum }));
  return { size_bytes: bytes.length, checksum };
}

/** Undefined if there is none. */
export async function findArchive(key: string): Promise<StoredArchive | undefined> {
  try {
    const { ContentLength = 0, ChecksumSHA256 } = await s3().send(
      new HeadObjectCommand({ ...place(key), ChecksumMode: "ENABLED" }),
    );
    return { size_bytes: ContentLength, checksum: ChecksumSHA256 };
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** Undefined if there is none. For the sandbox's small archives only: a real one never passes through a function. */
export async function readArchive(key: string): Promise<Uint8Array | undefined> {
  try {
    const { Body } = await s3().send(new GetObjectCommand(place(key)));
    return await Body?.transformToByteArray();
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** Removing what is not there is fine. */
export async function removeArchive(key: string): Promise<void> {
  await s3().send(new DeleteObjectCommand(place(key)));
}
