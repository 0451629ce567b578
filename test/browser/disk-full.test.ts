// This file tests when the dashboard says that a server's disk will be full.
import { expect, test } from "vitest";
import { dayWhenFull } from "../../dashboard/src/metrics/forecast.ts";

const GB = 1e9;
const DISK = { from: "2026-09-01T00:00:00.000Z", size: 40 * GB };
const daily = (count: number, used: (day: number) => number | null) => Array.from({ length: count }, (_, day) => used(day));
const dayOf = (values: (number | null)[]): string | undefined => dayWhenFull(values, DISK)?.toISOString().slice(0, 10);

test("a disk that fills by a gigabyte a day is full on the day that it reaches its size", () => {
  expect(dayOf(daily(20, (day) => (10 + day) * GB))).toBe("2026-10-01");
  expect(dayOf(daily(20, (day) => (day % 3 === 1 ? null : (10 + day) * GB)))).toBe("2026-10-01");
  expect(dayOf(daily(41, (day) => day * GB))).toBe("2026-10-11");
});

test("one that does not fill, fills in years, or was hardly measured is not said to be full", () => {
  expect(dayOf(daily(90, () => 20 * GB))).toBeUndefined();
  expect(dayOf(daily(90, (day) => (30 - day / 10) * GB))).toBeUndefined();
  expect(dayOf(daily(90, (day) => (10 + day / 1000) * GB))).toBeUndefined();
  expect(dayOf(daily(6, (day) => (10 + day) * GB))).toBeUndefined();
  expect(dayOf(daily(90, () => null))).toBeUndefined();
});
