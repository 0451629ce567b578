// The rows of the picture of the last nights: what became of each instance's backups, day by day.
import { type Night, nightOf, type Seen } from "../backups/night.ts";

export interface Row<B> {
  id: string;
  name: string;
  /** In the order of the days, the newest first. */
  cells: Night<B>[];
  /** The last one that is completed. */
  last: B | undefined;
  /** The last one that was drilled. */
  drilled: B | undefined;
}

interface Found<B> {
  /** Newest first. */
  backups: readonly B[];
  /** Their backups are overdue, perhaps since before these nights. */
  overdue: readonly { id: string; name: string }[];
}

export function rowsOf<B extends Seen>(
  { backups, overdue }: Found<B>,
  days: readonly string[],
  dayOf: (backup: B) => string,
): Row<B>[] {
  const names = new Map(overdue.map(({ id, name }) => [id, name]));
  const late = new Set(names.keys());
  const made = Map.groupBy(backups, ({ instance_id }) => instance_id ?? "");
  made.delete(""); // uploads
  for (const [id, [newest]] of made) if (!names.has(id)) names.set(id, newest?.instance_name ?? id);
  const rows = [...names].map(([id, name]): Row<B> => {
    const own = made.get(id) ?? [];
    const byDay = Map.groupBy(own, dayOf);
    return {
      id,
      name,
      cells: days.map((day) => nightOf(byDay.get(day) ?? [])),
      last: own.find(({ status }) => status === "completed"),
      drilled: own.find(({ drill }) => (drill ?? null) !== null),
    };
  });
  const trouble = ({ id, cells }: Row<B>): number =>
    (late.has(id) ? days.length + 1 : 0) + cells.filter(({ kind }) => kind === "failed" || kind === "drillFailed").length;
  return rows.toSorted((a, b) => trouble(b) - trouble(a) || a.name.localeCompare(b.name));
}
