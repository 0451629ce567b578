// IDs: TypeID strings (a prefix, then a UUIDv7 in base32), sortable by creation time.
//
// Our own, because the library brings a second one and is a fiftieth of the largest function's size.
import { randomBytes } from "node:crypto";
import { ID_PREFIXES, type IdKind, idForm } from "./id-kinds.ts";
import { BASE32 } from "./base32.ts";

const RANDOM_BYTES = 10;

export const newId = (kind: IdKind): string => idFrom(kind, Date.now(), randomBytes(RANDOM_BYTES));

/** The ID for a time (ms since 1970), with ten bytes as its random part: 74 bits of them, the rest is the UUID's version. */
export function idFrom(kind: IdKind, at: number, random: Uint8Array): string {
  const [versioned = 0, second = 0, variant = 0, ...rest] = random;
  const tail = [0x70 | (versioned & 0x0f), second, 0x80 | (variant & 0x3f), ...rest.slice(0, RANDOM_BYTES - 3)];
  const uuid = (BigInt(at) << 80n) | tail.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  return `${ID_PREFIXES[kind]}_${base32(uuid)}`;
}

const CHARACTERS = 26; // 130 bits for 128

function base32(value: bigint): string {
  return Array.from({ length: CHARACTERS }, (_, index) =>
    BASE32.charAt(Number((value >> BigInt(5 * (CHARACTERS - 1 - index))) & 31n)),
  ).join("");
}

/** The 16 bytes of an id's UUID: six of its time (ms since 1970), then its random part. */
export function bytesOfId(id: string): Buffer {
  const characters = id.slice(-CHARACTERS).split("");
  const value = characters.reduce((sum, character) => (sum << 5n) | BigInt(BASE32.indexOf(character)), 0n);
  return Buffer.from(value.toString(16).padStart(32, "0"), "hex");
}

/** An id's UUID in 22 characters, and the id from them. */
export const shorten = (id: string): string => bytesOfId(id).toString("base64url");
export const bytesOfShort = (short: string): Buffer => Buffer.from(short, "base64url");
export const idOfShort = (kind: IdKind, short: string): string => idOfBytes(kind, bytesOfShort(short));
export const idOfBytes = (kind: IdKind, bytes: Uint8Array): string =>
  `${ID_PREFIXES[kind]}_${base32(BigInt(`0x${Buffer.from(bytes).toString("hex")}`))}`;

/** Returns when an id was made (ms since 1970). */
export const timeOfId = (id: string): number => bytesOfId(id).readUIntBE(0, 6);
export const timeOfShort = (short: string): number => bytesOfShort(short).readUIntBE(0, 6);

const PATTERNS = new Map<IdKind, RegExp>();

/** Whether a string has the form of an id of this kind; it may still name nothing. */
export function isId(kind: IdKind, value: string): boolean {
  const pattern = PATTERNS.get(kind) ?? new RegExp(idForm(kind).pattern);
  PATTERNS.set(kind, pattern);
  return pattern.test(value);
}
