// What a machine's report means for the alerts of its server and of the instances on it.
import { find } from "../../data/table.ts";
import { DAY_MS, MINUTE_MS } from "../../domain/durations.ts";
import { FAILED_PROBES_MAX } from "../../domain/limits.ts";
import { HEALTH } from "../../domain/lifecycle.ts";
import { instanceRef } from "../../records/instances.ts";
import type { HostReport } from "../../records/schemas/host-report.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord, WatchedServer } from "../../records/schemas/server.ts";
import type { SeenErp } from "./health.ts";
import { type AccountAlerts, evaluateAlert } from "./alerts.ts";
import type { AlertKind } from "../../domain/alerts.ts";

const GB = 1_000_000_000;

/** Each machine reports every few minutes: nothing is read or written here as long as nothing opens or closes. */
export async function evaluateReportAlerts(
  alerts: AccountAlerts,
  server: ServerRecord,
  report: HostReport,
  at: number,
): Promise<void> {
  const { disk_free_bytes, disk_size_bytes, memory_free_bytes, uses, certificates } = report;
  const ofServer = { type: "server", id: server.id, name: () => server.name } as const;
  if (disk_size_bytes !== null && disk_size_bytes > 0)
    await evaluateAlert(alerts, { ...ofServer, kind: "disk_free", measured: (100 * disk_free_bytes) / disk_size_bytes });
  const memory = server.specs.memory_gb * GB;
  if (memory > 0) await evaluateAlert(alerts, { ...ofServer, kind: "memory_free", measured: (100 * memory_free_bytes) / memory });

  const ofInstance = async (kind: AlertKind, id: string, measured: number | boolean, isMeant?: IsMeant) =>
    evaluateAlert(alerts, {
      kind,
      type: "instance",
      id,
      measured,
      server_id: server.id,
      name: () => nameOn(server, id, isMeant),
    });
  const openIds = alerts.open.filter(({ server_id }) => server_id === server.id).map(({ resource_id }) => resource_id);
  for (const id of new Set([...Object.keys(uses), ...openIds])) {
    const { used_bytes = 0, quota_bytes = null, paused = false } = uses[id] ?? {};
    await ofInstance("disk_quota", id, quota_bytes !== null && quota_bytes > 0 && (100 * used_bytes) / quota_bytes);
    await ofInstance("disk_paused", id, paused);
  }
  for (const id of new Set([...Object.keys(certificates), ...openIds])) {
    const { domain, expires_at = null } = certificates[id] ?? {};
    const days = expires_at !== null && Math.max(0, (Date.parse(expires_at) - at) / DAY_MS);
    await ofInstance("certificate", id, days, (instance) => instance.domain === domain);
  }
}

type IsMeant = (instance: InstanceRecord) => boolean;

/** A machine's root may be hostile, and may report anything: the instance must be on this server. */
export async function nameOn(server: ServerRecord, id: string, isMeant: IsMeant = () => true): Promise<string | undefined> {
  const instance = await find(instanceRef(server.account_id, id));
  return instance?.server_id === server.id && isMeant(instance) ? instance.name : undefined;
}

/** A server that does not respond: counted by probes, of which there is one a minute, until it is offline. */
export async function evaluateUnreachableAlert(
  alerts: AccountAlerts,
  server: ServerRecord,
  { watched, responded, at }: { watched: WatchedServer; responded: boolean; at: number },
): Promise<void> {
  const { id, state, failed_probes, name } = server;
  const since = Date.parse(watched.last_seen_at ?? server.updated_at);
  const minutes =
    state === HEALTH.responds ? failed_probes + 1 : Math.max(FAILED_PROBES_MAX, Math.floor((at - since) / MINUTE_MS));
  await evaluateAlert(alerts, { kind: "down", type: "server", id, measured: !responded && minutes, name: () => name });
}

/** An ERP is found to be down after so many minutes. */
const NOTICED_MINUTES = 2;

/** An ERP that is down, or no longer. False if its alert is over and could not be closed: it must be looked at again. */
export async function evaluateErpDownAlert(alerts: AccountAlerts, { instance, since }: SeenErp, at: number): Promise<boolean> {
  const { id, name } = instance;
  const minutes = since === null ? 0 : NOTICED_MINUTES + Math.floor(Math.max(0, at - Date.parse(since)) / MINUTE_MS);
  await evaluateAlert(alerts, { kind: "down", type: "instance", id, measured: since !== null && minutes, name: () => name });
  return since !== null || !alerts.open.some(({ resource_id, kind }) => resource_id === id && kind === "down");
}
