// Bodies of requests to the local S3: received into a file and verified against everything that the sender announced.
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { ALGORITHMS, hasher, type Algorithm } from "./checksums.ts";
import { syncFolder } from "../durable.ts";
import { AwsFault } from "../errors.ts";
import { dataFile, Part, removeData, type Bucket } from "./bucket.ts";

const LARGEST_XML = 4 * 1024 * 1024; // CompleteMultipartUpload of 10,000 parts is some 2 MB

export type Header = (name: string) => string | undefined;
export const badDigest = (name: string): AwsFault =>
  new AwsFault("BadDigest", `The ${name.toUpperCase()} you specified did not match the calculated checksum.`);

/** Streams a body into its own file, and rejects it (without leaving a file) if it is not what the caller announced. */
export async function receive(bucket: Bucket, header: Header, body: AsyncIterable<Buffer>, payloadHash: string): Promise<Part> {
  const trailer = readAlgorithm(header("x-amz-trailer")?.replace("x-amz-checksum-", ""));
  const claims = new Map<string, string>(); // by algorithm, in base64
  for (const name of ALGORITHMS) claimed(claims, name, header(`x-amz-checksum-${name}`));
  claimed(claims, "md5", header("content-md5"));
  const sums = new Map(
    [...ALGORITHMS, "md5" as const]
      .filter((name) => name === "md5" || name === trailer || claims.has(name))
      .map((name) => [name, hasher(name)]),
  );
  const signedHash = /^[0-9a-f]{64}$/.test(payloadHash) ? createHash("sha256") : undefined;
  const trailers = new Map<string, string>();
  const bytes = payloadHash.startsWith("STREAMING-") ? unchunked(body, trailers) : body;
  const file = randomUUID();
  let size = 0;
  try {
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of bytes) {
        size += chunk.length;
        signedHash?.update(chunk);
        for (const sum of sums.values()) sum.update(chunk);
        yield chunk;
      }
    };
    const path = dataFile(bucket, file);
    await pipeline(counted, createWriteStream(path, { flags: "wx", mode: 0o600, flush: bucket.durable }));
    if (bucket.durable) syncFolder(dirname(path));
    if (Number(header("x-amz-decoded-content-length") ?? size) !== size)
      throw new AwsFault("IncompleteBody", "The request body terminated unexpectedly");
    if (signedHash !== undefined && signedHash.digest("hex") !== payloadHash)
      throw new AwsFault(
        "XAmzContentSHA256Mismatch",
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    if (trailer !== undefined) claimed(claims, trailer, trailers.get(`x-amz-checksum-${trailer}`) ?? "");
    const computed = new Map([...sums].map(([name, sum]) => [name, sum.digest()]));
    for (const [name, sum] of computed)
      if (claims.has(name) && claims.get(name) !== sum.toString("base64")) throw badDigest(name);
    const checksums = Object.fromEntries(ALGORITHMS.flatMap((name) => (computed.has(name) ? [[name, claims.get(name)]] : [])));
    return Part.parse({ file, size, etag: computed.get("md5")?.toString("hex"), modified: new Date().toISOString(), checksums });
  } catch (error) {
    removeData(bucket, [{ file }]);
    throw error;
  }
}

function claimed(claims: Map<string, string>, name: Algorithm | "md5", value: string | undefined): void {
  if (value === undefined) return;
  if (Buffer.from(value, "base64").length !== hasher(name).digest().length)
    throw name === "md5"
      ? new AwsFault("InvalidDigest", "The Content-MD5 you specified was invalid.")
      : new AwsFault("InvalidRequest", `Value for x-amz-checksum-${name} header is invalid.`);
  claims.set(name, value);
}

export function readAlgorithm(name: string | undefined): Algorithm | undefined {
  if (name === undefined) return undefined;
  const found = ALGORITHMS.find((each) => each === name.toLowerCase());
  if (found === undefined) throw new AwsFault("InvalidRequest", `Checksum algorithm provided is unsupported: ${name}`);
  return found;
}

/** aws-chunked: `<hex size>[;…]\r\n<bytes>\r\n` until size 0, then trailers, then an empty line. */
async function* unchunked(body: AsyncIterable<Buffer>, trailers: Map<string, string>): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  let inChunk = 0; // remaining bytes of the current chunk
  let ending = false;
  for await (const bytes of body) {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    for (;;) {
      if (inChunk > 0) {
        if (pending.length === 0) break;
        const some = pending.subarray(0, inChunk);
        pending = pending.subarray(some.length);
        inChunk -= some.length;
        yield some;
        continue;
      }
      const end = pending.indexOf("\r\n");
      if (end === -1) break;
      const line = pending.subarray(0, end).toString();
      pending = pending.subarray(end + 2);
      const trailer = /^([\w-]+):\s*(.*)$/.exec(line);
      if (ending && trailer?.[1] !== undefined) trailers.set(trailer[1].toLowerCase(), trailer[2] ?? "");
      if (ending || line === "") continue; // the end of line after a chunk
      inChunk = /^[0-9a-f]{1,12}(;.*)?$/i.test(line) ? Number.parseInt(line, 16) : Number.NaN;
      if (Number.isNaN(inChunk)) throw new AwsFault("InvalidChunkSizeError", "The body is not aws-chunked");
      ending = inChunk === 0;
    }
  }
  if (!ending) throw new AwsFault("IncompleteBody", "The request body terminated unexpectedly");
}

export async function readText(body: AsyncIterable<Buffer>, payloadHash: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LARGEST_XML) throw new AwsFault("MaxMessageLengthExceeded", "Your request was too large.");
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (payloadHash !== "UNSIGNED-PAYLOAD" && createHash("sha256").update(bytes).digest("hex") !== payloadHash)
    throw new AwsFault(
      "XAmzContentSHA256Mismatch",
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  return bytes.toString();
}
