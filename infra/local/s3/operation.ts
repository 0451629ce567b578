// The operation that a request to the local S3 means, by its method, path and query.
import { AwsFault } from "../errors.ts";
import { decode, type HttpCall } from "../aws/signature.ts";
import type { Header } from "./body.ts";

const OPERATIONS = [
  { name: "ListParts", method: "GET", on: "object", by: "uploadId", permission: "s3:ListMultipartUploadParts" },
  { name: "GetObject", method: "GET", on: "object", by: undefined, permission: "s3:GetObject" },
  { name: "HeadObject", method: "HEAD", on: "object", by: undefined, permission: "s3:GetObject" },
  { name: "UploadPart", method: "PUT", on: "object", by: "uploadId", permission: "s3:PutObject" },
  { name: "PutObject", method: "PUT", on: "object", by: undefined, permission: "s3:PutObject" },
  { name: "CreateMultipartUpload", method: "POST", on: "object", by: "uploads", permission: "s3:PutObject" },
  { name: "CompleteMultipartUpload", method: "POST", on: "object", by: "uploadId", permission: "s3:PutObject" },
  { name: "AbortMultipartUpload", method: "DELETE", on: "object", by: "uploadId", permission: "s3:AbortMultipartUpload" },
  { name: "DeleteObject", method: "DELETE", on: "object", by: undefined, permission: "s3:DeleteObject" },
  { name: "ListMultipartUploads", method: "GET", on: "bucket", by: "uploads", permission: "s3:ListBucketMultipartUploads" },
  { name: "ListObjectsV2", method: "GET", on: "bucket", by: "list-type", permission: "s3:ListBucket" },
  { name: "HeadBucket", method: "HEAD", on: "bucket", by: undefined, permission: "s3:ListBucket" },
] as const;
export type OperationName = (typeof OPERATIONS)[number]["name"];

/** Everything else (ACLs, tags, copies, versions) gets NotImplemented, and is never ignored. */
const KNOWN_QUERY =
  /^(x-amz-.+|x-id|response-.+|uploadId|uploads|partNumber|list-type|prefix|delimiter|max-keys|continuation-token|start-after|max-parts|part-number-marker|max-uploads)$/i;
const UNKNOWN_HEADER =
  /^(x-amz-copy-source.*|x-amz-tagging|x-amz-object-lock-.*|x-amz-website-.*|x-amz-write-offset-bytes|if-(un)?modified-since)$/;

const KEPT_HEADERS = ["content-type", "content-disposition", "content-language", "cache-control", "expires", "content-encoding"];

export interface S3Operation {
  name: OperationName;
  permission: string;
  bucket: string;
  key: string;
  query: URLSearchParams;
  /** A header, or for x-amz-… its value in a presigned URL. */
  header: Header;
  /** What the caller wants stored with the object and returned again: content-type, x-amz-meta-… */
  storedHeaders: Record<string, string>;
}

const isMeant = (operation: (typeof OPERATIONS)[number], { method, query }: HttpCall, on: "bucket" | "object"): boolean =>
  operation.method === method && operation.on === on && (operation.by === undefined || query.has(operation.by));

/** The operation's name alone; "?" if the request means none. */
export function nameOperation(http: HttpCall): string {
  const on = /^\/[^/]+\/./.test(http.path) ? "object" : "bucket";
  return OPERATIONS.find((operation) => isMeant(operation, http, on))?.name ?? "?";
}

export function readOperation(http: HttpCall): S3Operation {
  const { method, path, query, headers } = http;
  const [bucket = "", ...rest] = decode(path.slice(1)).split("/");
  const key = rest.join("/");
  const on = key === "" ? "bucket" : "object";
  const match = OPERATIONS.find((operation) => isMeant(operation, http, on));
  const lowerQuery = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]));
  const unknown = [
    ...[...query.keys()].filter((name) => !KNOWN_QUERY.test(name)),
    ...Object.keys(headers).filter((name) => UNKNOWN_HEADER.test(name)),
  ];
  if (match === undefined || unknown.length > 0)
    throw new AwsFault(
      "NotImplemented",
      `The local S3 does not have ${method} of ${on} with ${unknown.join(", ") || "these parameters"}`,
      501,
    );
  if (Buffer.byteLength(key) > 1024) throw new AwsFault("KeyTooLongError", "Your key is too long");
  const header: Header = (name) => headers[name] ?? (name.startsWith("x-amz-") ? lowerQuery.get(name) : undefined);
  const meta = [...Object.keys(headers), ...lowerQuery.keys()].filter((name) => name.startsWith("x-amz-meta-"));
  const stored = [...KEPT_HEADERS, ...meta]
    .map((name): [string, string] => [name, (header(name) ?? "").replace(/^aws-chunked,?\s*/, "")])
    .filter(([, value]) => value !== "");
  return {
    name: match.name,
    permission: match.permission,
    bucket,
    key,
    query,
    header,
    storedHeaders: Object.fromEntries(stored),
  };
}
