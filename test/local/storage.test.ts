// The local S3, by the real SDK: checksums, multipart uploads, conditions, ranges and lists.
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { corsHeaders } from "../../infra/local/s3/cors.ts";
import { unless } from "../harness/unless.ts";
import { noProc, syncedBy } from "./synced.ts";
import { presigned } from "./signer.ts";
import { allow, BUCKET, startLocal, type Local } from "./services.ts";

// The storage is in its own folder, which nobody else writes to.
const dir = await mkdtemp(join(await mkdtemp(join(tmpdir(), "storage-test-")), "s3-"));
let local: Local;
let s3: S3Client;
let operator: ReturnType<Local["as"]>;
beforeAll(async () => {
  local = await startLocal({ dir, dynamodb: false });
  operator = local.as("operator");
  s3 = new S3Client(operator);
});
afterAll(async () => {
  await local.stop();
  await rm(join(dir, ".."), { recursive: true, force: true });
});

const Bucket = BUCKET;
const MIB = 1024 * 1024;
const sha256 = (data: Buffer): string => createHash("sha256").update(data).digest("base64");
const address = (key: string, query = ""): string => `${local.aws.url}/${BUCKET}/${key}${query}`;
const read = async (Key: string, Range?: string): Promise<Buffer> => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ...(Range === undefined ? {} : { Range }) }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const files = async (): Promise<string[]> => (await readdir(join(dir, BUCKET, "data"))).toSorted();

test("an object can be read again with its type and metadata, whole and in ranges", async () => {
  const body = randomBytes(3 * MIB);
  const put = { Bucket, Key: "a b/ä+(1)!*'.zip", Body: body, ContentType: "application/zip", Metadata: { instance: "ins_1" } };
  const { ETag, ChecksumCRC32 } = await s3.send(new PutObjectCommand(put));
  expect([ETag, ChecksumCRC32]).toEqual([`"${createHash("md5").update(body).digest("hex")}"`, expect.any(String)]);
  expect((await read(put.Key)).equals(body)).toBe(true);
  expect((await read(put.Key, "bytes=100-199")).equals(body.subarray(100, 200))).toBe(true);
  expect((await read(put.Key, "bytes=-10")).equals(body.subarray(-10))).toBe(true);
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: put.Key }));
  expect(head).toMatchObject({
    ETag,
    ContentLength: body.length,
    ContentType: "application/zip",
    Metadata: { instance: "ins_1" },
  });
  await s3.send(new DeleteObjectCommand({ Bucket, Key: put.Key }));
  await expect(read(put.Key)).rejects.toMatchObject({ name: "NoSuchKey" });
  expect(await files()).toEqual([]);
});

test("an object whose file is truncated on disk ends the response at once", async () => {
  const bytes = randomBytes(300_001);
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: "cut", Body: bytes }));
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => fs.statSync(path).size === bytes.length);
  expect(paths).toHaveLength(1);
  for (const path of paths) fs.truncateSync(path, 100_000);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: "cut" }));
  await expect(Body?.transformToByteArray()).rejects.toThrow(/aborted|terminated|closed|reset/i);
  await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: "cut" }));
});

test("a stream whose checksum is not known in advance arrives complete (aws-chunked, checksum at the end)", async () => {
  const body = randomBytes(2 * MIB + 17);
  const stream = Readable.from([body.subarray(0, 1000), body.subarray(1000)]);
  await s3.send(new PutObjectCommand({ Bucket, Key: "streamed", Body: stream, ContentLength: body.length }));
  expect((await read("streamed")).equals(body)).toBe(true);
  expect((await s3.send(new HeadObjectCommand({ Bucket, Key: "streamed" }))).ContentEncoding).toBeUndefined();
});

// The check values from the algorithms' own definitions, for "123456789".
test.each([
  ["CRC32", "y/Q5Jg=="],
  ["CRC32C", "4waSgw=="],
  ["CRC64NVME", "rosUhgp5mIg="],
  ["SHA1", "98O8HYCOBHMq32eZZczDTKeuNEE="],
  ["SHA256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="],
] as const)("%s: a correct checksum is stored and a wrong one stores nothing", async (algorithm, value) => {
  const right = { [`Checksum${algorithm}`]: value };
  const put = { Bucket, Key: `sum-${algorithm}`, Body: "123456789" };
  const response = await s3.send(new PutObjectCommand({ ...put, ...right }));
  expect(response).toMatchObject(right);
  const damaged = s3.send(new PutObjectCommand({ ...put, Key: "damaged", Body: "123456780", ...right }));
  await expect(damaged).rejects.toMatchObject({ name: "BadDigest" });
  await expect(read("damaged")).rejects.toMatchObject({ name: "NoSuchKey" });
});

test("Content-MD5 is checked, and If-None-Match keeps the first object", async () => {
  await expect(
    s3.send(new PutObjectCommand({ Bucket, Key: "md5", Body: "x", ContentMD5: "AAAAAAAAAAAAAAAAAAAAAA==" })),
  ).rejects.toThrow("MD5");
  const first = (Body: string): Promise<unknown> =>
    s3.send(new PutObjectCommand({ Bucket, Key: "first", Body, IfNoneMatch: "*" }));
  const both = await Promise.allSettled([first("one"), first("two")]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await expect(first("three")).rejects.toMatchObject({ name: "PreconditionFailed" });
});

async function startUpload(Key: string): Promise<string> {
  return (await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: "SHA256" }))).UploadId ?? "";
}
const partAddress = (
  key: string,
  uploadId: string,
  number: number,
  headers: Record<string, string>,
  repeat = false,
): Promise<string> =>
  presigned(address(key, `?uploadId=${uploadId}&partNumber=${number}`), {
    credentials: operator.credentials,
    method: "PUT",
    headers,
    repeat,
  });

test("a multipart upload by presigned URLs with each part's signed SHA-256 creates the object", async () => {
  const Key = "backups/bak_1.zip";
  const UploadId = await startUpload(Key);
  const parts = [randomBytes(5 * MIB), randomBytes(5 * MIB), randomBytes(1000)];
  const Parts: CompletedPart[] = [];
  for (const [at, body] of parts.entries()) {
    const headers = { "x-amz-checksum-sha256": sha256(body) };
    // Signed into the URL itself, or as a header that the sender must repeat.
    const repeat = at === 1;
    const url = await partAddress(Key, UploadId, at + 1, headers, repeat);
    const response = await fetch(url, { method: "PUT", body, headers: repeat ? headers : {} });
    expect(response.status).toBe(200);
    Parts.push({ PartNumber: at + 1, ETag: response.headers.get("etag") ?? "", ChecksumSHA256: sha256(body) });
  }
  const listed = await s3.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 2 }));
  expect(listed).toMatchObject({
    IsTruncated: true,
    ChecksumAlgorithm: "SHA256",
    Parts: [{ Size: 5 * MIB, ChecksumSHA256: sha256(parts[0] ?? Buffer.alloc(0)) }, {}],
  });
  expect(
    (await s3.send(new ListPartsCommand({ Bucket, Key, UploadId, PartNumberMarker: listed.NextPartNumberMarker }))).Parts,
  ).toHaveLength(1);
  const complete = (parts: CompletedPart[]): Promise<unknown> =>
    s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: parts } }));
  await expect(complete(Parts.toReversed())).rejects.toMatchObject({ name: "InvalidPartOrder" });
  await expect(complete([...Parts.slice(0, 2), { ...Parts[2], ETag: "other" }])).rejects.toMatchObject({ name: "InvalidPart" });
  await expect(complete([...Parts.slice(0, 2), { ...Parts[2], ChecksumSHA256: sha256(Buffer.alloc(1)) }])).rejects.toMatchObject({
    name: "InvalidPart",
  });
  await expect(complete(Parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })))).rejects.toThrow(
    "must include the checksum for each part",
  );
  const composite = `${sha256(Buffer.concat(parts.map((part) => Buffer.from(sha256(part), "base64"))))}-3`;
  expect(await complete(Parts)).toMatchObject({ ETag: expect.stringMatching(/^"[0-9a-f]{32}-3"$/), ChecksumSHA256: composite });
  expect((await read(Key)).equals(Buffer.concat(parts))).toBe(true);
  const across = Buffer.concat(parts).subarray(5 * MIB - 5, 5 * MIB + 5);
  expect((await read(Key, `bytes=${5 * MIB - 5}-${5 * MIB + 4}`)).equals(across)).toBe(true);
  await expect(complete(Parts)).rejects.toMatchObject({ name: "NoSuchUpload" });
});

test("a part that arrives damaged, or without its announced checksum, is rejected and not stored", async () => {
  const Key = "backups/bak_2.zip";
  const before = await files();
  const UploadId = await startUpload(Key);
  const body = randomBytes(1000);
  const url = await partAddress(Key, UploadId, 1, { "x-amz-checksum-sha256": sha256(body) });
  const damaged = Buffer.from(body);
  damaged[500] = (damaged[500] ?? 0) ^ 1;
  const response = await fetch(url, { method: "PUT", body: damaged });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("<Code>BadDigest</Code>")]);
  const repeated = await partAddress(Key, UploadId, 1, { "x-amz-checksum-sha256": sha256(body) }, true);
  expect(await rejected(repeated, { method: "PUT", body })).toContain("SignatureDoesNotMatch");
  const other = { method: "PUT", body: damaged, headers: { "x-amz-checksum-sha256": sha256(damaged) } };
  expect(await rejected(repeated, other)).toContain("SignatureDoesNotMatch");
  const plain = await fetch(await partAddress(Key, UploadId, 1, {}), { method: "PUT", body });
  expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining("expected checksum Type: sha256")]);
  expect((await s3.send(new ListPartsCommand({ Bucket, Key, UploadId }))).Parts ?? []).toEqual([]);
  expect(await files()).toEqual(before);
});

test("an interrupted upload leaves nothing", async () => {
  const before = await files();
  const url = await presigned(address("cut"), { credentials: operator.credentials, method: "PUT" });
  const request = httpRequest(url, { method: "PUT", headers: { "content-length": 1000 } });
  request.on("error", () => undefined);
  request.write("only this");
  await expect.poll(files).toHaveLength(before.length + 1);
  request.destroy();
  await expect.poll(files).toEqual(before);
  await expect(read("cut")).rejects.toMatchObject({ name: "NoSuchKey" });
});

test("every part except the last has at least 5 MiB, and an aborted upload leaves no bytes", async () => {
  const before = await files();
  const UploadId = await startUpload("small");
  const upload = { Bucket, Key: "small", UploadId };
  const send = async (PartNumber: number, Body: Buffer): Promise<CompletedPart> => {
    const { ETag = "" } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumSHA256: sha256(Body) }));
    return { PartNumber, ETag, ChecksumSHA256: sha256(Body) };
  };
  const Parts = [await send(1, Buffer.from("one")), await send(2, Buffer.from("two"))];
  const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
  await expect(s3.send(complete)).rejects.toMatchObject({ name: "EntityTooSmall" });
  expect((await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: "small" }))).Uploads).toMatchObject([
    { Key: "small", UploadId },
  ]);
  await s3.send(new AbortMultipartUploadCommand(upload));
  await expect(s3.send(new AbortMultipartUploadCommand(upload))).rejects.toMatchObject({ name: "NoSuchUpload" });
  expect(await files()).toEqual(before);
});

async function rejected(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  expect(response.status).toBe(403);
  return response.text();
}

test("a presigned download has the signed name and type until it expires, and only if unmodified", async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: "doc", Body: "hello" }));
  const disposition = 'attachment; filename="prod backup.zip"';
  const query = `?response-content-disposition=${encodeURIComponent(disposition)}&response-content-type=application%2Fzip`;
  const sign = (signingDate: Date): Promise<string> =>
    presigned(address("doc", query), { credentials: operator.credentials, method: "GET", expiresIn: 60, signingDate });
  const url = await sign(new Date());
  const response = await fetch(url);
  expect([response.status, await response.text()]).toEqual([200, "hello"]);
  expect([response.headers.get("content-disposition"), response.headers.get("content-type")]).toEqual([
    disposition,
    "application/zip",
  ]);
  expect(await rejected(await sign(new Date(Date.now() - 61_000)))).toContain("Request has expired");
  expect(await rejected(url.replace("/doc?", "/first?"))).toContain("SignatureDoesNotMatch");
  expect(await rejected(url.replace("X-Amz-Expires=60", "X-Amz-Expires=6000"))).toContain("SignatureDoesNotMatch");
  expect(await rejected(url.replace("prod", "other"))).toContain("SignatureDoesNotMatch");
  expect(await rejected(url, { method: "DELETE" })).toContain("SignatureDoesNotMatch");
  expect(await rejected(address("doc"))).toContain("not signed");
});

test.each([
  [
    "a token beside the signature",
    (url: string) => url,
    { authorization: "Bearer svc_test_x" },
    "Only one auth mechanism allowed",
  ],
  ["Basic credentials beside it", (url: string) => url, { authorization: "Basic eDp5" }, "Only one auth mechanism allowed"],
  ["only a token", (url: string) => url.replace(/\?.*/, ""), { authorization: "Bearer x" }, "Unsupported Authorization Type"],
  ["no expiry", (url: string) => url.replace(/&X-Amz-Expires=\d+/, ""), {}, "requires the X-Amz-Algorithm"],
  ["no signature", (url: string) => url.replace(/&X-Amz-Signature=\w+/, ""), {}, "requires the X-Amz-Algorithm"],
  ["only a date", (url: string) => url.replace(/\?.*/, "?X-Amz-Date=20261120T120000Z"), {}, "requires the X-Amz-Algorithm"],
  ["an expiry that is no number", (url: string) => url.replace(/Expires=\d+/, "Expires=soon"), {}, "should be a number"],
  ["another algorithm", (url: string) => url.replace("HMAC-SHA256", "HMAC-SHA1"), {}, "only supports"],
  ["a date in another form", (url: string) => url.replace(/Date=\d{8}T/, "Date=2026-11-20T"), {}, "ISO8601 Long Format"],
  ["the signature twice", (url: string) => `${url}&X-Amz-Signature=00`, {}, "must not be repeated"],
  ["its host not signed", (url: string) => url.replace(/SignedHeaders=host/, "SignedHeaders=date"), {}, "host must be signed"],
] as const)("a presigned URL with %s is rejected with 400, as by S3", async (_, change, headers, message) => {
  await s3.send(new PutObjectCommand({ Bucket, Key: "strict", Body: "hello" }));
  const url = await presigned(address("strict"), { credentials: operator.credentials, method: "GET" });
  expect((await fetch(url)).status).toBe(200);
  const response = await fetch(change(url), { headers });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(message)]);
});

test("a presigned URL is for its host, its method and the headers that it names", async () => {
  const url = await presigned(address("strict"), { credentials: operator.credentials, method: "GET" });
  expect(await rejected(url.replace("127.0.0.1", "localhost"))).toContain("SignatureDoesNotMatch");
  expect((await fetch(url, { method: "HEAD" })).status).toBe(403);
  expect(await rejected(url, { headers: { "x-amz-meta-a": "1" } })).toContain("not signed");
  const signedUrl = await presigned(address("strict"), {
    credentials: operator.credentials,
    method: "PUT",
    headers: { "x-amz-meta-a": "1" },
    repeat: true,
  });
  expect(await rejected(signedUrl, { method: "PUT", body: "x" })).toContain("SignatureDoesNotMatch");
  expect((await fetch(signedUrl, { method: "PUT", body: "x", headers: { "x-amz-meta-a": "1" } })).status).toBe(200);
});

test("the dashboard sends parts from the name and the address of this machine, and no other page does", () => {
  const rule = { AllowedMethods: ["PUT"], AllowedHeaders: ["x-amz-checksum-sha256"], ExposedHeaders: [], MaxAge: 3600 };
  const dashboards = ["http://localhost:3000", "http://127.0.0.1:3000"];
  const cors = { rules: new Map([[BUCKET, [rule]]]), origins: () => dashboards };
  const allowedFrom = (origin: string) =>
    corsHeaders(cors, { method: "PUT", path: `/${BUCKET}/part`, headers: { origin } })?.["access-control-allow-origin"];
  expect([...dashboards, "http://localhost:4000", "https://evil.example"].map(allowedFrom)).toEqual([
    ...dashboards,
    undefined,
    undefined,
  ]);
});

test("no key reaches outside the bucket's folder", async () => {
  const before = await readdir(join(dir, ".."));
  for (const Key of ["../../escaped", "/etc/passwd", "..", "a/../../../b", "x\\..\\y", "%2e%2e/%2e%2e/z", "nul\0l"]) {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    expect((await read(Key)).toString()).toBe(Key);
  }
  expect(await readdir(join(dir, ".."))).toEqual(before);
  expect(await readdir(dir)).toEqual([BUCKET]);
  expect((await readdir(join(dir, BUCKET))).toSorted()).toEqual(["data", "objects", "uploads"]);
  await expect(s3.send(new GetObjectCommand({ Bucket: "..", Key: "x" }))).rejects.toThrow("bucket");
});

test("a list is sorted, by prefix, folder and page", async () => {
  for (const Key of ["list/b", "list/a", "list/c/1", "list/c/2", "list&<>"])
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  const list = async (more: object): Promise<unknown> => {
    const { Contents = [], CommonPrefixes = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "list", ...more }));
    return [Contents.map(({ Key }) => Key), CommonPrefixes.map(({ Prefix }) => Prefix)];
  };
  expect(await list({})).toEqual([["list&<>", "list/a", "list/b", "list/c/1", "list/c/2"], []]);
  expect(await list({ Prefix: "list/", Delimiter: "/" })).toEqual([["list/a", "list/b"], ["list/c/"]]);
  const first = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "list", MaxKeys: 2 }));
  expect(await list({ ContinuationToken: first.NextContinuationToken })).toEqual([["list/b", "list/c/1", "list/c/2"], []]);
});

test("a function reads and writes what its policy allows, and without the permission to list cannot tell what is absent", async () => {
  const all = `arn:aws:s3:::${BUCKET}/*`;
  const reader = new S3Client(local.as("reader", allow(["s3:GetObject"], all)));
  const lister = new S3Client(
    local.as("lister", allow(["s3:GetObject"], all), allow(["s3:ListBucket"], `arn:aws:s3:::${BUCKET}`)),
  );
  const absent = new GetObjectCommand({ Bucket, Key: "absent*" });
  await expect(reader.send(absent)).rejects.toMatchObject({
    name: "AccessDenied",
    message: expect.stringContaining("s3:ListBucket"),
  });
  await expect(lister.send(absent)).rejects.toMatchObject({ name: "NoSuchKey" });
  await expect(reader.send(new PutObjectCommand({ Bucket, Key: "x", Body: Buffer.alloc(6 * MIB) }))).rejects.toThrow(
    /reader .*s3:PutObject on resource: arn:aws:s3:::backups\/x/,
  );
  await expect(reader.send(new AbortMultipartUploadCommand({ Bucket, Key: "x", UploadId: "x" }))).rejects.toThrow(
    "s3:AbortMultipartUpload",
  );
  await expect(reader.send(new GetObjectCommand({ Bucket: "other", Key: "x" }))).rejects.toThrow("arn:aws:s3:::other/x");
});

test("objects and open uploads survive a restart, and unsupported operations return an error", async () => {
  const UploadId = await startUpload("kept");
  await s3.send(new PutObjectCommand({ Bucket, Key: "kept", Body: "kept" }));
  const again = await startLocal({ dir, dynamodb: false });
  const client = new S3Client(again.as("operator"));
  expect(await (await client.send(new GetObjectCommand({ Bucket, Key: "kept" }))).Body?.transformToString()).toBe("kept");
  expect(await client.send(new ListPartsCommand({ Bucket, Key: "kept", UploadId }))).toMatchObject({ UploadId });
  await expect(client.send(new PutObjectCommand({ Bucket, Key: "x", Body: "x", Tagging: "a=b" }))).rejects.toMatchObject({
    name: "NotImplemented",
  });
  await again.stop();
});

const synced = (work: () => Promise<unknown>): Promise<string[]> => syncedBy(join(dir, BUCKET), work);

test(
  "everything acknowledged with 200 is on disk: the bytes, the record that names them, and both file names",
  unless(noProc),
  async () => {
    const record = String.raw`[0-9a-f]{64}\.json`;
    const bytes = String.raw`\/data\/[0-9a-f-]{36}`;
    const put = await synced(() => s3.send(new PutObjectCommand({ Bucket, Key: "durable", Body: "x" })));
    expect(put.join(" ")).toMatch(new RegExp(`^${bytes} /data /objects/${record}\\.new /objects$`));
    expect(await synced(() => s3.send(new DeleteObjectCommand({ Bucket, Key: "durable" })))).toEqual(["/objects"]);
    let UploadId = "";
    const syncedPaths = await synced(async () => (UploadId = await startUpload("durable")));
    expect(syncedPaths).toEqual([`/uploads/${UploadId}.json.new`, "/uploads"]);
    const part = { Bucket, Key: "durable", UploadId, PartNumber: 1, Body: "x", ChecksumSHA256: sha256(Buffer.from("x")) };
    const sent = await synced(() => s3.send(new UploadPartCommand(part)));
    expect(sent.join(" ")).toMatch(new RegExp(`^${bytes} /data /uploads/${UploadId}\\.json\\.new /uploads$`));
  },
);

test("an unreadable record keeps its data: the start fails, and works without the record once it is set aside", async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: "precious", Body: "precious" }));
  const before = await files();
  const record = join(dir, BUCKET, "objects", `${createHash("sha256").update("precious").digest("hex")}.json`);
  const content = fs.readFileSync(record);
  for (const torn of [Buffer.alloc(0), content.subarray(0, 20), Buffer.from('{"key":"precious"}')]) {
    await writeFile(record, torn);
    await expect(startLocal({ dir, dynamodb: false })).rejects.toThrow("nothing was changed");
  }
  await rename(record, `${record}.damaged`);
  const without = await startLocal({ dir, dynamodb: false });
  const get = new GetObjectCommand({ Bucket, Key: "precious" });
  await expect(new S3Client(without.as("operator")).send(get)).rejects.toMatchObject({ name: "NoSuchKey" });
  await without.stop();
  expect(await files()).toEqual(before);
  await rm(`${record}.damaged`);
  await writeFile(record, content);
  const mended = await startLocal({ dir, dynamodb: false });
  const { Body } = await new S3Client(mended.as("operator")).send(get);
  expect(await Body?.transformToString()).toBe("precious");
  await mended.stop();
});
