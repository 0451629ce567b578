// The rows of the picture of the last nights: what became of each instance's backups, day by day.
import type { Instance } from "../../../shared/api/instances.ts";
import { type Night, nightOf, type Seen } from "../backups/night.ts";

export interface Row<B> {
  id: string;
  name: string;
  isOverdue: boolean;
  /** The nights in the order of the days, the newest first. */
  cells: Night<B>[];
  /** The last one that is completed. */
  last: B | undefined;
  /** The time of the last backup, also before these nights; null if there was none, undefined if that is not known. */
  lastAt: string | null | undefined;
  /** The last one that was drilled. */
  drilled: B | undefined;
}

interface Found<B> {
  /** Whether these are all of those days; otherwise only the newest. */
  isWhole: boolean;
  /** The backups of each, newest first. */
  instances: readonly { id: string; name: string; backups: readonly B[] }[];
  /** Their backups are overdue, perhaps since before these nights. */
  overdue: readonly { id: string; name: string; protection: Pick<Instance["protection"], "last_backup_at"> }[];
}

export function buildNightRows<B extends Seen>(
  { isWhole, instances, overdue }: Found<B>,
  days: readonly string[],
  dayOf: (backup: B) => string,
): Row<B>[] {
  const names = new Map(overdue.map(({ id, name }) => [id, name]));
  const late = new Map(overdue.map(({ id, protection }) => [id, protection.last_backup_at]));
  for (const { id, name } of instances) if (!names.has(id)) names.set(id, name);
  const backups = new Map(instances.map((each) => [each.id, each.backups]));
  // On the day of the oldest backup, some of its backups may be missing, too.
  const oldest = instances
    .flatMap((each) => each.backups)
    .reduce<B | undefined>((a, b) => (a === undefined || b.created_at < a.created_at ? b : a), undefined);
  const oldestDay = isWhole || oldest === undefined ? -1 : days.indexOf(dayOf(oldest));
  const knownDays = oldestDay === -1 ? days.length : oldestDay;
  const rows = [...names].map(([id, name]): Row<B> => {
    const ownBackups = backups.get(id) ?? [];
    const byDay = Map.groupBy(ownBackups, dayOf);
    const last = ownBackups.find(({ status }) => status === "completed");
    return {
      id,
      name,
      isOverdue: late.has(id),
      cells: days.map((day, n) => {
        const night = nightOf(byDay.get(day) ?? []);
        return night.kind === "none" && n >= knownDays ? { ...night, kind: "unknown" } : night;
      }),
      last,
      lastAt: last?.created_at ?? late.get(id),
      drilled: ownBackups.find(({ drill }) => (drill ?? null) !== null),
    };
  });
  // What went wrong last night comes before everything that went wrong in the nights before it.
  const trouble = ({ isOverdue, cells }: Row<B>): number =>
    [isOverdue, ...cells.map(({ kind }) => kind === "failed" || kind === "drillFailed")].reduce(
      (sum, isBad) => 2 * sum + Number(isBad),
      0,
    );
  return rows.toSorted((a, b) => trouble(b) - trouble(a) || a.name.localeCompare(b.name));
}
