// Stores builds in a folder named by the fingerprint of their sources, and rebuilds only when these have changed.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { HOUR_MS } from "../shared/domain/durations.ts";

export const ROOT = resolve(import.meta.dirname, "..");

/** A process that started earlier may still read a build of an hour ago; of two hours ago, no more. */
const KEPT_HOURS = 2;

const DRAFT = "draft-";

/**
 * The folder of that name in the cache: if there is none yet, builds it completely or not at all. The cache is a folder of its
 * own: whatever else is in there and old is removed.
 */
export async function builtOnce(cache: string, name: string, build: (draft: string) => Promise<unknown>): Promise<string> {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, DRAFT));
  try {
    await build(draft);
    await removeOlder(cache);
    // If another process was faster, its build is the same.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** The newest complete build in a cache. */
export async function newestBuild(cache: string): Promise<string | undefined> {
  const names = (await readdir(cache)).filter((name) => !name.startsWith(DRAFT));
  const ages = await Promise.all(names.map(async (name) => ({ name, age: (await readAge(join(cache, name))) ?? Infinity })));
  const [newest] = ages.toSorted((a, b) => a.age - b.age);
  return newest && join(cache, newest.name);
}

async function removeOlder(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const age = await readAge(join(cache, name));
    if (age !== undefined && age > KEPT_HOURS * HOUR_MS) await rm(join(cache, name), { recursive: true, force: true });
  }
}

/** Returns the age of a file in milliseconds; undefined if another process has moved or removed it meanwhile. */
const readAge = async (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => undefined,
  );

/** The fingerprint of the content of files, and of all files in folders. */
export async function computeFingerprint(folders: readonly string[]): Promise<string> {
  const files = await Promise.all(folders.map(filesIn));
  const hash = createHash("sha256");
  for (const file of files.flat().toSorted())
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}

async function filesIn(folder: string): Promise<string[]> {
  const path = resolve(ROOT, folder);
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
