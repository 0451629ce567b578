// Where a reader is in a log that grows.
import type { LogLine } from "./log-levels.ts";

/** Where a reader is in a log: the time of the last message that it has seen, and how many of this time it has seen. */
interface Position {
  at: string;
  seen: number;
}

export const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\.(\d{1,6})$/;

export function readPosition(text: string): Position {
  const [, at = "", seen = "0"] = POSITION.exec(text) ?? [];
  return { at, seen: Number(seen) };
}

/** Behind the last of the messages from a time on. */
export function positionAfter(all: readonly LogLine[], { at: since, seen }: Position): string {
  const at = all.at(-1)?.at;
  return at === undefined ? `${since}.${seen}` : `${at}.${all.filter((line) => line.at === at).length}`;
}

/**
 * The messages behind a position, of a log that is read from the time of it on. Whether some are missing in between: those that
 * were seen are no longer there.
 */
export function linesBehind(all: readonly LogLine[], { at, seen }: Position): { lines: LogLine[]; isGap: boolean } {
  const same = all.filter((line) => line.at === at).length;
  const later = all.filter((line) => line.at > at);
  return { lines: [...all.filter((line) => line.at === at).slice(seen), ...later], isGap: same < seen };
}
