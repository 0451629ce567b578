// Retention keeps what restic 0.18's `forget --keep-*` keeps.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KEEP_RULES, retain } from "../../shared/domain/retention.ts";
import { wallTime } from "../../shared/domain/time-zones.ts";

type Keep = Parameters<typeof retain>[0];
type Candidate = Parameters<typeof retain>[2][number];

const backupAt = (due_at: string, fields: Partial<Candidate> = {}): Candidate => ({
  id: due_at,
  due_at,
  locked: false,
  in_use: false,
  ...fields,
});
const keptOf = (keep: Keep, zone: string, backups: readonly Candidate[]): string[] =>
  [...retain(keep, zone, backups).retained_by].flatMap(([id, rules]) => (rules.length > 0 ? [id] : []));

/**
 * What restic's documentation says, written on its own: for each rule, the last snapshot of each of the last n periods that have
 * any; if there are fewer periods than n, the oldest snapshot as well.
 */
function documented(keep: Keep, zone: string, backups: readonly Candidate[]): Set<string> {
  const sorted = backups.toSorted((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at) || (a.id < b.id ? -1 : 1));
  const keptIds = new Set<string>();
  for (const rule of KEEP_RULES) {
    const n = keep[rule] ?? 0;
    if (n === 0) continue;
    const lastOfPeriod = new Map<string, string>();
    for (const [place, { id, due_at }] of sorted.entries()) {
      const local = new Date(wallTime(zone, Date.parse(due_at)));
      const monday = new Date(Math.floor(local.getTime() / 86_400_000 - ((local.getUTCDay() + 6) % 7)) * 86_400_000);
      const [year, month, day, hour] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate(), local.getUTCHours()];
      const period = {
        last: `${place}`,
        hourly: `${year}/${month}/${day}/${hour}`,
        daily: `${year}/${month}/${day}`,
        weekly: monday.toDateString(),
        monthly: `${year}/${month}`,
        yearly: `${year}`,
      }[rule];
      lastOfPeriod.set(period, id);
    }
    const periods = [...lastOfPeriod.values()];
    for (const id of periods.slice(-n)) keptIds.add(id);
    const [oldest] = sorted;
    if (periods.length < n && oldest !== undefined) keptIds.add(oldest.id);
  }
  return keptIds;
}

const count = fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined });
const rules = fc
  .record({ last: count, hourly: count, daily: count, weekly: count, monthly: count, yearly: count })
  .filter((keep) => Object.values(keep).some((each) => (each ?? 0) > 0));
const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu");
/** Hours since 2024: dense, sparse, and across ends of years. Clocks that go back show the same hour at most an hour apart. */
const history = fc
  .oneof(
    fc.uniqueArray(fc.integer({ min: 0, max: 72 }), { maxLength: 40 }),
    fc.uniqueArray(fc.integer({ min: 0, max: 24 * 900 }), { maxLength: 60 }),
  )
  .map((hours) => hours.map((hour) => backupAt(new Date(Date.UTC(2024, 11, 20) + hour * 3_600_000).toISOString())));

test("random histories: exactly what restic documents is kept, and applying the rules again removes nothing more", () => {
  fc.assert(
    fc.property(rules, zone, history, (keep, timezone, backups) => {
      const keptIds = keptOf(keep, timezone, backups);
      expect(new Set(keptIds)).toEqual(documented(keep, timezone, backups));
      const remainingBackups = backups.filter(({ id }) => keptIds.includes(id));
      expect(new Set(keptOf(keep, timezone, remainingBackups))).toEqual(new Set(keptIds));
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("random histories: the newest, the locked and those in use are never removed", () => {
  fc.assert(
    fc.property(rules, zone, history, fc.array(fc.tuple(fc.boolean(), fc.boolean())), (keep, timezone, history_, flags) => {
      const backups = history_.map((backup, i) => ({
        ...backup,
        locked: flags[i]?.[0] ?? false,
        in_use: flags[i]?.[1] ?? false,
      }));
      const { removable } = retain(keep, timezone, backups);
      const newest = backups.toSorted((a, b) => (a.due_at < b.due_at ? 1 : -1))[0];
      expect(removable.filter(({ id, locked, in_use }) => locked || in_use || id === newest?.id)).toEqual([]);
    }),
    { seed: 1, numRuns: 200 },
  );
});

describe("the examples of restic's documentation", () => {
  const daily = (days: number, from = Date.UTC(2026, 10, 22)): Candidate[] =>
    Array.from({ length: days }, (_, day) => backupAt(new Date(from - day * 86_400_000).toISOString()));

  test("keep-last 1 keeps the newest", () => expect(keptOf({ last: 1 }, "UTC", daily(9))).toEqual([daily(1)[0]?.id]));

  test("keep-daily 4 with one backup each Sunday keeps the last four Sundays", () => {
    const sundays = Array.from({ length: 12 }, (_, week) =>
      backupAt(new Date(Date.UTC(2019, 1, 17) - week * 7 * 86_400_000).toISOString()),
    );
    expect(keptOf({ daily: 4 }, "UTC", sundays)).toEqual(sundays.slice(0, 4).map(({ id }) => id));
  });

  test("daily 7, weekly 5, monthly 12, yearly 75 with a backup a day keeps 7 days, 5 weeks, 12 months and the oldest", () => {
    const backups = daily(3 * 365, Date.UTC(2026, 10, 22));
    const { retained_by } = retain({ daily: 7, weekly: 5, monthly: 12, yearly: 75 }, "UTC", backups);
    const keptBy = (rule: string) => [...retained_by.values()].filter((each) => each.some((name) => name === rule)).length;
    expect({ daily: keptBy("daily"), weekly: keptBy("weekly"), monthly: keptBy("monthly") }).toEqual({
      daily: 7,
      weekly: 5,
      monthly: 12,
    });
    // Ends of 2026 (the newest), 2025, 2024 and 2023, and the oldest backup.
    expect(keptBy("yearly")).toBe(5);
    expect(retained_by.get(backups.at(-1)?.id ?? "")).toContain("yearly");
  });
});

test("a rule that only a newer version knows may keep any backup: nothing is removed", () => {
  const backups = Array.from({ length: 9 }, (_, day) => backupAt(new Date(Date.UTC(2026, 10, 22 - day)).toISOString()));
  expect(retain({ last: 1 }, "UTC", backups).removable).toHaveLength(8);
  const keep = { last: 1, lunar: 3 };
  expect(retain(keep, "UTC", backups).removable).toEqual([]);
});
