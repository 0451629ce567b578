// The checksums that S3 verifies, computed from the stream.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

export const ALGORITHMS = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

interface Hasher {
  update(chunk: Buffer): void;
  digest(): Buffer;
}

export function hasher(algorithm: Algorithm | "md5"): Hasher {
  switch (algorithm) {
    case "md5":
    case "sha1":
    case "sha256":
      return createHash(algorithm);
    case "crc32":
      return running(
        0,
        (value, chunk) => crc32(chunk, value),
        (value) => bigEndian(BigInt(value), 4),
      );
    case "crc32c":
      return reflectedCrc(CRC32C, 4);
    case "crc64nvme":
      return reflectedCrc(CRC64NVME, 8);
    default:
      return algorithm satisfies never;
  }
}

function running<T>(start: T, step: (value: T, chunk: Buffer) => T, end: (value: T) => Buffer): Hasher {
  let value = start;
  return { update: (chunk) => void (value = step(value, chunk)), digest: () => end(value) };
}

// Node has neither; BigInt processes some 10 MB/s, and our own clients send SHA-256 or CRC32.
const CRC32C = 0x82f63b78n;
const CRC64NVME = 0x9a6c9329ac4bc9b5n;
const tables = new Map<bigint, bigint[]>();

function reflectedCrc(polynomial: bigint, bytes: number): Hasher {
  const table = tables.get(polynomial) ?? Array.from({ length: 256 }, (_, byte) => remainder(BigInt(byte), polynomial));
  tables.set(polynomial, table);
  const mask = (1n << BigInt(bytes * 8)) - 1n;
  const step = (value: bigint, chunk: Buffer): bigint => {
    let crc = value;
    for (const byte of chunk) crc = (crc >> 8n) ^ (table[Number(crc & 0xffn) ^ byte] ?? 0n);
    return crc;
  };
  return running(mask, step, (value) => bigEndian(value ^ mask, bytes));
}

function remainder(byte: bigint, polynomial: bigint): bigint {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
  return value;
}

const bigEndian = (value: bigint, bytes: number): Buffer => Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex");
