// Codes of authenticator apps (RFC 6238): six digits of SHA-1, a new one every 30 seconds, which every app knows.
import { createHmac, timingSafeEqual } from "node:crypto";

const STEP_MS = 30_000;
const DIGITS = 6;

/** How many steps a phone's clock may be off. */
const DRIFT = 1;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Encodes a secret as apps take it when it is typed. */
export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET.charAt(Number.parseInt(five.padEnd(5, "0"), 2))).join("");
}

export const stepAt = (at: number): number => Math.floor(at / STEP_MS);

/** The code of a step (RFC 4226). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The newest step whose code this is; undefined if it is none of those around a time. */
export function matchingStep(secret: Uint8Array, code: string, at: number): number | undefined {
  const now = stepAt(at);
  const steps = Array.from({ length: 2 * DRIFT + 1 }, (_, i) => now + DRIFT - i);
  return steps.find((step) => isSame(totpCode(secret, step), code));
}

function isSame(expected: string, actual: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(actual)];
  return one.length === other.length && timingSafeEqual(one, other);
}
