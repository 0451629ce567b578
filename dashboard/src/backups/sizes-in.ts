// The sizes of backups at regular times, as a chart shows them.
import type { Backup } from "../../../shared/api/backups.ts";
import { DAY_MS } from "../../../shared/domain/durations.ts";

/** More are no use on a screen. */
const POINTS_MAX = 300;

interface Sizes {
  /** The beginning of the first value, and the seconds from one value to the next: whole days. */
  from: string;
  step: number;
  /** Size of the newest backup of each step; null if a step has none. */
  values: (number | null)[];
}

/** Takes backups in any order; undefined if no size is known. */
export function sizesIn(backups: readonly Pick<Backup, "created_at" | "size_bytes">[]): Sizes | undefined {
  const sized = backups
    .flatMap(({ created_at, size_bytes }) => (size_bytes === null ? [] : [{ at: Date.parse(created_at), size: size_bytes }]))
    .toSorted((a, b) => a.at - b.at);
  const [first, last] = [sized[0], sized.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const days = Math.floor((last.at - first.at) / DAY_MS) + 1;
  const stepMs = Math.ceil(days / POINTS_MAX) * DAY_MS;
  const values = Array.from<number | null>({ length: Math.floor((last.at - first.at) / stepMs) + 1 }).fill(null);
  for (const { at, size } of sized) values[Math.floor((at - first.at) / stepMs)] = size;
  return { from: new Date(first.at).toISOString(), step: stepMs / 1000, values };
}
