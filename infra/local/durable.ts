// Files that are whole, and there, after a loss of power.
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file, so that a crash leaves the old one or the new one. It is on disk when this returns, where that matters. */
export function replaceFile(
  path: string,
  text: string,
  { mode, durable = true }: { mode?: number; durable?: boolean } = {},
): void {
  writeFileSync(`${path}.new`, text, { flush: durable, ...(mode !== undefined && { mode }) });
  renameSync(`${path}.new`, path);
  if (durable) syncFolder(dirname(path));
}

/** Persists which files a folder has: a file that is on disk is lost with its name. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return; // where folders cannot be opened
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
