// A data directory belongs to one process at a time: two would hide their writes from each other.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { LocalError } from "./errors.ts";

// The locks of this process. A file with our own process ID that is not in here is from before a restart of the container, where
// IDs repeat.
const heldLocks = new Set<string>();

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Killed, but its parent has not noticed yet: in a container without an init process that may never happen. */
function isZombie(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && /\) Z /.test(readFileSync(stat, "utf8"));
}

/** Returns when a process started, in ticks since the machine did; 0 where that is not known. */
function readStart(pid: number): number {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return 0;
  const text = readFileSync(stat, "utf8");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
}

const isTaken = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EEXIST";

/** Returns the function that releases the directory. */
export function lockDirectory(directory: string): () => void {
  mkdirSync(directory, { recursive: true });
  const file = join(resolve(directory), "lock");
  const release = (): void => {
    heldLocks.delete(file);
    rmSync(file, { force: true });
  };
  for (const isLastTry of [false, true]) {
    try {
      writeFileSync(file, `${process.pid} ${readStart(process.pid)}`, { flag: "wx" });
      heldLocks.add(file);
      return release;
    } catch (error) {
      if (!isTaken(error)) throw new LocalError(`${directory} is not writable: ${String(error)}`, { cause: error });
      const [pid = 0, start] = readFileSync(file, "utf8").split(" ").map(Number);
      // After a crash of the machine, another process may have the ID.
      const isSame = start === undefined || start === readStart(pid);
      if (isLastTry || heldLocks.has(file) || (pid !== process.pid && pid > 0 && isRunning(pid) && isSame))
        throw new LocalError(`${directory} is used by process ${pid}: stop that, or choose another data directory`, {
          cause: error,
        });
      rmSync(file, { force: true });
    }
  }
  return release;
}
