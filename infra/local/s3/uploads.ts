// Multipart uploads of the local S3, with the checksums of their parts and of the whole.
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import * as z from "zod";
import { AwsFault } from "../errors.ts";
import { badDigest, readAlgorithm, readText, receive } from "./body.ts";
import * as disk from "./bucket.ts";
import type { Bucket, Part, Upload } from "./bucket.ts";
import { type Algorithm, hasher } from "./checksums.ts";
import { byBytes, type Handler, pageSize, quote, requireAbsent, xml } from "./handler.ts";
import type { S3Operation } from "./operation.ts";
import { readParts } from "./xml.ts";

const Bytes = z.instanceof(Buffer);

const SMALLEST_PART = 5 * 1024 * 1024; // S3's own limit, for every part except the last

export const uploadHandlers = {
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
    disk.writeUpload(bucket, {
      id,
      key,
      initiated: new Date().toISOString(),
      headers: operation.storedHeaders,
      ...checked,
      parts: {},
    });
    const checksumHeaders = algorithm && { "x-amz-checksum-algorithm": algorithm.toUpperCase(), "x-amz-checksum-type": type };
    return xml("InitiateMultipartUploadResult", { Bucket: name, Key: key, UploadId: id }, checksumHeaders ?? {});
  },

  async UploadPart(bucket, operation, body, payloadHash) {
    const { id, checksum: agreed } = getUpload(bucket, operation);
    const number = Number(operation.query.get("partNumber"));
    if (!Number.isInteger(number) || number < 1 || number > 10_000)
      throw new AwsFault("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive");
    const received = await receive(bucket, operation.header, body, payloadHash);
    const value = agreed && received.checksums[agreed.algorithm];
    const stored = bucket.uploads.get(id); // the upload may have been aborted or completed while the bytes came
    if (stored === undefined || (agreed?.type === "COMPOSITE" && value === undefined)) {
      disk.removeData(bucket, [received]);
      throw stored === undefined ? noSuchUpload() : typeMismatch(agreed?.algorithm, received.checksums);
    }
    const before = stored.parts[String(number)];
    disk.writeUpload(bucket, { ...stored, parts: { ...stored.parts, [number]: received } });
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
    const etag = `${computeDigest("md5", md5s).toString("hex")}-${parts.length}`;
    const value = stored.checksum && (await objectChecksum(bucket, stored.checksum, parts));
    const claimed = stored.checksum && header(`x-amz-checksum-${stored.checksum.algorithm}`);
    if (claimed !== undefined && claimed !== value && `${claimed}-${parts.length}` !== value)
      throw badDigest(stored.checksum?.algorithm ?? "");
    if (!bucket.uploads.has(stored.id)) throw noSuchUpload(); // another request completed it meanwhile
    const sum = stored.checksum && value !== undefined ? { checksum: { ...stored.checksum, value } } : {};
    const files = parts.map(({ file, size: bytes }) => ({ file, size: bytes }));
    const object = { key, size, etag, modified: new Date().toISOString(), headers: stored.headers, ...sum, files };
    requireAbsent(bucket, operation);
    disk.writeObject(bucket, object);
    disk.removeUpload(bucket, stored);
    disk.removeData(
      bucket,
      Object.values(stored.parts).filter(({ file }) => !files.some((listed) => listed.file === file)),
    );
    const checksumFields = stored.checksum && {
      [checksumTag(stored.checksum.algorithm)]: value,
      ChecksumType: stored.checksum.type,
    };
    return xml("CompleteMultipartUploadResult", {
      Location: `/${name}/${key}`,
      Bucket: name,
      Key: key,
      ETag: quote(etag),
      ...checksumFields,
    });
  },

  AbortMultipartUpload(bucket, operation) {
    const stored = getUpload(bucket, operation);
    disk.removeUpload(bucket, stored);
    disk.removeData(bucket, Object.values(stored.parts));
    return { status: 204 };
  },

  ListMultipartUploads(bucket, { bucket: name, query }) {
    const prefix = query.get("prefix") ?? "";
    const uploads = [...bucket.uploads.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .toSorted((a, b) => byBytes(a.key, b.key));
    return xml("ListMultipartUploadsResult", {
      Bucket: name,
      Prefix: prefix,
      MaxUploads: uploads.length,
      IsTruncated: false, // one page is enough for one machine
      Upload: uploads.map(({ key, id, initiated }) => ({ Key: key, UploadId: id, Initiated: initiated })),
    });
  },
} satisfies Record<string, Handler>;

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
const typeMismatch = (expected: string | undefined, actual: Part["checksums"]): AwsFault =>
  new AwsFault(
    "InvalidRequest",
    `Checksum Type mismatch occurred, expected checksum Type: ${expected}, actual checksum Type: ${Object.keys(actual)[0] ?? "null"}`,
  );

const numbered = (parts: Upload["parts"]): [number, Part][] =>
  Object.entries(parts)
    .map(([number, each]): [number, Part] => [Number(number), each])
    .toSorted(([a], [b]) => a - b);

/** The parts that CompleteMultipartUpload names, if they match the uploaded ones. */
function chosenParts({ parts, checksum: agreed }: Upload, text: string): Part[] {
  const listedParts = readParts(text).map((part) => ({
    number: Number(part["PartNumber"]),
    etag: part["ETag"]?.trim().replaceAll('"', ""),
    value: agreed && part[checksumTag(agreed.algorithm)]?.trim(),
  }));
  if (listedParts.some(({ number }, at) => at > 0 && !(number > (listedParts[at - 1]?.number ?? 0))))
    throw new AwsFault(
      "InvalidPartOrder",
      "The list of parts was not in ascending order. The parts list must be specified in order by part number.",
    );
  return listedParts.map(({ number, etag, value }, at) => {
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
    if (stored.size < SMALLEST_PART && at < listedParts.length - 1)
      throw new AwsFault("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size");
    return stored;
  });
}

const checksumTag = (algorithm: string): string => `Checksum${algorithm.toUpperCase()}`;

function computeDigest(algorithm: Algorithm | "md5", chunks: Buffer[]): Buffer {
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
    return `${computeDigest(
      algorithm,
      parts.map(({ checksums }) => Buffer.from(checksums[algorithm] ?? "", "base64")),
    ).toString("base64")}-${parts.length}`;
  const sum = hasher(algorithm);
  for (const { file } of parts)
    for await (const chunk of createReadStream(disk.dataFile(bucket, file))) sum.update(Bytes.parse(chunk));
  return sum.digest().toString("base64");
}

const partChecksumHeaders = (sums: Part["checksums"]): Record<string, string> =>
  Object.fromEntries(Object.entries(sums).map(([algorithm, value]) => [`x-amz-checksum-${algorithm}`, value]));
