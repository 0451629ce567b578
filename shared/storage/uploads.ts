// A multipart upload of an archive: the machine uploads the parts, and the object exists once all of them have arrived.
import { createHash } from "node:crypto";
import type { MultipartUpload } from "@aws-sdk/client-s3";
import { objectAt, withS3 } from "./client.ts";

export interface HeldPart {
  number: number;
  size: number;
  etag: string;
  /** The checksum in base64. */
  sha256: string;
}

/** The key's upload: the one that an earlier try started, or a new one. */
export async function openUpload(key: string): Promise<string> {
  const [first, ...others] = await listUploads(key);
  for (const each of others) await abort(key, each); // two concurrent tries started one each
  if (first !== undefined) return first;
  const { UploadId } = await withS3((s3, { CreateMultipartUploadCommand }) =>
    s3.send(
      new CreateMultipartUploadCommand({
        ...objectAt(key),
        ChecksumAlgorithm: "SHA256",
        ChecksumType: "COMPOSITE",
        ContentType: "application/zip",
      }),
    ),
  );
  if (UploadId === undefined) throw new Error("The storage started an upload without an ID");
  return UploadId;
}

/** The parts received. */
export const heldParts = (key: string, uploadId: string): Promise<HeldPart[]> =>
  withS3(async (s3, { paginateListParts }) => {
    const parts: HeldPart[] = [];
    for await (const { Parts = [] } of paginateListParts({ client: s3 }, { ...objectAt(key), UploadId: uploadId }))
      for (const { PartNumber = 0, Size = 0, ETag = "", ChecksumSHA256 = "" } of Parts)
        parts.push({ number: PartNumber, size: Size, etag: ETag, sha256: ChecksumSHA256 });
    return parts;
  });

/** Completes the object from its parts. A completed one is fine: the object shows whether it is the right one. */
export const completeUpload = (key: string, uploadId: string, parts: readonly HeldPart[]): Promise<void> =>
  withS3(async (s3, { CompleteMultipartUploadCommand, NoSuchUpload }) => {
    const Parts = parts.map(({ number, etag, sha256 }) => ({ PartNumber: number, ETag: etag, ChecksumSHA256: sha256 }));
    try {
      await s3.send(
        new CompleteMultipartUploadCommand({
          ...objectAt(key),
          UploadId: uploadId,
          ChecksumType: "COMPOSITE",
          MultipartUpload: { Parts },
        }),
      );
    } catch (error) {
      if (!(error instanceof NoSuchUpload)) throw error;
    }
  });

/** The same with all parts that have arrived, for an upload whose sender decides what they are. */
export const joinParts = async (key: string, uploadId: string): Promise<void> =>
  completeUpload(key, uploadId, await heldParts(key, uploadId));

/** Removes uploads that were never completed. */
export async function abortUploads(key: string): Promise<void> {
  for (const each of await listUploads(key)) await abort(key, each);
}

/** S3's checksum of an object that was assembled from parts with these checksums. */
export function checksumOfParts(sha256s: readonly string[]): string {
  const hash = createHash("sha256");
  for (const each of sha256s) hash.update(each, "base64");
  return `${hash.digest("base64")}-${sha256s.length}`;
}

/** The oldest first, so that all concurrent tries agree. There are only a few per key, which is one page. */
async function listUploads(key: string): Promise<string[]> {
  const { Bucket, Key } = objectAt(key);
  const { Uploads = [] } = await withS3((s3, { ListMultipartUploadsCommand }) =>
    s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key })),
  );
  return Uploads.filter((each) => each.Key === key)
    .toSorted((one, other) => order(one).localeCompare(order(other)))
    .flatMap(({ UploadId }) => UploadId ?? []);
}

const order = ({ Initiated, UploadId = "" }: MultipartUpload): string => `${Initiated?.toISOString() ?? ""} ${UploadId}`;

const abort = (key: string, UploadId: string): Promise<void> =>
  withS3(async (s3, { AbortMultipartUploadCommand, NoSuchUpload }) => {
    try {
      await s3.send(new AbortMultipartUploadCommand({ ...objectAt(key), UploadId }));
    } catch (error) {
      if (!(error instanceof NoSuchUpload)) throw error;
    }
  });
