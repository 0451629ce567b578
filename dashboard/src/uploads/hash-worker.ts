// Reads a file part by part and hashes it, beside the page: a worker, so that the page stays responsive. It holds one part in
// memory at a time.
import { sha256 } from "@noble/hashes/sha2.js";

export interface ToHash {
  file: File;
  part_size: number;
}

export type Hashed = { number: number; sha256: string } | { whole: string } | { failed: string };

const toHex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function hash({ file, part_size }: ToHash, report: (hashed: Hashed) => void): Promise<void> {
  // The browser's own takes all bytes at once, and an archive is larger than its memory.
  const fileHash = sha256.create();
  for (let at = 0; at < file.size; at += part_size) {
    const bytes = await file.slice(at, at + part_size).arrayBuffer();
    fileHash.update(new Uint8Array(bytes));
    report({ number: at / part_size + 1, sha256: toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))) });
  }
  report({ whole: toHex(fileHash.digest()) });
}

addEventListener("message", ({ data }: MessageEvent<ToHash>) => {
  const report = (hashed: Hashed): void => postMessage(hashed);
  hash(data, report).catch((error: unknown) => report({ failed: String(error) }));
});
