// AWS Signature Version 4, the checking side: who signed a request, and whether it is unmodified.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { AwsFault } from "../errors.ts";

export interface HttpCall {
  method: string;
  /** The path as it was sent, without the query: the signed text must not be normalized. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
}

export interface Signed {
  accessKeyId: string;
  date: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
  time: string;
  /** Only a presigned URL has one. */
  lifetimeSeconds?: number;
}

const CLOCK_SKEW_SECONDS = 15 * 60; // AWS's own tolerance
const LONGEST_LIFETIME_SECONDS = 7 * 24 * 3600; // AWS's own limit
const CREDENTIAL = /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/;
const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;

export function readCall(request: IncomingMessage): HttpCall {
  const [path = "/", query = ""] = (request.url ?? "/").split(/\?(.*)/s);
  const headers = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(",").trim()]);
  return { method: request.method ?? "GET", path, query: new URLSearchParams(query), headers: Object.fromEntries(headers) };
}

/** Undefined: not signed, or not in a way that AWS reads. */
export function readSignature({ query, headers }: HttpCall): Signed | undefined {
  const header = AUTHORIZATION.exec(headers["authorization"] ?? "");
  const fromQuery = query.get("X-Amz-Algorithm") === "AWS4-HMAC-SHA256";
  const credential = CREDENTIAL.exec((fromQuery ? query.get("X-Amz-Credential") : header?.[1]) ?? "");
  const signedHeaders = fromQuery ? query.get("X-Amz-SignedHeaders") : header?.[2];
  const signature = fromQuery ? query.get("X-Amz-Signature") : header?.[3];
  const time = fromQuery ? query.get("X-Amz-Date") : headers["x-amz-date"];
  const [, accessKeyId, date, region, service] = credential ?? [];
  if (!accessKeyId || !date || !region || !service || !signedHeaders || !signature || !time) return undefined;
  const lifetime = fromQuery ? { lifetimeSeconds: Number(query.get("X-Amz-Expires") ?? Number.NaN) } : {};
  return { accessKeyId, date, region, service, signedHeaders: signedHeaders.split(";"), signature, time, ...lifetime };
}

const IN_QUERY = ["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires"].map((name) => `X-Amz-${name}`);

/** What S3 rejects before it looks at a signature: more than one, or a presigned URL that is not complete. */
export function requireOneSignature({ query, headers }: HttpCall): void {
  const authorization = headers["authorization"];
  const inQuery = IN_QUERY.filter((name) => query.has(name));
  if (authorization !== undefined && inQuery.length > 0)
    throw new AwsFault(
      "InvalidArgument",
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
    );
  if (authorization !== undefined && !authorization.startsWith("AWS4-HMAC-SHA256 "))
    throw new AwsFault("InvalidArgument", "Unsupported Authorization Type");
  if (inQuery.length === 0) return;
  const reject = (message: string): never => {
    throw new AwsFault("AuthorizationQueryParametersError", message);
  };
  if (inQuery.length < IN_QUERY.length)
    reject(
      `Query-string authentication version 4 requires the ${IN_QUERY.slice(0, -1).join(", ")}, and X-Amz-Expires parameters.`,
    );
  if (IN_QUERY.some((name) => query.getAll(name).length > 1)) reject("A parameter of the signature must not be repeated");
  if (query.get("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") reject('X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"');
  if (!CREDENTIAL.test(query.get("X-Amz-Credential") ?? ""))
    reject("Error parsing the X-Amz-Credential parameter; the Credential is mal-formed");
  if (Number.isNaN(parseTime(query.get("X-Amz-Date") ?? "")))
    reject("X-Amz-Date must be in the ISO8601 Long Format yyyyMMdd'T'HHmmss'Z'");
  if (!/^\d+$/.test(query.get("X-Amz-Expires") ?? "")) reject("X-Amz-Expires should be a number");
  if (query.get("X-Amz-SignedHeaders")?.split(";").includes("host") !== true) reject("The header host must be signed");
}

/** Throws the error that AWS would return. */
export function checkSignature(
  call: HttpCall,
  signed: Signed,
  { secretAccessKey, payloadHash }: { secretAccessKey: string; payloadHash: string },
  now: number,
): void {
  const s3 = signed.service === "s3";
  const reject = (code: string, message: string): never => {
    throw s3 ? new AwsFault(code, message, 403) : new AwsFault("InvalidSignatureException", message);
  };
  const ageSeconds = (now - parseTime(signed.time)) / 1000;
  if (Number.isNaN(ageSeconds) || !signed.time.startsWith(signed.date))
    reject("AccessDenied", "The signature's date is not valid");
  if (signed.lifetimeSeconds !== undefined) {
    if (!(signed.lifetimeSeconds > 0 && signed.lifetimeSeconds <= LONGEST_LIFETIME_SECONDS))
      throw new AwsFault("AuthorizationQueryParametersError", "X-Amz-Expires must be between 1 second and 7 days");
    if (ageSeconds > signed.lifetimeSeconds) reject("AccessDenied", "Request has expired");
    if (ageSeconds < -CLOCK_SKEW_SECONDS) reject("AccessDenied", "Request is not valid yet");
  } else if (Math.abs(ageSeconds) > CLOCK_SKEW_SECONDS) {
    reject("RequestTimeTooSkewed", "The difference between the request time and the server's time is too large.");
  }
  const unsigned = Object.keys(call.headers)
    .filter((name) => name.startsWith("x-amz-") || name === "host")
    .filter((name) => !signed.signedHeaders.includes(name));
  if (unsigned.length > 0)
    reject("AccessDenied", `There were headers present in the request which were not signed: ${unsigned.join(", ")}`);
  const expected = computeSignature(call, signed, secretAccessKey, payloadHash);
  const signature = Buffer.from(signed.signature, "hex");
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    reject(
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.",
    );
}

export const sha256Hex = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

function computeSignature(call: HttpCall, signed: Signed, secretAccessKey: string, payloadHash: string): Buffer {
  const query = [...call.query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y));
  const canonicalRequest = [
    call.method,
    call.path
      .split("/")
      .map((segment) => encode(decode(segment)))
      // Only S3 takes paths as they are.
      .map((segment) => (signed.service === "s3" ? segment : encode(segment)))
      .join("/"),
    query.map(([name, value]) => `${name}=${value}`).join("&"),
    ...signed.signedHeaders.map((name) => `${name}:${(call.headers[name] ?? "").replaceAll(/ +/g, " ")}`),
    "",
    signed.signedHeaders.join(";"),
    payloadHash,
  ].join("\n");
  const scope = [signed.date, signed.region, signed.service, "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", signed.time, scope.join("/"), sha256Hex(canonicalRequest)].join("\n");
  return hmac(deriveKey(secretAccessKey, scope), toSign);
}

const KEYS_KEPT = 1_000; // one per function, day and service
const keys = new Map<string, Buffer | string>();

/** Computed once per secret and scope, as in the SDKs: four of the five digests of a request. */
function deriveKey(secretAccessKey: string, scope: readonly string[]): Buffer | string {
  const name = [secretAccessKey, ...scope].join("\0");
  const key = keys.get(name) ?? scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  if (!keys.has(name) && keys.size >= KEYS_KEPT) keys.clear();
  keys.set(name, key);
  return key;
}

const hmac = (key: Buffer | string, data: string): Buffer => createHmac("sha256", key).update(data).digest();
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsFault("InvalidURI", "Couldn't parse the specified URI.");
  }
}

/** "20261120T120000Z" */
const parseTime = (time: string): number =>
  Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
