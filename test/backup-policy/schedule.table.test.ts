// This file tests when policies run, by five fields of cron in a time zone, also where clocks change.
import { describe, expect, test } from "vitest";
import { latestRun, nextRun, nextRuns, scheduleProblem } from "../../shared/domain/schedule.ts";
import { wallTime, zoneNamed } from "../../shared/domain/time-zones.ts";
import { some } from "../harness/some.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Clocks that change by an hour, by half an hour, by two hours, at midnight, or never. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "America/Santiago",
  "Asia/Beirut",
  "Africa/Casablanca",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Antarctica/Troll",
  "Asia/Kathmandu",
  "UTC",
];

const offset = (zone: string, at: number): number => wallTime(zone, at) - at;

/** The hours of 2026 before which a zone's clocks change. */
const changesOf = (zone: string): number[] =>
  Array.from({ length: 8760 }, (_, hour) => Date.UTC(2026, 0, 1) + hour * HOUR_MS).filter(
    (at) => offset(zone, at) !== offset(zone, at + HOUR_MS),
  );

/** The runs of a daily or hourly schedule between two instants, found by looking at the clock every minute. */
function seenOnClock(zone: string, hours: readonly number[], minute: number, from: number, until: number): number[] {
  const minutes = Array.from({ length: (until - from) / MINUTE_MS }, (_, i) => from + (i + 1) * MINUTE_MS);
  const walls = minutes.map((at) => wallTime(zone, at));
  const dueTimes = new Set<number>();
  const dayOf = (at: number): number => Math.floor(wallTime(zone, at) / DAY_MS);
  for (let day = dayOf(from) - 1; day <= dayOf(until) + 1; day++)
    for (const hour of hours) dueTimes.add(day * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS);
  const first = wallTime(zone, from);
  const runs = [...dueTimes].filter((wall) => wall > first).map((wall) => minutes[walls.findIndex((each) => each >= wall)]);
  return [...new Set(runs.filter((run) => run !== undefined))].toSorted((a, b) => a - b);
}

const SCHEDULES: readonly (readonly [schedule: string, hours: readonly number[], minute: number])[] = [
  ["30 2 * * *", [2], 30],
  ["0 0 * * *", [0], 0],
  ["15 1,2,3 * * *", [1, 2, 3], 15],
  ["45 * * * *", Array.from({ length: 24 }, (_, hour) => hour), 45],
];

describe.each(ZONES)("%s", (zone) => {
  test.each(some(SCHEDULES, SCHEDULES.length, ZONES.indexOf(zone)))(
    "%s runs once for each time of its clock, and right after a gap",
    (schedule, hours, minute) => {
      for (const change of [...changesOf(zone), Date.UTC(2026, 5, 15)]) {
        // Away from the start of the window, a time that is shown twice has its first occurrence inside.
        const [from, until] = [change - 30 * HOUR_MS, change + 30 * HOUR_MS];
        const runs: number[] = [];
        for (
          let run = nextRun({ schedule, timezone: zone }, from);
          run <= until;
          run = nextRun({ schedule, timezone: zone }, run)
        )
          runs.push(run);
        expect(runs.map((run) => new Date(run).toISOString())).toEqual(
          seenOnClock(zone, hours, minute, from, until).map((run) => new Date(run).toISOString()),
        );
      }
    },
  );
});

test("the documented nights: 02:30 runs at 03:00 in spring, and once in autumn", () => {
  const nightly = { schedule: "30 2 * * *", timezone: "Europe/Berlin" };
  const after = (at: string): string => new Date(nextRun(nightly, Date.parse(at))).toISOString();
  expect(after("2026-03-28T12:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
  expect(after("2026-10-24T12:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
  expect(after("2026-10-25T00:30:00Z")).toBe("2026-10-26T01:30:00.000Z");
});

test.each(["0 * * * *", "30 2 * * *", "0 12 * * sun", "0 0 1 * *", "0 0 29 2 *"])(
  "the last time of %s after any outage is the one before the next",
  (schedule) => {
    const berlin = { schedule, timezone: "Europe/Berlin" };
    const from = nextRun(berlin, Date.UTC(2026, 0, 1));
    for (const days of [0.01, 1, 2.5, 40, 70, 400, 4000]) {
      const until = from + days * DAY_MS;
      const last = latestRun(berlin, from, until);
      expect(last).toBeLessThanOrEqual(until);
      expect(nextRun(berlin, last)).toBeGreaterThan(until);
    }
  },
);

test("the last time of an hourly schedule is found at once, however long the outage was", () => {
  const hourly = { schedule: "0 * * * *", timezone: "Europe/Berlin" };
  const before = process.cpuUsage();
  for (let i = 0; i < 20; i++) latestRun(hourly, Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1));
  const { user } = process.cpuUsage(before); // not the time, which depends on what else the machine does
  expect(user / 1000).toBeLessThan(4_000); // 40 s if it went through all of them
});

test.each(["0 2 * * *", "30 */6 * * *", "59 23 * * sun", "0 0 29 2 *", "5 4 1-7 jan-mar mon-fri", "0 1 1 1 *"])(
  "%s is a schedule",
  (schedule) => expect(scheduleProblem(schedule)).toBeUndefined(),
);

test.each([
  "",
  "0 2 * *",
  "0 2 * * * *",
  "@daily",
  "*/30 * * * *",
  "0,1 2 * * *",
  "* 2 * * *",
  "60 2 * * *",
  "0 24 * * *",
  "0 2 31 2 *",
  "0 2 L * *",
  "0 2 15W * *",
  "0 2 * * 1#2",
  "0 2 ? * *",
  "0 2 * * 8",
  "0 2 */0 * *",
  "0 2 5-1 * *",
  "-1 2 * * *",
  "a b c d e",
])("%s is no schedule", (schedule) => expect(scheduleProblem(schedule)).toMatch(/^must /));

test("names of time zones are taken in any case, and spelled as IANA spells them", () => {
  const names = ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata", "Asia/Calcutta", "Antarctica/McMurdo"];
  const others = ["Etc/GMT+5", "US/East-Indiana", "CET", "EST5EDT", "GB", "GB-Eire", "W-SU", "America/Knox_IN", "Europe/Kyiv"];
  for (const name of [...names, ...others])
    expect([name, name.toLowerCase(), name.toUpperCase()].map(zoneNamed)).toEqual([name, name, name]);
});

test("nothing else is a time zone", () => {
  const names = ["", "+02:00", "Mars/Base", "Europe/Berlin ", "../etc", "BST", "bst", "PST", "IST", "SystemV/PST8PDT"];
  expect(names.map(zoneNamed).filter((name) => name !== undefined)).toEqual([]);
});

describe("a schedule that restricts the day of the month and the weekday, as Debian's cron reads it", () => {
  /** The days in November 2026 on which it runs. */
  const daysIn = (schedule: string): number[] => {
    const runs = nextRuns({ schedule, timezone: "UTC" }, Date.UTC(2026, 9, 31, 23), 31).map((run) => new Date(run));
    return runs.filter((run) => run.toISOString().startsWith("2026-11")).map((run) => run.getUTCDate());
  };

  test.each([
    ["0 2 1-7 * 1", [1, 2, 3, 4, 5, 6, 7, 9, 16, 23, 30]],
    ["0 2 13 * fri", [6, 13, 20, 27]],
    ["0 2 */5 * 1", [16]],
    ["0 2 */5 * 1-5", [6, 11, 16, 26]],
    ["0 2 1-7 * */2", [1, 3, 5, 7]],
    ["0 2 * * 1", [2, 9, 16, 23, 30]],
    ["0 2 1,15 * *", [1, 15]],
    ["0 2 *,5 * 0", [1, 8, 15, 22, 29]],
  ] as const)("%s", (schedule, days) => expect(daysIn(schedule)).toEqual(days));
});

test("two runs are less than an hour apart only in the hour after clocks go forward", () => {
  for (const timezone of some(ZONES, 4))
    for (const change of changesOf(timezone)) {
      const forward = offset(timezone, change + HOUR_MS) > offset(timezone, change);
      const runs = nextRuns({ schedule: "30 * * * *", timezone }, change - 6 * HOUR_MS, 16);
      for (const [place, run] of runs.entries()) {
        const next = runs[place + 1];
        if (next === undefined || next - run >= HOUR_MS) continue;
        expect(forward).toBe(true);
        // The clock changes within the hour that starts at `change`.
        expect(run).toBeGreaterThanOrEqual(change);
        expect(next - change).toBeLessThanOrEqual(2 * HOUR_MS);
      }
    }
});
