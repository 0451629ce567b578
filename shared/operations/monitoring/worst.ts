// Which servers and instances of an account are loaded most, as they last reported. Nothing is kept in order of it: to write that
// with each report would cost as much as the reports, and somebody asks now and then. If there are more servers than
// this reads, it reads those that use most of their memory, which reports include: what lacks memory is slow first.
import * as z from "zod";
import { keys, keyString } from "../../data/keys.ts";
import { parseOrSkip } from "../../data/parse-each.ts";
import { queryAll, readAll } from "../../data/table.ts";
import { INSTANCE_SERIES, pick } from "../../domain/metrics.ts";
import { WORST } from "../../domain/limits.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { newestMetrics } from "../../records/metrics.ts";
import { HostReport } from "../../records/schemas/host-report.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import { ServerRecord } from "../../records/schemas/server.ts";
import { MINUTE_MS } from "../../domain/durations.ts";

const GB = 1_000_000_000;
const FRESH_MS = 30 * MINUTE_MS;
const AT_ONCE = 20;

interface Reported {
  server: ServerRecord;
  report: HostReport;
}

interface Ranked {
  id: string;
  name: string;
  value: number;
}

export interface Worst {
  memory: Ranked[];
  disk: Ranked[];
  p95_ms: Ranked[];
  complete: boolean;
}

export async function findWorst(accountId: string): Promise<Worst> {
  const servers = (await reportedServers(accountId, Date.now())).toSorted((one, other) => memoryUse(other) - memoryUse(one));
  const memory = servers.flatMap((each) => {
    const { id, name, specs } = each.server;
    return specs.memory_gb === 0 ? [] : [{ id, name, value: memoryUse(each) }];
  });
  const disk = servers.flatMap(({ server: { id, name }, report: { disk_size_bytes: size, disk_free_bytes } }) =>
    size === null || size === 0 ? [] : [{ id, name, value: percent(size - disk_free_bytes, size) }],
  );
  return {
    memory: highest(memory),
    disk: highest(disk),
    p95_ms: await slowest(
      accountId,
      servers.slice(0, WORST.servers).map(({ server }) => server),
    ),
    complete: servers.length <= WORST.servers,
  };
}

/** Returns the use in percent, and 0 for a server of which nobody knows how much memory it has. */
function memoryUse({ server: { specs }, report }: Reported): number {
  const size = specs.memory_gb * GB;
  return size === 0 ? 0 : percent(size - report.memory_free_bytes, size);
}

const percent = (used: number, size: number): number => Math.round(Math.min(100, Math.max(0, (100 * used) / size)));
const highest = <T extends { value: number }>(all: readonly T[]): T[] =>
  all.toSorted((one, other) => other.value - one.value).slice(0, WORST.rows);

/** The servers that have reported lately, with the report. */
async function reportedServers(accountId: string, at: number): Promise<Reported[]> {
  const since = new Date(at - FRESH_MS).toISOString();
  const reports = (await queryAll(keys.hostReport(accountId, "").pk)).flatMap((item) => {
    const report = parseOrSkip(HostReport, item);
    return report === undefined || report.reported_at < since ? [] : [{ id: ReportKey.parse(item).sk, report }];
  });
  const serverKey = (id: string) => keys.record("server", accountId, id);
  const items = await readAll(
    reports.map(({ id }) => serverKey(id)),
    { consistent: false },
  );
  return reports.flatMap(({ id, report }) => {
    const item = items.get(keyString(serverKey(id)));
    const server = item && parseOrSkip(ServerRecord, item);
    return server === undefined ? [] : [{ server, report }];
  });
}
const ReportKey = z.object({ sk: z.string() });

/** Each instance is on the server that reports it; a machine may name any. */
async function slowest(accountId: string, servers: readonly ServerRecord[]): Promise<Ranked[]> {
  const slowInstances: { id: string; server: string; value: number }[] = [];
  await concurrently(AT_ONCE, servers, async ({ id: server }) => {
    for (const [id, value] of slowIn(await newestMetrics({ account_id: accountId, id: server })))
      slowInstances.push({ id, server, value });
  });
  const instanceKey = (id: string) => keys.record("instance", accountId, id);
  // Reads twice as many as are shown: a machine may have named instances that it doesn't have.
  const first = slowInstances.toSorted((one, other) => other.value - one.value).slice(0, 2 * WORST.rows);
  const items = await readAll(
    first.map(({ id }) => instanceKey(id)),
    { consistent: false },
  );
  return highest(
    first.flatMap(({ id, server, value }) => {
      const item = items.get(keyString(instanceKey(id)));
      const instance = item && parseOrSkip(InstanceRecord, item);
      return instance?.server_id === server ? [{ id, name: instance.name, value }] : [];
    }),
  );
}

/** The mean of the minutes in which there were requests. */
function slowIn(points: Awaited<ReturnType<typeof newestMetrics>>): [string, number][] {
  const all = new Map<string, number[]>();
  for (const { means } of points)
    for (const [id, figures] of means.instances) {
      const value = pick(INSTANCE_SERIES, figures, "p95_ms");
      if (value !== null) all.set(id, [...(all.get(id) ?? []), value]);
    }
  return [...all].map(([id, values]) => [id, Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)]);
}
