/** A bucket of the local S3 on disk: `data/` (bytes, under random names), `objects/` and `uploads/` (one JSON each, which names its files in data/). */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ALGORITHMS } from "./checksums.ts";
import { LocalError } from "./errors.ts";

export const checksum = z.object({
  algorithm: z.enum(ALGORITHMS),
  type: z.enum(["FULL_OBJECT", "COMPOSITE"]),
  value: z.string(),
});
const object = z.object({
  key: z.string(),
  size: z.number(),
  etag: z.string(),
  modified: z.string(),
  headers: z.record(z.string(), z.string()),
  checksum: checksum.optional(),
  /** One for each part: completing an upload copies nothing. */
  files: z.array(z.object({ file: z.string(), size: z.number() })),
});
export const part = z.object({
  file: z.string(),
  size: z.number(),
  etag: z.string(),
  modified: z.string(),
  checksums: z.partialRecord(z.enum(ALGORITHMS), z.string()),
});
const upload = z.object({
  id: z.string(),
  key: z.string(),
  initiated: z.string(),
  headers: z.record(z.string(), z.string()),
  checksum: checksum.omit({ value: true }).optional(),
  parts: z.record(z.string(), part),
});
export type StoredObject = z.infer<typeof object>;
export type Upload = z.infer<typeof upload>;
export type Part = z.infer<typeof part>;

export type Bucket = {
  folder: string;
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
};

export async function openBucket(folder: string): Promise<Bucket> {
  for (const name of ["data", "objects", "uploads"]) await mkdir(join(folder, name), { recursive: true });
  const objects = await readAll(join(folder, "objects"), object);
  const kept = new Set(objects.flatMap(({ files }) => files).map(({ file }) => file));
  // An upload whose files an object has was completed just before a crash.
  const isOpen = ({ parts }: Upload): boolean => Object.values(parts).every(({ file }) => !kept.has(file));
  const uploads = (await readAll(join(folder, "uploads"), upload)).filter(isOpen);
  const used = new Set([...kept, ...uploads.flatMap(({ parts }) => Object.values(parts)).map(({ file }) => file)]);
  // What a crash left between writing the bytes and naming them.
  for (const file of await readdir(join(folder, "data"))) if (!used.has(file)) rmSync(join(folder, "data", file));
  return {
    folder,
    objects: new Map(objects.map((stored) => [stored.key, stored])),
    uploads: new Map(uploads.map((stored) => [stored.id, stored])),
  };
}

async function readAll<T>(folder: string, schema: z.ZodType<T>): Promise<T[]> {
  return (await readdir(folder))
    .filter((file) => file.endsWith(".json"))
    .map((file) => {
      try {
        return schema.parse(JSON.parse(readFileSync(join(folder, file), "utf8")));
      } catch (cause) {
        throw new LocalError(`${join(folder, file)} cannot be read: remove it, or start with --reset to begin anew`, { cause });
      }
    });
}

// The names of files are hashes and random ids, so that no key can leave the folder.
const objectFile = (bucket: Bucket, key: string): string =>
  join(bucket.folder, "objects", `${createHash("sha256").update(key).digest("hex")}.json`);
const uploadFile = (bucket: Bucket, id: string): string => join(bucket.folder, "uploads", `${id}.json`);
export const dataFile = (bucket: Bucket, file: string): string => join(bucket.folder, "data", file);

/** Synchronous, so that no other request comes between what was read and what is written. */
function writeJson(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value));
  renameSync(`${path}.new`, path);
}

export function removeData(bucket: Bucket, files: { file: string }[]): void {
  for (const { file } of files) rmSync(dataFile(bucket, file), { force: true });
}

export function keepUpload(bucket: Bucket, stored: Upload): void {
  bucket.uploads.set(stored.id, stored);
  writeJson(uploadFile(bucket, stored.id), stored);
}

export function dropUpload(bucket: Bucket, { id }: Upload): void {
  bucket.uploads.delete(id);
  rmSync(uploadFile(bucket, id), { force: true });
}

export function keepObject(bucket: Bucket, stored: StoredObject): void {
  const before = bucket.objects.get(stored.key);
  writeJson(objectFile(bucket, stored.key), stored);
  bucket.objects.set(stored.key, stored);
  removeData(bucket, before?.files ?? []);
}

export function dropObject(bucket: Bucket, key: string): void {
  const before = bucket.objects.get(key);
  bucket.objects.delete(key);
  rmSync(objectFile(bucket, key), { force: true });
  removeData(bucket, before?.files ?? []);
}
