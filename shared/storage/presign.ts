// Addresses from which an archive can be downloaded without a credential of ours, for a while.
//
// Signed here instead of with the S3 client, which would more than double the size of the function that does it.
import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import type { BackupRecord } from "../data/records.ts";
import { variable } from "../runtime/env.ts";
import { archiveKey } from "./archive-key.ts";

/** SHA-256 as the signer wants it. */
class Sha256 {
  private readonly hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", typeof secret === "string" ? secret : bytesOf(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(typeof data === "string" ? data : bytesOf(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }
  reset(): void {
    throw new Error("Not needed by the signer");
  }
}
const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);

export interface PresignedAddress {
  url: string;
  expires_at: string;
}

export async function presignedGet(backup: BackupRecord, seconds: number): Promise<PresignedAddress> {
  const endpoint = new URL(process.env["AWS_ENDPOINT_URL"] ?? `https://s3.${variable("AWS_REGION")}.amazonaws.com`);
  const signer = new SignatureV4({
    service: "s3",
    region: variable("AWS_REGION"),
    sha256: Sha256,
    uriEscapePath: false, // S3 alone does not escape a path twice
    credentials: {
      accessKeyId: variable("AWS_ACCESS_KEY_ID"),
      secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
      ...(process.env["AWS_SESSION_TOKEN"] !== undefined && { sessionToken: process.env["AWS_SESSION_TOKEN"] }),
    },
  });
  const signingDate = new Date();
  const filename = `${backup.database_name}-${(backup.completed_at ?? backup.created_at).slice(0, 10)}.zip`;
  const signed = await signer.presign(
    {
      method: "GET",
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port !== "" && { port: Number(endpoint.port) }),
      path: `/${variable("BACKUP_BUCKET")}/${archiveKey(backup)}`,
      headers: { host: endpoint.host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
      query: { "response-content-disposition": `attachment; filename="${filename}"` },
    },
    { expiresIn: seconds, signingDate },
  );
  const query = Object.entries(signed.query ?? {}).map(([name, value]) => `${encode(name)}=${encode(String(value))}`);
  return {
    url: `${endpoint.origin}${signed.path}?${query.join("&")}`,
    expires_at: new Date(signingDate.getTime() + seconds * 1000).toISOString(),
  };
}

/** RFC 3986, as the signature is computed over it. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
