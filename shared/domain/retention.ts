// Which backups a policy keeps: the rules of restic 0.18's `forget --keep-*`.
import { DAY_MS } from "./durations.ts";
import { wallTime } from "./time-zones.ts";

export const KEEP_RULES = ["last", "hourly", "daily", "weekly", "monthly", "yearly"] as const;
export type KeepRule = (typeof KEEP_RULES)[number];
type Keep = { [R in KeepRule]?: number | undefined };

/** A completed scheduled backup. */
export interface Candidate {
  id: string;
  /** The time when its run was due (ISO 8601). */
  due_at: string;
  locked: boolean;
  /** Whether an operation holds it or reads its archive. */
  in_use: boolean;
}

/** What is kept, with the rules that keep it, and what may be removed, oldest first. */
interface Retained<C> {
  retained_by: ReadonlyMap<string, KeepRule[]>;
  removable: C[];
}

/**
 * Applies the rules. Each rule goes through the backups from the newest to the oldest and keeps the newest of each hour, day,
 * week, month or year, as many as its number; while its number is not used up, it also keeps the oldest. Locked backups count
 * like others. A rule that only a newer version knows may keep any of them: nothing is removable.
 */
export function retain<C extends Candidate>(keep: Keep, timezone: string, backups: readonly C[]): Retained<C> {
  const newestFirst = backups.toSorted(byAge);
  const rules = KEEP_RULES.map((rule) => ({ rule, remaining: keep[rule] ?? 0, period: "" }));
  const retained_by = new Map<string, KeepRule[]>();
  for (const [index, { id, due_at }] of newestFirst.entries()) {
    const isOldest = index === newestFirst.length - 1;
    const wall = new Date(wallTime(timezone, Date.parse(due_at)));
    const appliedRules: KeepRule[] = [];
    for (const state of rules) {
      if (state.remaining === 0) continue;
      const period = state.rule === "last" ? `${index}` : formatPeriod(state.rule, wall);
      if (period === state.period && !isOldest) continue;
      appliedRules.push(state.rule);
      state.period = period;
      state.remaining -= 1;
    }
    retained_by.set(id, appliedRules);
  }
  const removable = newestFirst.filter(
    ({ id, locked, in_use }, index) => index > 0 && !locked && !in_use && retained_by.get(id)?.length === 0,
  );
  const hasUnknownRule = Object.keys(keep).some((name) => !KEEP_RULES.some((rule) => rule === name));
  return { retained_by, removable: hasUnknownRule ? [] : removable.toReversed() };
}

/** Sorts from the newest to the oldest. */
export const byAge = (a: Pick<Candidate, "id" | "due_at">, b: Pick<Candidate, "id" | "due_at">): number =>
  compare(b.due_at, a.due_at) || compare(b.id, a.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function formatPeriod(rule: Exclude<KeepRule, "last">, wall: Date): string {
  switch (rule) {
    case "hourly":
      return wall.toISOString().slice(0, 13);
    case "daily":
      return wall.toISOString().slice(0, 10);
    case "weekly":
      return formatWeek(wall);
    case "monthly":
      return wall.toISOString().slice(0, 7);
    case "yearly":
      return wall.toISOString().slice(0, 4);
    default:
      throw new Error(`No such rule: ${String(rule satisfies never)}`);
  }
}

/** The ISO 8601 week, which belongs to the year of its Thursday. */
function formatWeek(wall: Date): string {
  const day = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate());
  const thursday = new Date(day + (4 - (wall.getUTCDay() || 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  return `${year}-W${1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS))}`;
}
