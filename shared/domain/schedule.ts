// A backup policy runs by a cron expression of five fields, which is read in a time zone.
//
// The library finds the matching wall times, on a calendar without daylight saving. Which instant a wall time is decides
// `toInstant`: one that does not exist runs right after the gap, one that exists twice runs once.
import { Cron } from "croner";
import { listDays } from "./cron-days.ts";
import { DAY_MS } from "./durations.ts";
import { toInstant, wallTime } from "./time-zones.ts";

interface Schedule {
  schedule: string;
  timezone: string;
}

const NUMBER_OR_NAME = "[0-9]{1,2}|[A-Za-z]{3}";
const RANGE = `(?:\\*|(?:${NUMBER_OR_NAME})(?:-(?:${NUMBER_OR_NAME}))?)(?:/[0-9]{1,2})?`;
const FIELD = `${RANGE}(?:,${RANGE})*`;
/** Minute, hour, day of the month, month, day of the week; without the extensions that some crons have. */
export const FIVE_FIELDS = new RegExp(`^${FIELD}(?: ${FIELD}){4}$`);

const parseCron = (expression: string): Cron =>
  new Cron(expression, { mode: "5-part", utcOffset: 0, domAndDow: listDays(expression) !== "either" });

/** Why an expression cannot be a policy's schedule; undefined if it can. */
export function scheduleProblem(expression: string): string | undefined {
  if (!FIVE_FIELDS.test(expression)) return NO_CRON;
  try {
    if (parseCron(expression).nextRun(new Date(0)) === null) return "must match at least one date";
    return hasOneMinute(expression) ? undefined : "must run at most once an hour: the first field must be one minute";
  } catch {
    return NO_CRON;
  }
}
const NO_CRON =
  "must be a cron expression with five fields such as 0 2 * * *: minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7 or MON-SUN";

/** Two matching minutes are less than an hour apart in every matching hour; two hours never are. */
function hasOneMinute(expression: string): boolean {
  const [minute = ""] = expression.split(" ");
  const [, second] = parseCron(`${minute} 0 1 1 *`).nextRuns(2, new Date(Date.UTC(2025, 11, 31)));
  return second?.getUTCFullYear() !== 2026;
}

/** The first time after an instant (ms since 1970). */
export function nextRun({ schedule, timezone }: Schedule, after: number): number {
  const cron = parseCron(schedule);
  for (let wall = wallTime(timezone, after); ;) {
    const next = cron.nextRun(new Date(wall));
    if (next === null) throw new Error(`The schedule ${schedule} never runs`);
    wall = next.getTime();
    const instant = toInstant(timezone, wall);
    if (instant > after) return instant;
  }
}

/** The next `count` times after an instant. */
export function nextRuns(schedule: Schedule, after: number, count: number): number[] {
  const runs: number[] = [];
  for (let run = after; runs.length < count;) runs.push((run = nextRun(schedule, run)));
  return runs;
}

/** After a long outage an hourly schedule has thousands of times to go through; most have one in the last two days. */
const LOOK_BACK_DAYS = [2, 64];

/** The last time until an instant, given one that is not after it. */
export function latestRun(schedule: Schedule, from: number, until: number): number {
  const recent = LOOK_BACK_DAYS.map((days) => until - days * DAY_MS)
    .filter((start) => start > from)
    .map((start) => nextRun(schedule, start))
    .find((run) => run <= until);
  for (let run = recent ?? from; ;) {
    const next = nextRun(schedule, run);
    if (next > until) return run;
    run = next;
  }
}
