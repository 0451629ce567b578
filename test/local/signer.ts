// Signs requests and presigns URLs as the service does, with the SDK's own signer, for tests that modify them.
import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { REGION } from "../../infra/local/template/resolve.ts";

type Bytes = Parameters<InstanceType<ConstructorParameters<typeof SignatureV4>[0]["sha256"]>["update"]>[0];
const bytesOf = (data: Bytes): Buffer =>
  typeof data === "string"
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data);

/** The signer takes its hash as a class. */
class Sha256 {
  private readonly secret: Bytes | undefined;
  private readonly chunks: Buffer[] = [];
  constructor(secret?: Bytes) {
    this.secret = secret;
  }
  update(data: Bytes): void {
    this.chunks.push(bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    const hash = this.secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(this.secret));
    return hash.update(Buffer.concat(this.chunks)).digest();
  }
  reset(): void {
    this.chunks.length = 0;
  }
}

export const signer = (service: string, credentials: { accessKeyId: string; secretAccessKey: string }): SignatureV4 =>
  new SignatureV4({ service, region: REGION, credentials, sha256: Sha256, uriEscapePath: service !== "s3" });

type Request = Parameters<SignatureV4["presign"]>[0];

export function requestTo(
  url: string,
  { method, headers = {}, body }: { method: string; headers?: Record<string, string>; body?: string },
): Request {
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
  return {
    protocol,
    hostname,
    port: Number(port),
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: { host, ...headers },
    body,
  };
}

/** `headers` become part of the URL, as S3 allows for x-amz-…; with `repeat` the sender must repeat them. */
export async function presigned(
  url: string,
  options: {
    credentials: { accessKeyId: string; secretAccessKey: string };
    method: string;
    headers?: Record<string, string>;
    expiresIn?: number;
    signingDate?: Date;
    repeat?: boolean;
  },
): Promise<string> {
  const { credentials, method, headers = {}, expiresIn = 900, signingDate = new Date(), repeat = false } = options;
  const request = requestTo(url, { method, headers: { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...headers } });
  const { query = {} } = await signer("s3", credentials).presign(request, {
    expiresIn,
    signingDate,
    unhoistableHeaders: new Set(repeat ? Object.keys(headers) : []),
  });
  const { origin, pathname } = new URL(url);
  const parameters = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return `${origin}${pathname}?${parameters.join("&")}`;
}
