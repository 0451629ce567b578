// Computes when a disk will be full, if it goes on filling as it has.
import { DAY_MS } from "../../../shared/domain/durations.ts";

/** Fewer days say nothing about those to come. */
export const DAYS_MIN = 7;
/** Beyond, nobody plans. */
const DAYS_MAX = 365;

/**
 * The day, null if it does not fill, or not for a year, and undefined if nobody can tell yet. Figures are one a day, from the
 * first on.
 */
export function dayWhenFull(
  daily: readonly (number | null)[],
  { from, size }: { from: string; size: number },
): Date | null | undefined {
  const measured = daily.flatMap((used, day) => (used === null ? [] : [{ day, used }]));
  const last = measured.at(-1);
  if (last === undefined || measured.length < DAYS_MIN) return undefined;
  const meanDay = mean(measured.map(({ day }) => day));
  const meanUsed = mean(measured.map(({ used }) => used));
  const spread = sum(measured.map(({ day }) => (day - meanDay) ** 2));
  const perDay = sum(measured.map(({ day, used }) => (day - meanDay) * (used - meanUsed))) / spread;
  if (!(perDay > 0)) return null;
  // The forecast starts from where the disk is now: the line through all days may be far from it.
  const days = Math.max(0, (size - last.used) / perDay);
  return days > DAYS_MAX ? null : new Date(Date.parse(from) + (last.day + days) * DAY_MS);
}

const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
const mean = (all: readonly number[]): number => sum(all) / all.length;
