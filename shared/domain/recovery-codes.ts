// Codes for who has lost their second factor. They are random enough that a plain hash of one cannot be guessed.
import { createHash, randomBytes } from "node:crypto";
import { BASE32 } from "./base32.ts";

const CHARACTERS = 16;

/** 80 random bits: `7k2m-9xq4-hd0v-w3ta`. */
export const newRecoveryCode = (): string =>
  (
    Array.from(randomBytes(CHARACTERS), (byte) => BASE32.charAt(byte % BASE32.length))
      .join("")
      .match(/.{4}/g) ?? []
  ).join("-");

/** However it was typed: without its hyphens, in capital letters, with an O for a zero. */
const plain = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");

export const hashRecoveryCode = (userId: string, code: string): string =>
  createHash("sha256")
    .update(`${userId}:${plain(code)}`)
    .digest("base64url");
