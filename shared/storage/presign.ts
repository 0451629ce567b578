// Presigned URLs: anyone who has one can download an archive, or upload a part of it, until it expires.
// Signed without the S3 client, which is several times as large as all of the function that needs this.
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { archiveKey } from "./archive-key.ts";
import { store } from "./store.ts";

interface Downloadable {
  id: string;
  account_id: string;
  database_name: string;
  created_at: string;
}

/** Returns a URL for a person: the file gets a descriptive name. */
export async function presignedGet(backup: Downloadable, seconds: number): Promise<{ url: string; expires_at: string }> {
  const signingDate = new Date();
  const url = await presigned(
    { method: "GET", key: archiveKey(backup), seconds, signingDate },
    {
      "response-content-disposition": `attachment; filename="${buildFilename(backup)}"`,
      "response-content-type": "application/zip",
    },
  );
  const expires = Math.floor(signingDate.getTime() / 1000 + seconds) * 1000; // signatures count in whole seconds
  return { url, expires_at: new Date(expires).toISOString() };
}

/** Returns a URL for a machine that restores the archive. */
export const presignedArchive = (key: string, seconds: number): Promise<string> => presigned({ method: "GET", key, seconds });

interface UploadedPart {
  key: string;
  upload_id: string;
  number: number;
  /** Signed, so that it must be sent, and the storage rejects the part if it does not match. In base64. */
  sha256: string;
  /** Likewise, where it is given: every client sends it by itself. */
  size_bytes?: number | undefined;
}

/** The headers must be sent, too. */
export async function presignedPart(
  { key, upload_id, number, sha256, size_bytes }: UploadedPart,
  seconds: number,
): Promise<{ url: string; headers: Record<string, string> }> {
  const headers = { "x-amz-checksum-sha256": sha256 };
  const signed = { ...headers, ...(size_bytes !== undefined && { "content-length": String(size_bytes) }) };
  const query = { partNumber: String(number), uploadId: upload_id };
  return { url: await presigned({ method: "PUT", key, seconds, headers: signed }, query), headers };
}

export interface Signed {
  method: "GET" | "PUT" | "POST" | "DELETE";
  key: string;
  seconds: number;
  headers?: Record<string, string>;
  signingDate?: Date;
}

export async function presigned(
  { method, key, seconds, headers = {}, signingDate = new Date() }: Signed,
  query: Record<string, string> = {},
): Promise<string> {
  const { bucket, region, endpoint, credentials } = store();
  // S3 alone does not escape a path twice.
  const signer = new SignatureV4({ service: "s3", region, credentials, sha256: Sha256, uriEscapePath: false });
  const signed = await signer.presign(
    {
      method,
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port !== "" && { port: Number(endpoint.port) }),
      path: `/${bucket}/${key}`,
      query,
      headers: { ...headers, host: endpoint.host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
    },
    // Headers that were moved into the address would not have to be sent.
    { expiresIn: seconds, signingDate, unhoistableHeaders: new Set(Object.keys(headers)) },
  );
  return `${endpoint.origin}${signed.path}?${queryString(signed.query)}`;
}

const buildFilename = ({ database_name, created_at }: Downloadable): string => `${database_name}-${created_at.slice(0, 10)}.zip`;

const queryString = (query: Record<string, string | string[] | null> = {}): string =>
  Object.entries(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(String(value ?? ""))}`)
    .join("&");

/** RFC 3986, over which the signature is computed, escapes more than JavaScript does. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Node's own SHA-256, in the signer's interface. */
export class Sha256 {
  private hash: Hash | Hmac;
  private readonly key: Bytes | undefined;
  constructor(key?: Bytes) {
    this.key = key;
    this.hash = begin(key);
  }
  update(data: Bytes): void {
    this.hash.update(toBytes(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }
  reset(): void {
    this.hash = begin(this.key);
  }
}

const begin = (key: Bytes | undefined): Hash | Hmac =>
  key === undefined ? createHash("sha256") : createHmac("sha256", toBytes(key));

function toBytes(data: Bytes): string | Uint8Array {
  if (typeof data === "string") return data;
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}
