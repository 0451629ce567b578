// The value of an API token: a prefix, random characters, and a checksum that detects typos without a lookup.
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Environment } from "./environments.ts";
import { idFrom } from "./ids.ts";

type TokenPrefix = "svc_live_" | "svc_test_";

export const tokenPrefix = (environment: Environment): TokenPrefix => (environment === "live" ? "svc_live_" : "svc_test_");

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 30 characters of 5.95 bits each: 178 bits, more than anyone can guess. */
const RANDOM_CHARACTERS = 30;
/** A CRC32 is below 62^6. */
const CHECKSUM_CHARACTERS = 6;

export function newTokenValue(environment: Environment): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => BASE62.charAt(randomInt(BASE62.length))).join("");
  const body = `${tokenPrefix(environment)}${random}`;
  return body + checksum(body);
}

const SHAPE = new RegExp(`^[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** Whether a value is one that this environment could have given out. */
export function isTokenValue(environment: Environment, value: string): boolean {
  const prefix = tokenPrefix(environment);
  if (!value.startsWith(prefix) || !SHAPE.test(value.slice(prefix.length))) return false;
  return value.slice(-CHECKSUM_CHARACTERS) === checksum(value.slice(0, -CHECKSUM_CHARACTERS));
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

export const hashToken = (value: string): Buffer => createHash("sha256").update(value).digest();

/**
 * The id of a token carries in its random part (74 bits) the head of its value's hash. So one item, under that part, is found
 * by the value that a request brings as well as by the id that the dashboard names. It reveals nothing about the value.
 */
export const tokenIdFor = (hash: Uint8Array, at: number): string => idFrom("token", at, hash);

/** The last 16 of an id's 26 characters: what does not come from its time. */
export const fingerprintOfId = (id: string): string => id.slice(-16);
export const fingerprintOfHash = (hash: Uint8Array): string => fingerprintOfId(tokenIdFor(hash, 0));
