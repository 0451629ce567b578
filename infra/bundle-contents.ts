// What is in the bundles of a folder, and which of them are still what a new build would make.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { generateModule } from "./generated-modules.ts";
import { ROOT } from "./built.ts";

/** What a bundle has in it. */
const Contents = z.object({
  bytes: z.number(),
  /** The files of which it has something. */
  inputs: z.array(z.string()),
  /** Our files that were read for it, also those of which nothing is left. */
  sources: z.array(z.string()),
  /** Hash of the sources and of everything that decides how they are bundled. */
  digest: z.string(),
});
export type Contents = z.infer<typeof Contents>;
const CONTENTS = "contents.json";

/** A bundle's file in a folder of bundles. */
export const bundleAt = (folder: string, id: string): string => join(folder, id, "index.mjs");

/** The contents of the bundles in a folder, by the functions' IDs. */
export const bundledContents = async (outDir: string): Promise<Record<string, Contents>> =>
  z.record(z.string(), Contents).parse(JSON.parse(await readFile(join(outDir, CONTENTS), "utf8")));

export const writeContents = async (outDir: string, contents: Readonly<Record<string, Contents>>): Promise<void> =>
  writeFile(join(outDir, CONTENTS), JSON.stringify(contents));

/** Computes the digests of what bundles are made of, and reads each source once. */
export function createDigests(settings: string): (sources: readonly string[]) => Promise<string> {
  const hashes = new Map<string, Promise<string>>();
  const hash = (source: string): Promise<string> => {
    const cached = hashes.get(source) ?? hashSource(source);
    hashes.set(source, cached);
    return cached;
  };
  return async (sources) => {
    const lines = await Promise.all(sources.map(async (source) => `${source} ${await hash(source)}`));
    return createHash("sha256")
      .update([settings, ...lines].join("\n"))
      .digest("hex");
  };
}

/** A source that is gone differs from each that there is. */
async function hashSource(source: string): Promise<string> {
  const code = generateModule(`/${source}`) ?? (await readFile(join(ROOT, source), "utf8").catch(() => undefined));
  return code === undefined ? "gone" : createHash("sha256").update(code).digest("hex");
}

/** What an earlier build can give to a new one; nothing if it is of another version, or being removed. */
export const readEarlier = async (folder: string | undefined): Promise<Record<string, Contents>> =>
  folder === undefined ? {} : bundledContents(folder).catch(() => ({}));

/** Copies a bundle; false if it is being removed. */
export async function copyBundle(from: string, to: string): Promise<boolean> {
  try {
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
    return true;
  } catch {
    return false;
  }
}
