// Which files and folders get synced to disk meanwhile, and so survive a loss of power.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Resolves the names of descriptors there. */
export const noProc = fs.existsSync("/proc/self/fd") ? undefined : "there is no /proc/self/fd here";

/** Their paths below the folder. */
export async function syncedBy(folder: string, work: () => unknown): Promise<string[]> {
  const synced: string[] = [];
  const { fsync, fsyncSync } = fs;
  const note = (descriptor: number): void => void synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`).replace(folder, ""));
  const watched = (descriptor: number, done: (error?: Error | null) => void): void => {
    note(descriptor);
    fsync(descriptor, done);
  };
  Object.assign(fs, { fsync: watched, fsyncSync: (descriptor: number) => (note(descriptor), fsyncSync(descriptor)) });
  syncBuiltinESMExports();
  try {
    await work();
    return synced;
  } finally {
    Object.assign(fs, { fsync, fsyncSync });
    syncBuiltinESMExports();
  }
}
