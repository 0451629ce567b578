// A bucket of the local S3 on disk: `data/` (bytes, under random names), `objects/` and `uploads/` (one JSON each, which names
// its files in data/).
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { ALGORITHMS } from "./checksums.ts";
import { replaceFile, syncFolder } from "../durable.ts";
import { LocalError } from "../errors.ts";

export const Checksum = z.object({
  algorithm: z.enum(ALGORITHMS),
  type: z.enum(["FULL_OBJECT", "COMPOSITE"]),
  value: z.string(),
});
const StoredObject = z.object({
  key: z.string(),
  size: z.number(),
  etag: z.string(),
  modified: z.string(),
  headers: z.record(z.string(), z.string()),
  checksum: Checksum.optional(),
  /** One per part: completing an upload copies nothing. */
  files: z.array(z.object({ file: z.string(), size: z.number() })),
});
export const Part = z.object({
  file: z.string(),
  size: z.number(),
  etag: z.string(),
  modified: z.string(),
  checksums: z.partialRecord(z.enum(ALGORITHMS), z.string()),
});
const Upload = z.object({
  id: z.string(),
  key: z.string(),
  initiated: z.string(),
  headers: z.record(z.string(), z.string()),
  checksum: Checksum.omit({ value: true }).optional(),
  parts: z.record(z.string(), Part),
});
export type StoredObject = z.infer<typeof StoredObject>;
export type Upload = z.infer<typeof Upload>;
export type Part = z.infer<typeof Part>;

export interface Bucket {
  folder: string;
  /** Whether acknowledged data must survive a loss of power; a temporary folder is not worth the wait. */
  durable: boolean;
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
}

const FOLDERS = ["data", "objects", "uploads"];
/** The suffix of an unreadable record that the operator has set aside. */
const SET_ASIDE = ".damaged";

export async function openBucket(folder: string, durable: boolean): Promise<Bucket> {
  for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
  if (durable) for (const path of [dirname(folder), folder, ...FOLDERS.map((name) => join(folder, name))]) syncFolder(path);
  const objects = await readAll(join(folder, "objects"), StoredObject);
  const referenced = new Set(objects.flatMap(({ files }) => files).map(({ file }) => file));
  // If an object has the files of an upload, the upload was completed just before a crash.
  const isOpen = ({ parts }: Upload): boolean => Object.values(parts).every(({ file }) => !referenced.has(file));
  const uploads = (await readAll(join(folder, "uploads"), Upload)).filter(isOpen);
  const used = new Set([...referenced, ...uploads.flatMap(({ parts }) => Object.values(parts)).map(({ file }) => file)]);
  // Files that a crash left between writing the bytes and naming them; all of them stay while a damaged record may name them.
  const records = [...(await readdir(join(folder, "objects"))), ...(await readdir(join(folder, "uploads")))];
  if (!records.some((file) => file.endsWith(SET_ASIDE)))
    for (const file of await readdir(join(folder, "data"))) if (!used.has(file)) rmSync(join(folder, "data", file));
  return {
    folder,
    durable,
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
        throw new LocalError(
          `${join(folder, file)} cannot be read, so nothing was changed: restore a good copy, or rename it to ${file}${SET_ASIDE} to start without what it describes (no data is deleted while that file exists)`,
          { cause },
        );
      }
    });
}

// The names of files are hashes and random IDs, so that no key can leave the folder.
const objectFile = (bucket: Bucket, key: string): string =>
  join(bucket.folder, "objects", `${createHash("sha256").update(key).digest("hex")}.json`);
const uploadFile = (bucket: Bucket, id: string): string => join(bucket.folder, "uploads", `${id}.json`);
export const dataFile = (bucket: Bucket, file: string): string => join(bucket.folder, "data", file);

/** Synchronous, so that no other request comes between the read and the write. On disk when it returns, where that matters. */
function writeJson({ durable }: Bucket, path: string, value: unknown): void {
  replaceFile(path, JSON.stringify(value), { durable });
}

/** Called before the data that it names is removed. */
function removeJson({ durable }: Bucket, path: string): void {
  rmSync(path, { force: true });
  if (durable) syncFolder(dirname(path));
}

export function removeData(bucket: Bucket, files: { file: string }[]): void {
  for (const { file } of files) rmSync(dataFile(bucket, file), { force: true });
}

export function writeUpload(bucket: Bucket, stored: Upload): void {
  bucket.uploads.set(stored.id, stored);
  writeJson(bucket, uploadFile(bucket, stored.id), stored);
}

export function removeUpload(bucket: Bucket, { id }: Upload): void {
  bucket.uploads.delete(id);
  removeJson(bucket, uploadFile(bucket, id));
}

export function writeObject(bucket: Bucket, stored: StoredObject): void {
  const before = bucket.objects.get(stored.key);
  writeJson(bucket, objectFile(bucket, stored.key), stored);
  bucket.objects.set(stored.key, stored);
  removeData(bucket, before?.files ?? []);
}

export function removeObject(bucket: Bucket, key: string): void {
  const before = bucket.objects.get(key);
  bucket.objects.delete(key);
  removeJson(bucket, objectFile(bucket, key));
  removeData(bucket, before?.files ?? []);
}
