// Shared by the handlers of objects and uploads: their responses, and what both check.
import type { Readable } from "node:stream";
import { AwsFault } from "../errors.ts";
import type { Bucket, StoredObject } from "./bucket.ts";
import type { S3Operation } from "./operation.ts";
import { toS3Xml, type Tags } from "./xml.ts";

const PAGE = 1000; // S3's own

export interface S3Response {
  status: number;
  headers?: Record<string, string>;
  body?: string | Readable;
}

export type Handler = (
  bucket: Bucket,
  operation: S3Operation,
  body: AsyncIterable<Buffer>,
  payloadHash: string,
) => Promise<S3Response> | S3Response;

export const isTaken = (bucket: Bucket, { key, header }: S3Operation): boolean =>
  header("if-none-match") !== undefined && bucket.objects.has(key);

export function requireAbsent(bucket: Bucket, operation: S3Operation): void {
  if (operation.header("if-match") !== undefined)
    throw new AwsFault("NotImplemented", "The local S3 has no If-Match on writes", 501);
  if (isTaken(bucket, operation))
    throw new AwsFault("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412);
}

export const checksumHeaders = (sum: StoredObject["checksum"]): Record<string, string> =>
  sum === undefined ? {} : { [`x-amz-checksum-${sum.algorithm}`]: sum.value, "x-amz-checksum-type": sum.type };

export const quote = (etag: string): string => `"${etag}"`;
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function pageSize(query: URLSearchParams, name: string): number {
  const requested = Number(query.get(name) ?? PAGE);
  if (!Number.isInteger(requested) || requested < 0)
    throw new AwsFault("InvalidArgument", `Provided ${name} not an integer or within integer range`);
  return Math.min(requested, PAGE);
}

export const xml = (root: string, content: Tags, headers: Record<string, string> = {}): S3Response => ({
  status: 200,
  headers: { "content-type": "application/xml", ...headers },
  body: toS3Xml(root, content),
});
