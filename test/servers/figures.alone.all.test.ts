// The way of a machine's figures: from its first minute, through the visits, into the charts and the alerts.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Alert } from "../../shared/api/alerts.ts";
import { Metrics } from "../../shared/api/metrics.ts";
import { MINUTE_SECONDS } from "../../shared/domain/durations.ts";
import { INSTANCE_SERIES, type Sample, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { keys } from "../../shared/data/keys.ts";
import { queryAll } from "../../shared/data/table.ts";
import { readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { collectMetrics, evaluateMetricAlerts } from "../../shared/operations/monitoring/metric-alerts.ts";
import { getServer } from "../../shared/records/servers.ts";
import { WatchedServer } from "../../shared/records/schemas/server.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

const clock = testClock();
let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared });
  me = await account({ seeded: true });
});

async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    clock.advance(1);
    await cloud.events.fire("checkservers");
  }
}
const dropNulls = (values: readonly (number | null)[] = []): number[] => values.filter((value) => value !== null);
const openAlerts = async (id: string): Promise<(string | number | null)[][]> =>
  (await me.api.get(`/alerts?status=open&resource_id=${id}`)).as(z.array(Alert)).map(({ kind, value }) => [kind, value]);
const itemsOf = (id: string) => queryAll(keys.figures(me.id, id));

test("a server in the sandbox has figures from its first minute, and one item for each visit", async () => {
  const ownAccount = await account(); // whose server is as new as its workflow makes it
  const metrics = async (path: string, query = "") => (await ownAccount.api.get(`${path}/metrics?${query}`)).as(Metrics);
  const itemsOf = (id: string) => queryAll(keys.figures(ownAccount.id, id));
  const server = await ownAccount.server();
  const instance = await ownAccount.instance({ server_id: server.id });
  await minutes(1);
  const first = await metrics(`/servers/${server.id}`);
  for (const { name, values } of first.series) expect(dropNulls(values).length, name).toBeGreaterThanOrEqual(1);
  const visits = (await itemsOf(server.id)).length;
  await minutes(40);
  const { series } = await metrics(`/instances/${instance.id}`, "series=requests,database_bytes");
  const [requests, database] = series.map(({ values }) => dropNulls(values));
  expect(requests?.length).toBeGreaterThanOrEqual(30);
  expect(database?.length).toBeGreaterThanOrEqual(3);
  expect((await itemsOf(server.id)).length - visits).toBeLessThanOrEqual(5);
});

test("each minute is stored once, and a day is summed up once it is over", async () => {
  const server = await seedServer(me.id);
  const at = Date.now();
  const watched = (fields: object): WatchedServer =>
    WatchedServer.parse({ account_id: me.id, server_id: server.id, last_seen_at: null, ...fields });
  const sample = (seconds: number): Sample => ({ at: seconds, server: SERVER_SERIES.map(() => 1), instances: new Map() });
  const now = Math.floor(at / 1000);
  const all = Array.from({ length: 10 }, (_, index) => sample(now - (9 - index) * MINUTE_SECONDS));
  const record = await getServer(me.id, server.id);
  const first = await collectMetrics(record, watched({}), all.slice(0, 6), at);
  expect(first).toMatchObject({ figures_at: all[5]?.at, figures_day: expect.any(Number) });
  const second = await collectMetrics(record, watched(first), all, at);
  expect(second).toEqual({ figures_at: all[9]?.at });
  expect(await collectMetrics(record, watched({ ...first, ...second }), all, at)).toEqual({});
  const kinds = async () => (await itemsOf(server.id)).map(({ sk }) => String(sk).slice(0, 1)).join("");
  expect(await kinds()).toBe("mm");
  const days = { ...first, ...second };
  const later = await collectMetrics(record, watched(days), [], at + 2 * 86_400_000);
  expect(later).toEqual({ figures_day: Number(days.figures_day) + 1 });
  await collectMetrics(record, watched({ ...days, ...later }), [], at + 3 * 86_400_000);
  expect(await kinds()).toMatch(/^mmt{1,2}u+$/);
  const DAYS: Readonly<Record<string, number>> = { m: 7, t: 90, u: 400 };
  for (const { sk, ttl } of await itemsOf(server.id)) {
    const lifetime = Number(ttl) - MINUTE_SECONDS * Number(String(sk).slice(1)); // from its first minute on, and it is a day long at most
    expect(lifetime / 86_400).toBe((DAYS[String(sk).charAt(0)] ?? 0) + 1);
  }
});

test("of samples over more than three hours, all but the oldest are stored", async () => {
  const server = await seedServer(me.id);
  const record = await getServer(me.id, server.id);
  const watched = WatchedServer.parse({ account_id: me.id, server_id: server.id, last_seen_at: null });
  const now = Math.floor(Date.now() / 1000);
  const sample = (minutes: number): Sample => ({
    at: now - minutes * MINUTE_SECONDS,
    server: SERVER_SERIES.map(() => minutes),
    instances: new Map(),
  });
  await collectMetrics(record, watched, [181, 180, 90, 0].map(sample), now * 1000);
  const from = new Date((now - 200 * MINUTE_SECONDS) * 1000).toISOString();
  const { series } = (await me.api.get(`/servers/${server.id}/metrics?series=load&step=60&from=${from}`)).as(Metrics);
  expect(dropNulls(series[0]?.values)).toHaveLength(3);
});

/** An ERP, its server, and visits to it after some minutes that are all alike. */
async function visited() {
  const server = await seedServer(me.id);
  const instance = await seedInstance(me.id, { server_id: server.id });
  const record = await getServer(me.id, server.id);
  let now = Math.floor(Date.now() / 1000);
  async function visit(cpu: number, requests: number, errors: number, count = 30): Promise<void> {
    now += count * MINUTE_SECONDS;
    const samples = Array.from({ length: count }, (_, index): Sample => {
      const values = { requests, errors_5xx: errors } as Readonly<Record<string, number>>;
      return {
        at: now - (count - 1 - index) * MINUTE_SECONDS,
        server: SERVER_SERIES.map(({ name }) => (name === "cpu_percent" ? cpu : null)),
        instances: new Map([[instance.id, INSTANCE_SERIES.map(({ name }) => values[name] ?? null)]]),
      };
    });
    await evaluateMetricAlerts(await readAlerts(me.id), record, samples);
  }
  const open = async () => [...(await openAlerts(server.id)), ...(await openAlerts(instance.id))];
  return { instance, visit, open };
}

test("alerts of processors and of errors open, and close a fifth beyond", async () => {
  const { instance, visit, open } = await visited();
  const now = Math.floor(Date.now() / 1000);
  await visit(94, 10, 0.4);
  expect(await open()).toEqual([]);
  await visit(96, 10, 0.625);
  expect(await open()).toEqual([
    ["cpu", 96],
    ["error_rate", 6],
  ]);
  await visit(80, 10, 0.41);
  expect(await open()).toHaveLength(2);
  await visit(75, 10, 0.39);
  expect(await open()).toEqual([]);
  await visit(100, 1.9, 1.9, 10); // too short for the one, too few for the other
  expect(await open()).toEqual([]);
  // Those that another server's machine names are not its own: it neither opens nor closes anything of them.
  const stranger = await getServer(me.id, (await seedServer(me.id)).id);
  const reportFromStranger = async (errors: number): Promise<void> => {
    const values = { requests: 50, errors_5xx: errors } as Readonly<Record<string, number>>;
    const figures = INSTANCE_SERIES.map(({ name }) => values[name] ?? null);
    await evaluateMetricAlerts(await readAlerts(me.id), stranger, [
      { at: now, server: [], instances: new Map([[instance.id, figures]]) },
    ]);
  };
  await reportFromStranger(50);
  expect(await open()).toEqual([]);
  await visit(96, 10, 0.625);
  await reportFromStranger(0);
  expect((await open()).map(([kind]) => kind)).toEqual(["cpu", "error_rate"]);
});

test("an ERP that fails with about twenty requests in ten minutes has one alert, until it is not asked or responds", async () => {
  const { visit, open } = await visited();
  await visit(50, 1.9, 1.9);
  expect(await open()).toEqual([]);
  await visit(50, 2.1, 2.1);
  await visit(50, 1.9, 1.9);
  await visit(50, 0.1, 0.1);
  expect(await open()).toEqual([["error_rate", 100]]);
  await visit(50, 1.9, 0.05);
  expect(await open()).toEqual([]);
  await visit(50, 2.1, 2.1);
  await visit(50, 0, 0);
  expect(await open()).toEqual([]);
});

test("a server that has been busy for twenty minutes has no alert yet", async () => {
  const { visit, open } = await visited();
  await visit(100, 0, 0, 20);
  expect(await open()).toEqual([]);
  await visit(100, 0, 0, 29);
  expect(await open()).toEqual([["cpu", 100]]);
});

test("a busy server and a failing ERP can be ordered in the sandbox", async () => {
  const server = await me.server({ name: unique("high-cpu") });
  const instance = await me.instance({ server_id: server.id, domain: `many-errors.${uniqueDomain()}` });
  await minutes(45);
  expect((await openAlerts(server.id)).map(([kind]) => kind)).toContain("cpu");
  expect((await openAlerts(instance.id)).map(([kind]) => kind)).toContain("error_rate");
});
