// A position says where a reader is in a log that grows. In an instance's log it is a time, in an operation's a number of lines:
// what is left out of a line may change once the job behind it has ended, and with it the line's length.

/** The position of a reader in a log: the time of the last line that it has seen, and how many lines of this time it has seen. */
interface Position {
  at: string;
  seenCount: number;
}

export const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\.(\d{1,6})$/;

export function readPosition(text: string): Position {
  const [, at = "", seenCount = "0"] = POSITION.exec(text) ?? [];
  return { at, seenCount: Number(seenCount) };
}

/** A line as the machine sends it: a message may have several, and its last ones may come later. */
interface Timed {
  at: string;
}

/** Returns the position behind the last of the lines from a time on. */
export function positionAfter(all: readonly Timed[], { at: since, seenCount }: Position): string {
  const at = all.at(-1)?.at;
  return at === undefined ? `${since}.${seenCount}` : `${at}.${all.filter((line) => line.at === at).length}`;
}

/**
 * The lines behind a position, of a log that is read from the time of it on. Whether some are missing in between: those that were
 * seen are no longer there.
 */
export function linesBehind<T extends Timed>(all: readonly T[], { at, seenCount }: Position): { lines: T[]; isGap: boolean } {
  const same = all.filter((line) => line.at === at).length;
  const later = all.filter((line) => line.at > at);
  return { lines: [...all.filter((line) => line.at === at).slice(seenCount), ...later], isGap: same < seenCount };
}

/** Returns the line that replaces the first lines of an operation's log. */
export const leftOut = (lines: number): string => `… ${lines} earlier lines\n`;
const LEFT_OUT = /^… (\d{1,9}) earlier lines\n/;

/** What an operation's log has after the first `seenCount` lines. */
export function workBehind(text: string, seenCount: number): { text: string; next: string } {
  const [head = "", before = "0"] = LEFT_OUT.exec(text) ?? [];
  const lines = text.slice(head.length).match(/[^\n]*\n/g) ?? [];
  const next = String(Math.max(seenCount, Number(before) + lines.length));
  return { text: seenCount === 0 ? text : lines.slice(Math.max(0, seenCount - Number(before))).join(""), next };
}
