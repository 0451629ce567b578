// What is in the bundles of a folder, and which of them are still what a new build would make.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { madeCode } from "./bundle-made.ts";
import { ROOT } from "./built.ts";

/** What a bundle has in it. */
const Contents = z.object({
  bytes: z.number(),
  /** The files of which it has something. */
  inputs: z.array(z.string()),
  /** Our files that were read for it, also those of which nothing is left. */
  sources: z.array(z.string()),
  /** Of the sources' content and of all that decides how they are bundled. */
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

/** The digest of what a bundle is made of. A source that is gone differs from each that there is. */
export async function computeDigest(sources: readonly string[], settings: string): Promise<string> {
  const hash = createHash("sha256").update(settings);
  for (const source of sources) hash.update(`\0${source}\0`).update(await readCode(source));
  return hash.digest("hex");
}

const readCode = async (source: string): Promise<string> =>
  madeCode(`/${source}`) ?? (await readFile(join(ROOT, source), "utf8").catch(() => "\0"));

/** Copies a bundle of an earlier build to a file, if a new one would be the same. */
export async function keepBundle(
  earlier: string,
  { id, entry, file, settings }: { id: string; entry: string; file: string; settings: string },
): Promise<Contents | undefined> {
  try {
    const { [id]: before } = await bundledContents(earlier);
    if (!before?.sources.includes(entry) || before.digest !== (await computeDigest(before.sources, settings))) return undefined;
    await mkdir(dirname(file), { recursive: true });
    await copyFile(bundleAt(earlier, id), file);
    return before;
  } catch {
    return undefined; // the build is another version's, or is being removed
  }
}
