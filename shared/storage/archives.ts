// Backup archives in S3: put, read, compared and removed.
import { createHash } from "node:crypto";
import { GiveUp } from "../platform/task-errors.ts";
import { objectAt, withS3 } from "./client.ts";
import { store } from "./store.ts";
import { abortUploads } from "./uploads.ts";
import { because } from "../domain/reasons.ts";

/** Stores an archive, which the storage rejects if it arrives damaged; returns the storage's checksum. */
export async function putArchive(key: string, bytes: Uint8Array): Promise<string> {
  const checksum = createHash("sha256").update(bytes).digest("base64");
  await withS3((s3, { PutObjectCommand }) =>
    s3.send(new PutObjectCommand({ ...objectAt(key), Body: bytes, ChecksumSHA256: checksum, ContentType: "application/zip" })),
  );
  return checksum;
}

/** Undefined if the store has no such archive. For the sandbox's: a real one is too large for a function. */
export const getArchive = (key: string): Promise<Uint8Array | undefined> =>
  withS3(async (s3, { GetObjectCommand, NoSuchKey }) => {
    try {
      const { Body } = await s3.send(new GetObjectCommand(objectAt(key)));
      return await Body?.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  });

interface CreatedArchive {
  size_bytes: number;
  stored_checksum: string;
}

/** Makes sure that the storage has the archive that was created, before anybody relies on it. */
export async function requireStored(key: string, archive: CreatedArchive): Promise<void> {
  if (!(await isStored(key, archive))) throw new GiveUp("STORAGE_ERROR", because("storage_has_another"));
}

export async function isStored(key: string, { size_bytes, stored_checksum }: CreatedArchive): Promise<boolean> {
  const object = await storedObject(key);
  return object?.size_bytes === size_bytes && object.stored_checksum === stored_checksum;
}

/** What the storage has; undefined if it has no such archive. */
export const storedObject = (key: string): Promise<CreatedArchive | undefined> =>
  withS3(async (s3, { HeadObjectCommand, ListObjectsV2Command, NoSuchKey, NotFound }) => {
    try {
      const { ContentLength, ChecksumSHA256 } = await s3.send(
        new HeadObjectCommand({ ...objectAt(key), ChecksumMode: "ENABLED" }),
      );
      return { size_bytes: ContentLength ?? 0, stored_checksum: ChecksumSHA256 ?? "" };
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof NoSuchKey)) throw error;
      // This fails if the bucket does not exist, so that nobody takes a backup for lost.
      await s3.send(new ListObjectsV2Command({ Bucket: store().bucket, Prefix: key, MaxKeys: 1 }));
      return undefined;
    }
  });

/** Succeeds if the archive does not exist, or if only parts of it were uploaded. */
export async function removeArchive(key: string): Promise<void> {
  await abortUploads(key);
  await withS3((s3, { DeleteObjectCommand }) => s3.send(new DeleteObjectCommand(objectAt(key))));
}
