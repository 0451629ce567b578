// GET /servers/:id/metrics
import { beforeAll, expect, test } from "vitest";
import { Metrics } from "../../shared/api/metrics.ts";
import { MINUTE_SECONDS } from "../../shared/domain/durations.ts";
import { type MetricValues, type Sample, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { storeSamples, sumUpDay } from "../../shared/records/metrics.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const DAY = 86_400;
const now = Math.floor(Date.now() / 1000 / MINUTE_SECONDS) * MINUTE_SECONDS;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
const cpu = (percent: number): MetricValues => SERVER_SERIES.map(({ name }) => (name === "cpu_percent" ? percent : null));

/** A visit each ten minutes of so many minutes, with the minute's number as its processor's use, from 0 to 59. */
async function measured(id: string, from: number, minutes: number): Promise<void> {
  for (let start = 0; start < minutes; start += 10) {
    const samples = Array.from({ length: Math.min(10, minutes - start) }, (_, index): Sample => {
      const at = from + (start + index) * MINUTE_SECONDS;
      return { at: at + 7, server: cpu((at / MINUTE_SECONDS) % 60), instances: new Map() };
    });
    await storeSamples({ account_id: me.id, id }, samples);
  }
}
const read = async (id: string, query: string) => (await me.api.get(`/servers/${id}/metrics?${query}`)).as(Metrics);

test("the last three hours are shown by the minute, all series, with null where nothing was measured", async () => {
  const { id } = await seedServer(me.id);
  await measured(id, now - 20 * MINUTE_SECONDS, 15);
  const { from, step, series } = await read(id, "");
  expect([step, series.map(({ name }) => name)]).toEqual([60, SERVER_SERIES.map(({ name }) => name)]);
  const values = series.find(({ name }) => name === "cpu_percent")?.values ?? [];
  const at = (seconds: number): number | null => values[(seconds - Date.parse(from) / 1000) / MINUTE_SECONDS] ?? null;
  expect(values.length).toBeGreaterThanOrEqual(180);
  expect(at(now - 20 * MINUTE_SECONDS)).toBe(((now - 20 * MINUTE_SECONDS) / MINUTE_SECONDS) % 60);
  expect(values.filter((value) => value !== null)).toHaveLength(15);
  expect([at(now - 21 * MINUTE_SECONDS), at(now - 4 * MINUTE_SECONDS)]).toEqual([null, null]);
  expect(series.every(({ maxima }) => maxima === undefined)).toBe(true);
});

test("longer steps are means with their maxima, the same from minutes and from a day that is summed up", async () => {
  const { id } = await seedServer(me.id);
  const day = Math.floor(now / DAY) - 2;
  const from = day * DAY + 20 * 3600;
  await measured(id, from, 6 * 60); // until two in the morning
  const query = (step: number) => `from=${iso(from)}&to=${iso(from + 6 * 3600)}&step=${step}&series=cpu_percent`;
  const before = await Promise.all([600, 3600, 86_400].map((step) => read(id, query(step))));
  const [tens, hours, days] = before.map(({ series }) => series[0]);
  expect(tens?.values).toEqual(Array.from({ length: 36 }, (_, index) => 4.5 + 10 * (index % 6)));
  expect(tens?.maxima).toEqual(Array.from({ length: 36 }, (_, index) => 9 + 10 * (index % 6)));
  expect([hours?.values, hours?.maxima]).toEqual([Array(6).fill(29.5), Array(6).fill(59)]);
  expect([days?.values, days?.maxima]).toEqual([
    [29.5, 29.5],
    [59, 59],
  ]);
  await sumUpDay({ account_id: me.id, id }, day);
  expect(await Promise.all([600, 3600, 86_400].map((step) => read(id, query(step))))).toEqual(before);
  await sumUpDay({ account_id: me.id, id }, day + 1);
  expect(await Promise.all([600, 3600, 86_400].map((step) => read(id, query(step))))).toEqual(before);
});

test("the step is the smallest that gives at most 500 values", async () => {
  const { id } = await seedServer(me.id);
  const steps = [0.3, 3, 20, 399].map(async (days) => (await read(id, `from=${iso(now - days * DAY)}`)).step);
  expect(await Promise.all(steps)).toEqual([60, 600, 3600, 86_400]);
  const [series] = (await read(id, `from=${iso(now - 399 * DAY)}`)).series;
  expect(series?.values.length).toBeLessThanOrEqual(401);
});

test("of times that no server had, nothing is shown", async () => {
  const { id } = await seedServer(me.id);
  for (const [from, to] of [
    ["1960-01-01", "1960-01-02"],
    ["1969-12-31", "1970-01-02"],
    ["3871-01-01", "3871-12-31"], // in between, a minute's number gets its tenth digit
    ["9999-12-30", "9999-12-31"],
  ]) {
    const { series } = await read(id, `from=${from}&to=${to}`);
    expect(new Set(series.flatMap(({ values }) => values)), from).toEqual(new Set([null]));
  }
});

test("parameters are checked", async () => {
  const { id } = await seedServer(me.id);
  const wrong = {
    [`from=${iso(now - DAY)}&step=60`]: "step",
    "step=61": "step",
    "from=2020-01-01": "step",
    [`from=${iso(now)}&to=${iso(now - DAY)}`]: "from",
    "from=yesterday": "from",
    "to=x": "to",
    "series=cpu_percent,requests": "series",
    "series=": "series",
  };
  for (const [query, field] of Object.entries(wrong)) {
    const { status, error } = await me.api.get(`/servers/${id}/metrics?${query}`);
    expect([status, error?.details?.field], query).toEqual([422, field]);
  }
});

test("only who may read servers sees a server's metrics, and nobody those of another account", async () => {
  const { id } = await seedServer(me.id);
  const { api } = await me.token(["instances:read"]);
  expect((await api.get(`/servers/${id}/metrics`)).status).toBe(403);
  expect((await (await account()).api.get(`/servers/${id}/metrics`)).status).toBe(404);
  expect((await me.api.get(`/servers/${unusedId("server")}/metrics`)).status).toBe(404);
});
