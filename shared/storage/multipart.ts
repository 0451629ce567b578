// Multipart uploads for functions that someone waits for: three signed calls, without the S3 client, which is as large as all the
// rest of such a function. Tasks use `uploads.ts`.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { unavailable } from "../api/errors.ts";
import type { Upload } from "../api/uploads.ts";
import type { UploadRecord } from "../records/uploads.ts";
import { buildArchiveKey } from "./archive-key.ts";
import { presigned, type Signed } from "./presign.ts";

/** The storage's ID of a new upload, whose parts all have a SHA-256. */
export async function beginMultipart(key: string): Promise<string> {
  const headers = {
    "content-type": "application/zip",
    "x-amz-checksum-algorithm": "SHA256",
    "x-amz-checksum-type": "COMPOSITE",
  };
  const { text } = await call({ method: "POST", key, headers }, { uploads: "" });
  const id = tagText(text, "UploadId");
  if (id === undefined) throw unavailable(new Error("The storage began an upload without an ID"));
  return id;
}

/** Succeeds if there is no such upload. */
export async function abortMultipart(key: string, uploadId: string): Promise<void> {
  await call({ method: "DELETE", key }, { uploadId });
}

/** The parts that have arrived: none if the storage has no such upload. */
export async function receivedParts(upload: UploadRecord): Promise<Upload["parts"]> {
  if (upload.store_id === undefined) return [];
  const parts: Upload["parts"] = [];
  for (let after: string | undefined = "0"; after !== undefined;) {
    const query: Record<string, string> = { uploadId: upload.store_id, "part-number-marker": after };
    const { text } = await call({ method: "GET", key: buildArchiveKey(upload) }, query);
    for (const [, part = ""] of text.matchAll(/<Part>(.*?)<\/Part>/gs))
      parts.push({
        number: Number(tagText(part, "PartNumber")),
        size_bytes: Number(tagText(part, "Size")),
        sha256: Buffer.from(tagText(part, "ChecksumSHA256") ?? "", "base64").toString("hex"),
      });
    after = tagText(text, "IsTruncated") === "true" ? tagText(text, "NextPartNumberMarker") : undefined;
  }
  return parts;
}

/** None of these values has characters that XML escapes. */
const tagText = (text: string, tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];

const CALL_MS = 3_000;
const CALL_TRIES = 2;

async function call(signed: Omit<Signed, "seconds">, query: Record<string, string>): Promise<{ status: number; text: string }> {
  const url = await presigned({ ...signed, seconds: 60 }, query);
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await send(signed, url);
      if (response.status < 300 || response.status === 404) return response;
      throw new Error(`The storage responded ${response.status} ${tagText(response.text, "Code") ?? ""}`);
    } catch (cause) {
      if (attempt >= CALL_TRIES) throw unavailable(cause);
    }
  }
}

const send = ({ method, headers = {} }: Omit<Signed, "seconds">, url: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(
      url,
      { method, headers: { ...headers, "content-length": 0 }, signal: AbortSignal.timeout(CALL_MS) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        response.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end();
  });
