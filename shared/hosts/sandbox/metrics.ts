// The figures of a simulated machine: made up from its name and the minute alone, so that whoever asks twice sees the same.
// Each day has busy hours, and each machine its own pace.
import { DAY_SECONDS, MINUTE_SECONDS } from "../../domain/durations.ts";
import { INSTANCE_SERIES, RING_MINUTES, type Sample, SERVER_SERIES } from "../../domain/metrics.ts";
import { SANDBOX_CATALOG } from "../../providers/sandbox/catalog.ts";
import type { SandboxErp, SandboxMachine } from "../../providers/sandbox/machines.ts";

const GB = 1_000_000_000;
const MB = 1_000_000;

/** A server of such a name is busy all the time. */
const BUSY = "high-cpu";
/** An ERP of such a domain fails one request in ten. */
const FAILS = "many-errors.";

/** What a machine has measured since a time, in seconds: from the minute in which it was created on. */
export function inventSamples(
  machine: SandboxMachine,
  erps: ReadonlyMap<string, SandboxErp>,
  { since, now, diskUsed, memoryUsed }: { since: number; now: number; diskUsed: number; memoryUsed: number },
): Sample[] {
  const created = Math.floor(Date.parse(machine.created_at) / 1000 / MINUTE_SECONDS) * MINUTE_SECONDS;
  const last = Math.floor(now / MINUTE_SECONDS) * MINUTE_SECONDS;
  const count = Math.min(RING_MINUTES, Math.max(0, (last - Math.max(created - MINUTE_SECONDS, since)) / MINUTE_SECONDS));
  return Array.from({ length: Math.ceil(count) }, (_, index) => last - (Math.ceil(count) - 1 - index) * MINUTE_SECONDS)
    .filter((at) => at > since && at >= created)
    .map((at) => {
      const instances = new Map([...erps].map(([id, erp]) => [id, inventErp(id, erp, at)]));
      return { at, server: inventMachine(machine, { at, diskUsed, memoryUsed, erps: erps.size }), instances };
    });
}

interface Moment {
  at: number;
  diskUsed: number;
  memoryUsed: number;
  erps: number;
}

function inventMachine({ name, size }: SandboxMachine, { at, diskUsed, memoryUsed, erps }: Moment): (number | null)[] {
  const { cpu = 1 } = SANDBOX_CATALOG.sizes.find(({ code }) => code === size) ?? {};
  const busy = name.startsWith(BUSY) ? 0.98 : 0.02 + 0.1 * Math.min(erps, 5) * activity(name, at);
  return inOrder(SERVER_SERIES, {
    cpu_percent: 100 * busy,
    load: cpu * busy * (0.8 + 0.4 * noise(name, at, 1)),
    memory_used_bytes: memoryUsed * (0.97 + 0.03 * noise(name, at, 2)),
    swap_used_bytes: 0,
    disk_used_bytes: diskUsed,
    disk_read_bytes: 40_000 * busy * noise(name, at, 3) * 10,
    disk_write_bytes: 250_000 * (0.2 + busy) * (0.5 + noise(name, at, 4)),
    network_in_bytes: 90_000 * (0.1 + busy) * (0.5 + noise(name, at, 5)),
    network_out_bytes: 400_000 * (0.1 + busy) * (0.5 + noise(name, at, 6)),
  });
}

function inventErp(id: string, { domain, status, files, database }: SandboxErp, at: number): (number | null)[] {
  if (status !== "running" || database === null) return inOrder(INSTANCE_SERIES, {});
  const active = activity(id, at);
  const requests = Math.round(20 + 160 * active * (0.7 + 0.6 * noise(id, at, 1)));
  const isTenth = (at / MINUTE_SECONDS) % 10 === 0;
  return inOrder(INSTANCE_SERIES, {
    erp_cpu_percent: 2 + 45 * active * (0.6 + 0.8 * noise(id, at, 2)),
    erp_memory_bytes: 380 * MB + 90 * MB * active + 10 * MB * noise(id, at, 3),
    database_cpu_percent: 0.5 + 18 * active * (0.6 + 0.8 * noise(id, at, 4)),
    database_memory_bytes: 120 * MB + 40 * MB * active,
    network_in_bytes: 900 * requests * noise(id, at, 5),
    network_out_bytes: 6_000 * requests * (0.5 + noise(id, at, 6)),
    requests,
    errors_5xx: domain.startsWith(FAILS) ? Math.ceil(requests / 10) : 0,
    p50_ms: 45 + 30 * active + 10 * noise(id, at, 7),
    p95_ms: 220 + 400 * active * noise(id, at, 8),
    database_connections: 4 + Math.round(9 * active),
    ...(isTenth && {
      database_bytes: 0.2 * GB + database.data.length,
      filestore_bytes: 0.1 * GB + Object.values(files).reduce((sum, text) => sum + text.length, 0),
      cron_overdue_seconds: Math.round(40 * noise(id, at, 9)),
      longest_transaction_seconds: Math.round(3 * active * noise(id, at, 10)),
    }),
  });
}

const inOrder = (all: readonly { name: string }[], figures: Readonly<Record<string, number>>): (number | null)[] =>
  all.map(({ name }) => figures[name] ?? null);

/** Returns a number from 0 to 1, the highest at noon UTC. */
function activity(seed: string, at: number): number {
  const day = Math.sin(Math.PI * ((at % DAY_SECONDS) / DAY_SECONDS)) ** 4;
  return Math.min(1, 0.1 + 0.7 * day + 0.2 * noise(seed, at, 0));
}

/** Returns a number from 0 to 1, the same for the same arguments. */
function noise(seed: string, at: number, kind: number): number {
  let hash = Math.imul(at / MINUTE_SECONDS + 1, 0x9e3779b1) ^ Math.imul(kind + 1, 0x85ebca6b);
  for (const character of seed) hash = Math.imul(hash ^ character.charCodeAt(0), 0xc2b2ae35) ^ (hash >>> 13);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
