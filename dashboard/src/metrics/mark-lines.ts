// What was done at nearly the same time is one line across a chart: more lines would hide it.

/** Something that happened at a time, which may explain what is seen. */
export interface Mark {
  id: string;
  title: string;
  at: string;
}

export const MARK_LINES_MAX = 60;

/** The marks of each line, of which there are at most 60, the earliest first. */
export function groupMarks(marks: readonly Mark[], { from, to }: { from: Date; to: Date }): [Mark, ...Mark[]][] {
  const width = Math.max(1, to.getTime() - from.getTime()) / MARK_LINES_MAX;
  const groups = new Map<number, [Mark, ...Mark[]]>();
  for (const mark of marks.toSorted((one, other) => one.at.localeCompare(other.at))) {
    const index = Math.floor((Date.parse(mark.at) - from.getTime()) / width);
    const slot = Math.max(0, Math.min(MARK_LINES_MAX - 1, index));
    const group = groups.get(slot);
    if (group === undefined) groups.set(slot, [mark]);
    else group.push(mark);
  }
  return [...groups.values()];
}
