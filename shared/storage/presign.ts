// Addresses from which a backup's archive can be downloaded for a while. Signed without the S3 client, which is several times
// as large as all of the function that needs this.
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { variable } from "../runtime/env.ts";
import { archiveKey } from "./archive-key.ts";

interface Downloadable {
  id: string;
  account_id: string;
  database_name: string;
  created_at: string;
}

export async function presignedGet(backup: Downloadable, seconds: number): Promise<{ url: string; expires_at: string }> {
  const region = variable("AWS_REGION");
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const endpoint = new URL(AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`);
  const signingDate = new Date();
  // S3 alone does not escape a path twice.
  const signer = new SignatureV4({ service: "s3", region, credentials: credentials(), sha256: Sha256, uriEscapePath: false });
  const { path, query } = await signer.presign(
    {
      method: "GET",
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port !== "" && { port: Number(endpoint.port) }),
      path: `/${variable("BACKUP_BUCKET")}/${archiveKey(backup)}`,
      query: {
        "response-content-disposition": `attachment; filename="${filenameOf(backup)}"`,
        "response-content-type": "application/zip",
      },
      headers: { host: endpoint.host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
    },
    { expiresIn: seconds, signingDate },
  );
  const expires = Math.floor(signingDate.getTime() / 1000 + seconds) * 1000; // signatures count in whole seconds
  return { url: `${endpoint.origin}${path}?${spelled(query)}`, expires_at: new Date(expires).toISOString() };
}

const filenameOf = ({ database_name, created_at }: Downloadable): string => `${database_name}-${created_at.slice(0, 10)}.zip`;

const spelled = (query: Record<string, string | string[] | null> = {}): string =>
  Object.entries(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(String(value ?? ""))}`)
    .join("&");

/** RFC 3986, over which the signature is computed, escapes more than JavaScript does. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function credentials() {
  const sessionToken = process.env["AWS_SESSION_TOKEN"];
  return {
    accessKeyId: variable("AWS_ACCESS_KEY_ID"),
    secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
    ...(sessionToken !== undefined && { sessionToken }),
  };
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Node's own SHA-256, in the form that the signer asks for. */
class Sha256 {
  private hash: Hash | Hmac;
  private readonly key: Bytes | undefined;
  constructor(key?: Bytes) {
    this.key = key;
    this.hash = begin(key);
  }
  update(data: Bytes): void {
    this.hash.update(bytesOf(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }
  reset(): void {
    this.hash = begin(this.key);
  }
}

const begin = (key: Bytes | undefined): Hash | Hmac =>
  key === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(key));

function bytesOf(data: Bytes): string | Uint8Array {
  if (typeof data === "string") return data;
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}
