// The data of a release as the repository keeps it: the items of its table as text, and the files beside the table.
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startService, type StoredItem } from "./service.ts";
import { work } from "./work.ts";
import * as z from "zod";

const FOLDERS = import.meta.dirname;
const ITEMS = "items.jsonl";
/** What a folder of data has besides what a start writes anew. */
const FILES = ["demo.json", "executions", "local-secret", "s3", "secrets.json"];

/** The releases whose data is kept. */
export const recordedReleases = (): string[] => globSync(join(FOLDERS, "*", ITEMS)).map((file) => basename(join(file, "..")));

/** Binary values become texts, and are found again by their types. */
const bytesAsText = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
const Texts = z.array(z.string());
const asBytes = (type: string, value: unknown): unknown =>
  type === "B" && typeof value === "string"
    ? Buffer.from(value, "base64")
    : type === "BS"
      ? Texts.parse(value).map((text) => Buffer.from(text, "base64"))
      : value;

const Items = z.array(z.record(z.string(), z.custom<StoredItem[string]>()));

/** Returns the items without the times after which the table deletes them: the data is kept for years. */
export const itemsOf = (release: string): StoredItem[] =>
  Items.parse(
    readFileSync(join(FOLDERS, release, ITEMS), "utf8")
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line, asBytes)),
  ).map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => name !== "ttl")));

/** A folder of data as the release has left it, for a start with `itemsOf`. */
export function dataFolderOf(release: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), "release-data-"));
  for (const name of FILES) cpSync(join(FOLDERS, release, name), join(dataDir, name), { recursive: true });
  return dataDir;
}

/** Records what the code in a folder stores while customers use it. */
export async function recordData(release: string, folder: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "release-data-"));
  try {
    const service = await startService({ folder, dataDir });
    await work(service, "first");
    await service.api.send(z.unknown(), "POST", "/backups/uploads", { size_bytes: 1000 }); // an unfinished one
    const lines = (await service.items()).map((item) => JSON.stringify(item, bytesAsText)).toSorted();
    await service.stop();
    const target = join(FOLDERS, release);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    writeFileSync(join(target, ITEMS), `${lines.join("\n")}\n`);
    for (const name of FILES) cpSync(join(dataDir, name), join(target, name), { recursive: true });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
