// What the link of a mail carries: for whom it is, and a secret. The table keeps its hash.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IdKind } from "./id-kinds.ts";
import { bytesOfId, idOfBytes } from "./ids.ts";

const ID_BYTES = 16;
const SECRET_BYTES = 24;

export const newLinkToken = (...ids: string[]): string =>
  Buffer.concat([...ids.map(bytesOfId), randomBytes(SECRET_BYTES)]).toString("base64url");

/** The IDs in a link's token, which it may have made up; undefined if it is none of ours. */
export function idsInLink(token: string, ...kinds: IdKind[]): string[] | undefined {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== kinds.length * ID_BYTES + SECRET_BYTES || bytes.toString("base64url") !== token) return undefined;
  return kinds.map((kind, i) => idOfBytes(kind, bytes.subarray(i * ID_BYTES, (i + 1) * ID_BYTES)));
}

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();

export const hashLink = (token: string): string => digest(token).toString("base64url");

export function matchesLink(hash: string, token: string): boolean {
  const [expected, actual] = [Buffer.from(hash, "base64url"), digest(token)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
