// Objects of the local S3: storing, reading (whole or in ranges), listing and deleting them.
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import * as z from "zod";
import { AwsFault, LocalError } from "../errors.ts";
import { receive } from "./body.ts";
import * as disk from "./bucket.ts";
import type { Bucket, StoredObject } from "./bucket.ts";
import { ALGORITHMS } from "./checksums.ts";
import { byBytes, checksumHeaders, type Handler, isTaken, pageSize, quote, requireAbsent, xml } from "./handler.ts";
import type { S3Operation } from "./operation.ts";
import type { Tags } from "./xml.ts";

const Bytes = z.instanceof(Buffer);

export const objectHandlers = {
  async PutObject(bucket, operation, body, payloadHash) {
    requireAbsent(bucket, operation); // before the client sends 5 GB, and again after
    const { checksums, ...received } = await receive(bucket, operation.header, body, payloadHash);
    const [algorithm] = ALGORITHMS.filter((name) => checksums[name] !== undefined);
    const value = algorithm && checksums[algorithm];
    const objectChecksum = algorithm && value ? { checksum: { algorithm, type: "FULL_OBJECT" as const, value } } : {};
    const { file, size, etag, modified } = received;
    const stored = {
      key: operation.key,
      size,
      etag,
      modified,
      headers: operation.storedHeaders,
      ...objectChecksum,
      files: [{ file, size }],
    };
    // No await from here to the write, so that of two concurrent ones one wins.
    if (isTaken(bucket, operation)) disk.removeData(bucket, stored.files);
    requireAbsent(bucket, operation);
    disk.writeObject(bucket, stored);
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
    for (const name of Object.keys(checksumHeaders(stored.checksum))) delete headers[name]; // they belong to the whole object
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
    disk.removeObject(bucket, key);
    return { status: 204 };
  },

  ListObjectsV2(bucket, { bucket: name, query }) {
    const prefix = query.get("prefix") ?? "";
    const delimiter = query.get("delimiter") ?? "";
    const limit = pageSize(query, "max-keys");
    const token = query.get("continuation-token");
    const after = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
    const entries = new Map<string, StoredObject | undefined>(); // undefined: a common prefix
    for (const key of [...bucket.objects.keys()].filter((each) => each.startsWith(prefix)).toSorted(byBytes)) {
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
} satisfies Record<string, Handler>;

function getObject(bucket: Bucket, { key }: S3Operation): StoredObject {
  const stored = bucket.objects.get(key);
  if (stored === undefined) throw new AwsFault("NoSuchKey", "The specified key does not exist.", 404);
  return stored;
}

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

/** Whether the caller has it already (304); throws if If-Match fails. */
function conditions({ header }: S3Operation, { etag }: StoredObject): boolean {
  const names = (value: string | undefined): boolean =>
    value !== undefined && (value === "*" || value.replaceAll('"', "") === etag);
  if (header("if-match") !== undefined && !names(header("if-match")))
    throw new AwsFault("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412);
  return names(header("if-none-match"));
}

/** `end` is exclusive. Undefined: the whole object; unreadable ranges are ignored, as in HTTP. */
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
      let at = 0; // where the file starts in the object
      for (const { file, size } of files) {
        const [from, to] = [Math.max(start - at, 0), Math.min(end - at, size)];
        let remainingBytes = to - from;
        if (remainingBytes > 0) {
          for await (const chunk of createReadStream(disk.dataFile(bucket, file), { start: from, end: to - 1 })) {
            remainingBytes -= Bytes.parse(chunk).length;
            yield chunk;
          }
          // The response announced the length, so only the end of the connection tells the reader that no more comes.
          if (remainingBytes > 0) throw new LocalError(`The file ${file} is shorter than its object`);
        }
        at += size;
      }
    })(),
    { objectMode: false },
  );
}

const contents = ({ key, modified, etag, size }: StoredObject): Tags => ({
  Key: key,
  LastModified: modified,
  ETag: quote(etag),
  Size: size,
  StorageClass: "STANDARD",
});
