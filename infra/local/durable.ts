// Files that are complete and present after a loss of power.
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file, so that a crash leaves the old or the new one. It is on disk when this returns, where that matters. */
export function replaceFile(
  path: string,
  text: string,
  { mode, durable = true }: { mode?: number; durable?: boolean } = {},
): void {
  writeFileSync(`${path}.new`, text, { flush: durable, ...(mode !== undefined && { mode }) });
  renameSync(`${path}.new`, path);
  if (durable) syncFolder(dirname(path));
}

/** Persists a folder's entries: a file on disk is lost with its name. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return; // on systems that cannot open folders
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
