// The bars of a time line: hours, days or weeks, so that all of its statuses are at most 300 points.
import { DAY_MS, HOUR_MS } from "../../../shared/domain/durations.ts";
/** More bars than this cannot be told apart. */
const HOURS_MAX = 48;
/** 75 bars with four statuses are 300 points. */
const BARS_MAX = 75;

export type Step = "hour" | "day" | "week";

/**
 * Returns the bars from the first of the times to the last, and the bar of each time; `dayIn` returns when the time's day begins.
 */
export function barsOf(times: readonly number[], dayIn: (at: number) => Date) {
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const step = last - first <= HOURS_MAX * HOUR_MS ? "hour" : (last - first) / DAY_MS < BARS_MAX - 1 ? "day" : "week";
  const begin = (at: number): Date => {
    if (step === "hour") return new Date(Math.floor(at / HOUR_MS) * HOUR_MS);
    const day = dayIn(at);
    return step === "day" ? day : daysBefore(day, (day.getDay() + 6) % 7);
  };
  const before = (at: Date): Date =>
    step === "hour" ? new Date(at.getTime() - HOUR_MS) : daysBefore(at, step === "day" ? 1 : 7);
  const bars: string[] = [];
  for (let at = begin(last); times.length > 0 && at >= begin(first); at = before(at)) bars.unshift(at.toISOString());
  return { bars, step, placeOf: (at: number): string => begin(at).toISOString() } as const;
}

/** A day may have 23 or 25 hours. */
const daysBefore = (at: Date, days: number): Date => new Date(at.getFullYear(), at.getMonth(), at.getDate() - days);
