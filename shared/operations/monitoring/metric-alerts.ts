// What a visit brings of a machine's figures: it is stored, days that are over are summed up, and alerts open and close.
import { DAY_SECONDS, MINUTE_SECONDS } from "../../domain/durations.ts";
import { bytesOfId } from "../../domain/ids.ts";
import { INSTANCE_SERIES, pick, type Sample, SERVER_SERIES } from "../../domain/metrics.ts";
import { log } from "../../platform/log.ts";
import { storeSamples, sumUpDay } from "../../records/metrics.ts";
import type { ServerRecord, WatchedServer } from "../../records/schemas/server.ts";
import { type AccountAlerts, evaluateAlert } from "./alerts.ts";
import { nameOn } from "./report-alerts.ts";

/** Alerts are about the last minutes, so a visit also gets what an earlier one has stored. */
const CPU_MINUTES = 30;
const ERROR_MINUTES = 10;
const ERROR_REQUESTS_MIN = 20;

/** The newest sample may be so much older than now: the machine's clock is behind, or it is too busy to take each one. */
const LATE_MINUTES = 10;

/** Returns from when on a machine is asked for what it has measured, in seconds. */
export const metricsSince = ({ figures_at = 0 }: WatchedServer, at: number): number =>
  Math.min(figures_at, Math.floor(at / 1000) - (CPU_MINUTES + LATE_MINUTES) * MINUTE_SECONDS);

type Collected = Partial<Pick<WatchedServer, "figures_at" | "figures_day">>;

/**
 * So many unknown instances are accepted, as in a report: a machine's root may be hostile, and may report more instances than
 * there are.
 */
const UNKNOWN_MAX = 50;

/** Stores what is new. Figures are no reason to fail a check: what is not stored now is collected by the next visit. */
export async function collectMetrics(
  server: ServerRecord,
  { figures_at = 0, figures_day }: WatchedServer,
  samples: readonly Sample[],
  at: number,
): Promise<Collected> {
  const newest = samples.at(-1);
  const collected: Collected = {};
  try {
    const fresh = samples
      .filter((sample) => sample.at > figures_at)
      .map((sample) => limited(sample, server.instances + UNKNOWN_MAX));
    if (newest !== undefined && fresh.length > 0) {
      await storeSamples(server, fresh);
      collected.figures_at = newest.at;
    }
    const last = lastWholeDay(server.id, at);
    const day = figures_day === undefined ? last : Math.min(figures_day + 1, last);
    if (day !== figures_day) {
      if (figures_day !== undefined) await sumUpDay(server, day);
      collected.figures_day = day;
    }
  } catch (error) {
    log.warn("a server's figures could not be stored", { server: server.id, error });
  }
  return collected;
}

function limited({ instances, ...sample }: Sample, count: number): Sample {
  return { ...sample, instances: new Map([...instances].slice(0, count)) };
}

/** The last day that is to be summed up, in days since 1970: each server's turn is at another minute of the day after it. */
function lastWholeDay(serverId: string, at: number): number {
  const turn = bytesOfId(serverId).readUInt16BE(12) % (DAY_SECONDS / MINUTE_SECONDS);
  return Math.floor((at / 1000 - turn * MINUTE_SECONDS) / DAY_SECONDS) - 1;
}

/** The alerts of a server's processors and of its instances' errors. */
export async function evaluateMetricAlerts(
  alerts: AccountAlerts,
  server: ServerRecord,
  samples: readonly Sample[],
): Promise<void> {
  const newest = samples.at(-1);
  if (newest === undefined) return;
  const lately = (minutes: number): Sample[] => samples.filter(({ at }) => at > newest.at - minutes * MINUTE_SECONDS);
  const measured = lately(CPU_MINUTES).filter((sample) => cpuOf(sample) !== null);
  const busy = withoutGaps(measured.map(cpuOf));
  // A machine that has just started is busy, and that is no alert yet. One that is too busy to take each sample is one.
  const isLong = (measured[0]?.at ?? Infinity) <= newest.at - (CPU_MINUTES - 2) * MINUTE_SECONDS && busy.length > CPU_MINUTES / 2;
  if (isLong) {
    const percent = total(busy) / busy.length;
    await evaluateAlert(alerts, { kind: "cpu", type: "server", id: server.id, measured: percent, name: () => server.name });
  }
  const last = lately(ERROR_MINUTES);
  const open = alerts.open.filter(({ kind, server_id }) => kind === "error_rate" && server_id === server.id);
  for (const id of new Set([
    ...last.flatMap(({ instances }) => [...instances.keys()]),
    ...open.map((each) => each.resource_id),
  ])) {
    const count = (name: string): number =>
      total(withoutGaps(last.map(({ instances }) => pick(INSTANCE_SERIES, instances.get(id), name))));
    const requests = count("requests");
    // Few requests open nothing. They close nothing either as long as they fail, or a count around the least one would flap.
    const isSignificant = requests >= ERROR_REQUESTS_MIN || (requests > 0 && open.some((each) => each.resource_id === id));
    const percent = isSignificant && (100 * count("errors_5xx")) / requests;
    await evaluateAlert(alerts, {
      kind: "error_rate",
      type: "instance",
      id,
      measured: percent,
      server_id: server.id,
      name: () => nameOn(server, id),
    });
  }
}

const cpuOf = ({ server }: Sample): number | null => pick(SERVER_SERIES, server, "cpu_percent");
const withoutGaps = (figures: readonly (number | null)[]): number[] => figures.filter((figure) => figure !== null);
const total = (figures: readonly number[]): number => figures.reduce((sum, figure) => sum + figure, 0);
