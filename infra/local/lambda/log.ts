// The log of functions: appended to a file each, with the last lines in memory.
import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from "node:fs";
import { join } from "node:path";

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LINES_KEPT = 1000;

export interface Log {
  write: (chunk: string) => void;
  lines: string[];
  close: () => void;
}

/** Appends to `<directory>/<name>.log`, and keeps the last lines in memory; without a directory, only in memory. */
export function openLog(directory: string | undefined, name: string): Log {
  const lines: string[] = [];
  let stream: WriteStream | undefined;
  let incompleteLine = "";
  if (directory !== undefined) {
    const path = join(directory, `${name}.log`);
    mkdirSync(directory, { recursive: true });
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(path, `${path}.old`);
    stream = createWriteStream(path, { flags: "a" });
    // A full disk must not end the service: the last lines are still in memory.
    stream.on("error", () => (stream = undefined));
  }
  return {
    lines,
    write: (chunk) => {
      stream?.write(chunk);
      const parts = (incompleteLine + chunk).split("\n");
      incompleteLine = parts.pop() ?? "";
      lines.push(...parts);
      lines.splice(0, lines.length - LINES_KEPT);
    },
    close: () => stream?.end(),
  };
}
