// The local S3: the verbs that the service uses, on files; in-process, because what the registries offer stores damaged objects.
// aws.ts has checked who calls and what they may before anything here runs.
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import * as z from "zod";
import { ALGORITHMS, hasher, type Algorithm } from "./checksums.ts";
import { AwsFault, LocalError } from "../errors.ts";
import { decode, type HttpCall } from "../aws/signature.ts";
import { badDigest, readAlgorithm, readText, receive, type Header } from "./body.ts";
import * as disk from "./bucket.ts";
import type { Bucket, Part, StoredObject, Upload } from "./bucket.ts";
import { readParts, s3XmlOf, type Tags } from "./xml.ts";

const SMALLEST_PART = 5 * 1024 * 1024; // S3's own limit, for all parts but the last
const PAGE = 1000; // S3's own

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
type OperationName = (typeof OPERATIONS)[number]["name"];

/** Whatever else a request asks for (ACLs, tags, copies, versions) gets NotImplemented, and is never ignored. */
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
  /** A header, or for x-amz-… the same signed into a presigned address. */
  header: Header;
  /** What the caller wants kept with the object and said again: content-type, x-amz-meta-… */
  kept: Record<string, string>;
}

export interface S3Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Readable;
}

export interface Storage {
  createBucket(name: string): Promise<void>;
  /** `payloadHash` is what the caller signed: a hex SHA-256, UNSIGNED-PAYLOAD or STREAMING-… */
  handle(operation: S3Operation, body: AsyncIterable<Buffer>, payloadHash: string): Promise<S3Answer>;
  stop(): Promise<void>;
}

export function readOperation({ method, path, query, headers }: HttpCall): S3Operation {
  const [bucket = "", ...rest] = decode(path.slice(1)).split("/");
  const key = rest.join("/");
  const on = key === "" ? "bucket" : "object";
  const found = OPERATIONS.find(
    (operation) => operation.method === method && operation.on === on && (operation.by === undefined || query.has(operation.by)),
  );
  const lowerQuery = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]));
  const unknown = [
    ...[...query.keys()].filter((name) => !KNOWN_QUERY.test(name)),
    ...Object.keys(headers).filter((name) => UNKNOWN_HEADER.test(name)),
  ];
  if (found === undefined || unknown.length > 0)
    throw new AwsFault(
      "NotImplemented",
      `The local S3 does not have ${method} of ${on} with ${unknown.join(", ") || "these parameters"}`,
      501,
    );
  if (Buffer.byteLength(key) > 1024) throw new AwsFault("KeyTooLongError", "Your key is too long");
  const header: Header = (name) => headers[name] ?? (name.startsWith("x-amz-") ? lowerQuery.get(name) : undefined);
  const meta = [...Object.keys(headers), ...lowerQuery.keys()].filter((name) => name.startsWith("x-amz-meta-"));
  const kept = [...KEPT_HEADERS, ...meta]
    .map((name): [string, string] => [name, (header(name) ?? "").replace(/^aws-chunked,?\s*/, "")])
    .filter(([, value]) => value !== "");
  return { name: found.name, permission: found.permission, bucket, key, query, header, kept: Object.fromEntries(kept) };
}

/** Without `dir` the objects are in a temporary folder, removed by `stop`. */
export async function openStorage({ dir }: { dir?: string | undefined }): Promise<Storage> {
  const root = dir ?? (await mkdtemp(join(tmpdir(), "local-s3-")));
  const buckets = new Map<string, Bucket>();
  return {
    async createBucket(name) {
      if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name))
        throw new AwsFault("InvalidBucketName", `${name} cannot be a bucket's name`);
      if (!buckets.has(name)) buckets.set(name, await disk.openBucket(join(root, name), dir !== undefined));
    },
    async handle(operation, body, payloadHash) {
      const bucket = buckets.get(operation.bucket);
      if (bucket === undefined) throw new AwsFault("NoSuchBucket", "The specified bucket does not exist", 404);
      return handlers[operation.name](bucket, operation, body, payloadHash);
    },
    async stop() {
      if (dir === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}

const isTaken = (bucket: Bucket, { key, header }: S3Operation): boolean =>
  header("if-none-match") !== undefined && bucket.objects.has(key);

function requireAbsent(bucket: Bucket, operation: S3Operation): void {
  if (operation.header("if-match") !== undefined)
    throw new AwsFault("NotImplemented", "The local S3 has no If-Match on writes", 501);
  if (isTaken(bucket, operation))
    throw new AwsFault("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412);
}

type Handler = (
  bucket: Bucket,
  operation: S3Operation,
  body: AsyncIterable<Buffer>,
  payloadHash: string,
) => Promise<S3Answer> | S3Answer;

const handlers: Record<OperationName, Handler> = {
  async PutObject(bucket, operation, body, payloadHash) {
    requireAbsent(bucket, operation); // before 5 GB are sent, and again after
    const { checksums, ...received } = await receive(bucket, operation.header, body, payloadHash);
    const [algorithm] = ALGORITHMS.filter((name) => checksums[name] !== undefined);
    const value = algorithm && checksums[algorithm];
    const whole = algorithm && value ? { checksum: { algorithm, type: "FULL_OBJECT" as const, value } } : {};
    const { file, size, etag, modified } = received;
    const stored = {
      key: operation.key,
      size,
      etag,
      modified,
      headers: operation.kept,
      ...whole,
      files: [{ file, size }],
    };
    // Nothing is awaited from here to the write, so that of two at once one wins.
    if (isTaken(bucket, operation)) disk.removeData(bucket, stored.files);
    requireAbsent(bucket, operation);
    disk.keepObject(bucket, stored);
    return { status: 200, headers: { etag: quote(etag), ...checksumHeaders(stored.checksum) } };
  },

  GetObject: (bucket, operation) => {
    const stored = getObject(bucket, operation);
    const notModified = conditions(operation, stored);
    if (notModified) return { status: 304, headers: { etag: quote(stored.etag) } };
    const range = requestedRange(operation.header("range"), stored.size);
    const headers = objectHeaders(operation, stored);
    if (range === undefined) return { status: 200, headers, body: readBytes(bucket, stored, 0, stored.size) };
    const { start, end } = range;
    for (const name of Object.keys(checksumHeaders(stored.checksum))) delete headers[name]; // they are the whole object's
    Object.assign(headers, {
      "content-length": String(end - start),
      "content-range": `bytes ${start}-${end - 1}/${stored.size}`,
    });
    return { status: 206, headers, body: readBytes(bucket, stored, start, end) };
  },

  HeadObject: (bucket, operation) => {
    const stored = getObject(bucket, operation);
    return { status: conditions(operation, stored) ? 304 : 200, headers: objectHeaders(operation, stored) };
  },

  DeleteObject: (bucket, { key }) => {
    disk.dropObject(bucket, key);
    return { status: 204 };
  },

  ListObjectsV2(bucket, { bucket: name, query }) {
    const prefix = query.get("prefix") ?? "";
    const delimiter = query.get("delimiter") ?? "";
    const limit = pageSize(query, "max-keys");
    const token = query.get("continuation-token");
    const after = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
    const entries = new Map<string, StoredObject | undefined>(); // undefined: a common prefix
    for (const key of [...bucket.objects.keys()].filter((known) => known.startsWith(prefix)).toSorted(byBytes)) {
      const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      if (cut === -1) entries.set(key, bucket.objects.get(key));
      else entries.set(key.slice(0, cut + delimiter.length), undefined);
    }
    const rest = [...entries].filter(([key]) => byBytes(key, after) > 0);
    const page = rest.slice(0, limit);
    const next = rest.length > page.length ? page.at(-1)?.[0] : undefined;
    return xml("ListBucketResult", {
      Name: name,
      Prefix: prefix,
      Delimiter: delimiter,
      MaxKeys: limit,
      KeyCount: page.length,
      IsTruncated: next !== undefined,
      ContinuationToken: token,
      NextContinuationToken: next && Buffer.from(next).toString("base64url"),
      Contents: page.flatMap(([, stored]) => (stored ? [contents(stored)] : [])),
      CommonPrefixes: page.flatMap(([key, stored]) => (stored ? [] : [{ Prefix: key }])),
    });
  },

  HeadBucket: () => ({ status: 200 }),

  CreateMultipartUpload(bucket, operation) {
    const { key, bucket: name, header } = operation;
    const algorithm = readAlgorithm(header("x-amz-checksum-algorithm"));
    const usual = algorithm === "crc64nvme" ? "FULL_OBJECT" : "COMPOSITE";
    const type = disk.Checksum.shape.type.safeParse(header("x-amz-checksum-type") ?? usual).data;
    if (
      type === undefined ||
      (algorithm?.startsWith("sha") && type === "FULL_OBJECT") ||
      (algorithm === "crc64nvme" && type === "COMPOSITE")
    )
      throw new AwsFault("InvalidRequest", `The ${type} checksum type cannot be used with the ${algorithm} checksum algorithm.`);
    const id = randomUUID();
    const checked = algorithm === undefined ? {} : { checksum: { algorithm, type } };
    disk.keepUpload(bucket, { id, key, initiated: new Date().toISOString(), headers: operation.kept, ...checked, parts: {} });
    const said = algorithm && { "x-amz-checksum-algorithm": algorithm.toUpperCase(), "x-amz-checksum-type": type };
    return xml("InitiateMultipartUploadResult", { Bucket: name, Key: key, UploadId: id }, said ?? {});
  },

  async UploadPart(bucket, operation, body, payloadHash) {
    const { id, checksum: agreed } = getUpload(bucket, operation);
    const number = Number(operation.query.get("partNumber"));
    if (!Number.isInteger(number) || number < 1 || number > 10_000)
      throw new AwsFault("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive");
    const received = await receive(bucket, operation.header, body, payloadHash);
    const value = agreed && received.checksums[agreed.algorithm];
    const stored = bucket.uploads.get(id); // it may have been aborted or completed while the bytes came
    if (stored === undefined || (agreed?.type === "COMPOSITE" && value === undefined)) {
      disk.removeData(bucket, [received]);
      throw stored === undefined ? noSuchUpload() : typeMismatch(agreed?.algorithm, received.checksums);
    }
    const before = stored.parts[String(number)];
    disk.keepUpload(bucket, { ...stored, parts: { ...stored.parts, [number]: received } });
    disk.removeData(bucket, before === undefined ? [] : [before]);
    return { status: 200, headers: { etag: quote(received.etag), ...partChecksumHeaders(received.checksums) } };
  },

  ListParts(bucket, operation) {
    const { query, bucket: name, key } = operation;
    const { id, parts, checksum: agreed } = getUpload(bucket, operation);
    const limit = pageSize(query, "max-parts");
    const after = Number(query.get("part-number-marker") ?? 0);
    const rest = numbered(parts).filter(([number]) => number > after);
    const page = rest.slice(0, limit);
    const truncated = rest.length > page.length;
    return xml("ListPartsResult", {
      Bucket: name,
      Key: key,
      UploadId: id,
      PartNumberMarker: after,
      NextPartNumberMarker: truncated ? page.at(-1)?.[0] : undefined,
      MaxParts: limit,
      IsTruncated: truncated,
      ChecksumAlgorithm: agreed?.algorithm.toUpperCase(),
      ChecksumType: agreed?.type,
      Part: page.map(([number, { etag, size, modified, checksums }]) => {
        const sums = Object.fromEntries(Object.entries(checksums).map(([algorithm, value]) => [checksumTag(algorithm), value]));
        return { PartNumber: number, LastModified: modified, ETag: quote(etag), Size: size, ...sums };
      }),
    });
  },

  async CompleteMultipartUpload(bucket, operation, body, payloadHash) {
    const { key, bucket: name, header } = operation;
    const text = await readText(body, payloadHash);
    const stored = getUpload(bucket, operation);
    const parts = chosenParts(stored, text);
    const size = parts.reduce((sum, { size: bytes }) => sum + bytes, 0);
    if (Number(header("x-amz-mp-object-size") ?? size) !== size)
      throw new AwsFault("InvalidRequest", `The provided x-amz-mp-object-size header does not match what was computed: ${size}`);
    const md5s = parts.map((each) => Buffer.from(each.etag, "hex"));
    const etag = `${digestOf("md5", md5s).toString("hex")}-${parts.length}`;
    const value = stored.checksum && (await objectChecksum(bucket, stored.checksum, parts));
    const claimed = stored.checksum && header(`x-amz-checksum-${stored.checksum.algorithm}`);
    if (claimed !== undefined && claimed !== value && `${claimed}-${parts.length}` !== value)
      throw badDigest(stored.checksum?.algorithm ?? "");
    if (!bucket.uploads.has(stored.id)) throw noSuchUpload(); // another completed it while we computed
    const sum = stored.checksum && value !== undefined ? { checksum: { ...stored.checksum, value } } : {};
    const files = parts.map(({ file, size: bytes }) => ({ file, size: bytes }));
    const whole = { key, size, etag, modified: new Date().toISOString(), headers: stored.headers, ...sum, files };
    requireAbsent(bucket, operation);
    disk.keepObject(bucket, whole);
    disk.dropUpload(bucket, stored);
    disk.removeData(
      bucket,
      Object.values(stored.parts).filter(({ file }) => !files.some((kept) => kept.file === file)),
    );
    const said = stored.checksum && { [checksumTag(stored.checksum.algorithm)]: value, ChecksumType: stored.checksum.type };
    return xml("CompleteMultipartUploadResult", {
      Location: `/${name}/${key}`,
      Bucket: name,
      Key: key,
      ETag: quote(etag),
      ...said,
    });
  },

  AbortMultipartUpload(bucket, operation) {
    const stored = getUpload(bucket, operation);
    disk.dropUpload(bucket, stored);
    disk.removeData(bucket, Object.values(stored.parts));
    return { status: 204 };
  },

  ListMultipartUploads(bucket, { bucket: name, query }) {
    const prefix = query.get("prefix") ?? "";
    const found = [...bucket.uploads.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .toSorted((a, b) => byBytes(a.key, b.key));
    return xml("ListMultipartUploadsResult", {
      Bucket: name,
      Prefix: prefix,
      MaxUploads: found.length,
      IsTruncated: false, // one page: it is one machine
      Upload: found.map(({ key, id, initiated }) => ({ Key: key, UploadId: id, Initiated: initiated })),
    });
  },
};

function getObject(bucket: Bucket, { key }: S3Operation): StoredObject {
  const stored = bucket.objects.get(key);
  if (stored === undefined) throw new AwsFault("NoSuchKey", "The specified key does not exist.", 404);
  return stored;
}

function getUpload(bucket: Bucket, { key, query }: S3Operation): Upload {
  const stored = bucket.uploads.get(query.get("uploadId") ?? "");
  if (stored?.key !== key) throw noSuchUpload();
  return stored;
}

const noSuchUpload = (): AwsFault =>
  new AwsFault(
    "NoSuchUpload",
    "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
    404,
  );
const typeMismatch = (wanted: string | undefined, got: Part["checksums"]): AwsFault =>
  new AwsFault(
    "InvalidRequest",
    `Checksum Type mismatch occurred, expected checksum Type: ${wanted}, actual checksum Type: ${Object.keys(got)[0] ?? "null"}`,
  );

const numbered = (parts: Upload["parts"]): [number, Part][] =>
  Object.entries(parts)
    .map(([number, each]): [number, Part] => [Number(number), each])
    .toSorted(([a], [b]) => a - b);

/** The parts that CompleteMultipartUpload names, if they are what was uploaded. */
function chosenParts({ parts, checksum: agreed }: Upload, text: string): Part[] {
  const named = readParts(text).map((part) => ({
    number: Number(part["PartNumber"]),
    etag: part["ETag"]?.trim().replaceAll('"', ""),
    value: agreed && part[checksumTag(agreed.algorithm)]?.trim(),
  }));
  if (named.some(({ number }, at) => at > 0 && !(number > (named[at - 1]?.number ?? 0))))
    throw new AwsFault(
      "InvalidPartOrder",
      "The list of parts was not in ascending order. The parts list must be specified in order by part number.",
    );
  return named.map(({ number, etag, value }, at) => {
    const stored = parts[String(number)];
    if (agreed?.type === "COMPOSITE" && value === undefined)
      throw new AwsFault(
        "InvalidRequest",
        `The upload was created using a ${agreed.algorithm} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
      );
    if (
      stored === undefined ||
      stored.etag !== etag ||
      (agreed && value !== undefined && stored.checksums[agreed.algorithm] !== value)
    )
      throw new AwsFault(
        "InvalidPart",
        "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
      );
    if (stored.size < SMALLEST_PART && at < named.length - 1)
      throw new AwsFault("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size");
    return stored;
  });
}

const checksumTag = (algorithm: string): string => `Checksum${algorithm.toUpperCase()}`;

function digestOf(algorithm: Algorithm | "md5", chunks: Buffer[]): Buffer {
  const sum = hasher(algorithm);
  for (const chunk of chunks) sum.update(chunk);
  return sum.digest();
}

async function objectChecksum(
  bucket: Bucket,
  { algorithm, type }: NonNullable<Upload["checksum"]>,
  parts: Part[],
): Promise<string> {
  if (type === "COMPOSITE")
    return `${digestOf(
      algorithm,
      parts.map(({ checksums }) => Buffer.from(checksums[algorithm] ?? "", "base64")),
    ).toString("base64")}-${parts.length}`;
  const sum = hasher(algorithm);
  for (const { file } of parts)
    for await (const chunk of createReadStream(disk.dataFile(bucket, file))) sum.update(z.instanceof(Buffer).parse(chunk));
  return sum.digest().toString("base64");
}

const checksumHeaders = (sum: StoredObject["checksum"]): Record<string, string> =>
  sum === undefined ? {} : { [`x-amz-checksum-${sum.algorithm}`]: sum.value, "x-amz-checksum-type": sum.type };
const partChecksumHeaders = (sums: Part["checksums"]): Record<string, string> =>
  Object.fromEntries(Object.entries(sums).map(([algorithm, value]) => [`x-amz-checksum-${algorithm}`, value]));

function objectHeaders({ header, query }: S3Operation, stored: StoredObject): Record<string, string> {
  const overrides = [...query]
    .filter(([name]) => name.startsWith("response-"))
    .map(([name, value]) => [name.slice("response-".length), value]);
  if (overrides.some(([, value = ""]) => /[^\t\x20-\x7e\x80-\xff]/.test(value)))
    throw new AwsFault("InvalidArgument", "Header value cannot be represented using ISO-8859-1.");
  return {
    "content-type": "binary/octet-stream",
    ...stored.headers,
    ...Object.fromEntries(overrides),
    ...(header("x-amz-checksum-mode") === "ENABLED" ? checksumHeaders(stored.checksum) : {}),
    etag: quote(stored.etag),
    "last-modified": new Date(stored.modified).toUTCString(),
    "content-length": String(stored.size),
    "accept-ranges": "bytes",
  };
}

/** Whether the caller has it already (304); If-Match that fails throws. */
function conditions({ header }: S3Operation, { etag }: StoredObject): boolean {
  const names = (value: string | undefined): boolean =>
    value !== undefined && (value === "*" || value.replaceAll('"', "") === etag);
  if (header("if-match") !== undefined && !names(header("if-match")))
    throw new AwsFault("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412);
  return names(header("if-none-match"));
}

/** `end` is exclusive. Undefined: all of it; a range that cannot be read is ignored, as HTTP wants. */
function requestedRange(value: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(value ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  const last = match[1] === "" ? Number(match[2]) : undefined; // "the last n bytes"
  const start = last === undefined ? Number(match[1]) : Math.max(0, size - last);
  const end = last === undefined && match[2] !== "" ? Math.min(size, Number(match[2]) + 1) : size;
  if (start >= size || end <= start) throw new AwsFault("InvalidRange", "The requested range is not satisfiable", 416);
  return { start, end };
}

function readBytes(bucket: Bucket, { files }: StoredObject, start: number, end: number): Readable {
  return Readable.from(
    (async function* (): AsyncGenerator {
      let at = 0; // where the file begins in the object
      for (const { file, size } of files) {
        const [from, to] = [Math.max(start - at, 0), Math.min(end - at, size)];
        let left = to - from;
        if (left > 0) {
          for await (const chunk of createReadStream(disk.dataFile(bucket, file), { start: from, end: to - 1 })) {
            left -= z.instanceof(Buffer).parse(chunk).length;
            yield chunk;
          }
          // The length was announced: only an end of the connection tells the reader that no more comes.
          if (left > 0) throw new LocalError(`The file ${file} is shorter than its object`);
        }
        at += size;
      }
    })(),
    { objectMode: false },
  );
}

const quote = (etag: string): string => `"${etag}"`;
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const contents = ({ key, modified, etag, size }: StoredObject): Tags => ({
  Key: key,
  LastModified: modified,
  ETag: quote(etag),
  Size: size,
  StorageClass: "STANDARD",
});

function pageSize(query: URLSearchParams, name: string): number {
  const asked = Number(query.get(name) ?? PAGE);
  if (!Number.isInteger(asked) || asked < 0)
    throw new AwsFault("InvalidArgument", `Provided ${name} not an integer or within integer range`);
  return Math.min(asked, PAGE);
}

const xml = (root: string, content: Tags, headers: Record<string, string> = {}): S3Answer => ({
  status: 200,
  headers: { "content-type": "application/xml", ...headers },
  body: s3XmlOf(root, content),
});
