// Every minute: checks whether each server responds, and records those that went offline or came back, and what they report about
// themselves, with the figures that they have measured. Where a machine's line says which of its ERPs cannot be used, that is
// recorded too, and those that stay down are restarted. If it says that instances are paused, the machine is logged in to,
// because its report says which. Those that came back lose the ERPs whose instances were deleted meanwhile.
import * as z from "zod";
import { HOUR_MS, MINUTE_MS } from "../../shared/domain/durations.ts";
import { alertsReader, type ReadAlerts } from "../../shared/operations/monitoring/alerts.ts";
import {
  countLowDisk,
  explainUses,
  recordLowDisk,
  readDiskQuotas,
  clearSettingsUpdate,
} from "../../shared/operations/monitoring/disk-use.ts";
import { recordOutdatedImages } from "../../shared/operations/monitoring/images.ts";
import { collectMetrics, metricsSince, evaluateMetricAlerts } from "../../shared/operations/monitoring/metric-alerts.ts";
import {
  evaluateErpDownAlert,
  evaluateReportAlerts,
  evaluateUnreachableAlert,
} from "../../shared/operations/monitoring/report-alerts.ts";
import { recordCertificateEvents } from "../../shared/operations/monitoring/certificate-events.ts";
import { leftoversOn, type MachineReport, recordReport } from "../../shared/records/host-reports.ts";
import {
  beginRestart,
  recordErpHealth,
  setErpsWatched,
  selectNewLine,
  selectLoginLine,
  type StatusLine,
  hasLines,
  loseLines,
} from "../../shared/operations/monitoring/health.ts";
import { recordRebootNeeded } from "../../shared/operations/monitoring/reboots.ts";
import { recordProbe, watchedServers } from "../../shared/records/machines.ts";
import type { HostReport } from "../../shared/records/schemas/host-report.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import type { ServerRecord, WatchedServer } from "../../shared/records/schemas/server.ts";
import type { Probed } from "../../shared/hosts/host.ts";
import { greets, probe, run, statusLine } from "../../shared/hosts/index.ts";
import { bytesOfId } from "../../shared/domain/ids.ts";
import { HEALTH, workflowOf } from "../../shared/domain/lifecycle.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { because, type Reason } from "../../shared/domain/reasons.ts";
import { newestImages } from "../../shared/providers/images.ts";
import { loadProvider } from "../../shared/providers/index.ts";
import { concurrentlyLogged } from "../../shared/runtime/concurrently-logged.ts";
import { shuffled } from "../../shared/runtime/shuffled.ts";
import { startExecution } from "../../shared/runtime/start.ts";
import { log } from "../../shared/platform/log.ts";
import { publish } from "../../shared/platform/publish-metric.ts";
import { withTimeout } from "../../shared/platform/with-timeout.ts";

/** A probe without a response takes 5 s, and a report at most 10: 100 at once cover 800 dead servers within a run. */
const PROBES_AT_ONCE = 100;

/** A run is killed after a minute: the checks that have begun by then take up to 20 s. */
export const BEGIN_SECONDS = 40;

/** A schedule of an earlier version has one run, and its event no part. */
const Event = z.object({ part: z.number().int().min(0), parts: z.number().int().min(1) }).catch({ part: 0, parts: 1 });

/** What a run does not reach, the next one begins with, because its check is the oldest. */
export async function handler(event?: unknown): Promise<void> {
  const until = Date.now() + BEGIN_SECONDS * 1000;
  let unreached = 0;
  const alertsOf = alertsReader();
  const checkInTime = async (each: Watched): Promise<void> =>
    Date.now() < until ? check(each, alertsOf) : void (unreached += 1);
  await concurrentlyLogged(PROBES_AT_ONCE, await watchedServers(Event.parse(event)), checkInTime, ({ server }) => ({
    account: server.account_id,
    server: server.id,
  }));
  if (unreached > 0)
    throw new Error(`${unreached} servers were not reached within ${BEGIN_SECONDS} s; the next run checks them first`);
}

type Watched = Awaited<ReturnType<typeof watchedServers>>[number];

async function check({ server, watched }: Watched, alertsOf: ReadAlerts): Promise<void> {
  const at = Date.now();
  const isInTrouble = server.state !== HEALTH.responds || server.failed_probes > 0;
  const newLine = isInTrouble ? undefined : selectNewLine(watched, await statusLine(server), at);
  // Only a login decides whether a machine responds: a timer that has stopped takes no server away.
  const lostLine = !isInTrouble && newLine === undefined && hasLines(watched);
  const hasPaused = newLine !== undefined && newLine !== "old" && newLine.paused === true;
  const loggedIn = lostLine || hasPaused || needsLogin(server, watched, at);
  const quotasChanged = watched.quotas_changed_at;
  const settings =
    loggedIn && quotasChanged !== undefined
      ? { quotas: await readDiskQuotas(server), endedRedirects: watched.ended_redirects ?? new Set<string>() }
      : undefined;
  const { responded, report, samples, line, settingsTaken }: Probed = loggedIn
    ? await probe(server, settings, metricsSince(watched, at))
    : { responded: newLine !== undefined || (await greets(server)) };
  if (!responded) log.warn("server does not respond", { server: server.id, account: server.account_id });
  const reason = goesOffline(server, responded) ? await whyOffline(server) : undefined;
  // While its machine is rebooted or updated, neither its silence nor that of its ERPs means anything.
  const isHeld = server.operation_id !== null;
  if ((isInTrouble || !responded) && !isHeld)
    await evaluateUnreachableAlert(await alertsOf(server.account_id), server, { watched, responded, at });
  const heard =
    isInTrouble || !responded || isHeld
      ? {}
      : await processReport({ server, watched, loggedIn, newLine, line, report, at, alertsOf });
  const collected = samples === undefined ? {} : await collectMetrics(server, watched, samples, at);
  await recordProbe(server, { responded, loggedIn, heard: { ...heard, ...collected }, reason });
  if (quotasChanged !== undefined && settingsTaken) await clearSettingsUpdate(server.id, quotasChanged);
  if (report === undefined) return;
  const recorded = await recordReport(server, report);
  if (recorded !== undefined) {
    await recordDiskUse(server, recorded);
    await evaluateReportAlerts(await alertsOf(server.account_id), server, recorded, at);
    await recordCertificateEvents(server, recorded);
    await recordOutdatedImages(server, recorded, await newestImages());
    await recordRebootNeeded(server, recorded);
    await recordLowDisk(watched, recorded);
  }
  if (samples !== undefined) await evaluateMetricAlerts(await alertsOf(server.account_id), server, samples);
  await removeLeftover(server, report);
}

interface ReceivedReport {
  server: ServerRecord;
  watched: WatchedServer;
  loggedIn: boolean;
  newLine: ReturnType<typeof selectNewLine>;
  /** The status line that was read over SSH. */
  line: Probed["line"];
  report: Probed["report"];
  at: number;
  alertsOf: ReadAlerts;
}

/** What a machine that responds says of its ERPs, or that it says nothing any more. */
async function processReport({
  server,
  watched,
  loggedIn,
  newLine: served,
  line,
  report,
  at,
  alertsOf,
}: ReceivedReport): Promise<Partial<Pick<WatchedServer, "line" | "misses">>> {
  const newLine = served ?? selectLoginLine(watched, line, at);
  if (newLine === "old") return {};
  if (newLine === undefined) {
    if (!loggedIn) return {};
    if (hasLines(watched)) log.warn("a machine no longer says how its ERPs are", { server: server.id });
    await setErpsWatched(server, false);
    return loseLines(watched);
  }
  if (!hasLines(watched)) await setErpsWatched(server, true);
  const { misses, wentDown, toRestart, seenErps } = await recordErpHealth(
    server,
    watched.misses,
    newLine,
    pausedErps(newLine, report),
  );
  for (const each of seenErps)
    if (!(await evaluateErpDownAlert(await alertsOf(server.account_id), each, at))) misses[each.instance.id] ??= 0;
  for (const { id, account_id } of wentDown) log.warn("an ERP does not respond", { account: account_id, instance: id });
  if (wentDown.length > 0) publish("InstancesDown", wentDown.length);
  for (const instance of toRestart) if (await restart(instance, at)) misses[instance.id] = 0;
  const { sequence } = newLine;
  return { line: { sequence, at: new Date(at).toISOString(), lost: false, reported: served === undefined }, misses };
}

/** Which ERPs the machine has paused, by its report; null if it has, and did not report. */
function pausedErps({ paused = false }: StatusLine, report: Probed["report"]): Set<string> | null {
  if (report?.uses === undefined) return paused ? null : new Set();
  return new Set(report.uses.filter((use) => use.paused).map(({ instance_id }) => instance_id));
}

/** Whether a restart has begun: the next one waits for as many misses as the first. */
async function restart(instance: InstanceRecord, at: number): Promise<boolean> {
  const about = { account: instance.account_id, instance: instance.id };
  try {
    const operation = await beginRestart(instance, at);
    if (operation === undefined) return false;
    log.warn("restarting an ERP that does not respond", { ...about, operation: operation.id });
    await startExecution(workflowOf(operation.type), operation.id, operation.input);
    return true;
  } catch (error) {
    log.warn("could not restart an ERP; what has begun is started by the sweep", { ...about, error });
    return false;
  }
}

/** Reports a low disk and paused instances at once: nothing later counts them again. */
async function recordDiskUse(server: ServerRecord, report: HostReport): Promise<void> {
  if (await countLowDisk(server, report)) {
    log.warn("a server's disk is low", { account: server.account_id, server: server.id });
    publish("DisksLow", 1);
  }
  const paused = await explainUses(server, report);
  if (paused > 0) {
    log.warn("instances are paused, because their server's disk is almost full", {
      account: server.account_id,
      server: server.id,
    });
    publish("InstancesPaused", paused);
  }
}

/**
 * The job continues without us. As long as it has not succeeded, the machine reports the ERP, and a later check begins the job
 * again, as a new try each hour. One at a time: this function has to look after other servers, too.
 */
async function removeLeftover(server: ServerRecord, report: MachineReport): Promise<void> {
  const [instance_id] = shuffled(await leftoversOn(server, report));
  if (instance_id === undefined) return;
  const about = { account: server.account_id, server: server.id, instance: instance_id };
  try {
    const id = `leftover-${instance_id}-try${Math.floor(Date.now() / HOUR_MS)}`;
    await inTime(run(server, { id, kind: "remove_erp", instance_id }));
    log.info("removing an ERP whose instance was deleted while its server did not respond", about);
  } catch (error) {
    log.warn("could not remove an ERP whose instance was deleted while its server did not respond", { ...about, error });
  }
}

const LEFTOVER_SECONDS = 15;

/** A machine that no longer responds holds up nothing. */
const inTime = (work: Promise<unknown>): Promise<unknown> =>
  withTimeout(work, LEFTOVER_SECONDS * 1000, new Error("It takes too long"));

/** A login takes 5 ms of CPU time, a greeting 0.3: 10,000 logins a minute would keep a function of one vCPU busy for 50 s. */
const MINUTES_BETWEEN_LOGINS = 10;

/**
 * Logs in every minute to a machine that may be in trouble, and every ten minutes to any other, spread by ID: only a login shows
 * that the machine is ours and works, and brings its report. A new machine, and one that has got or lost an instance, need not
 * wait its turn.
 */
function needsLogin({ id, state, failed_probes, instances }: ServerRecord, watched: WatchedServer, at: number): boolean {
  const { last_seen_at, instances_at_login = instances, quotas_changed_at, disk_low = false } = watched;
  if (disk_low || quotas_changed_at !== undefined) return true;
  if (state !== HEALTH.responds || failed_probes > 0) return true;
  if (last_seen_at === null || instances_at_login !== instances) return true;
  return (Math.floor(at / MINUTE_MS) + bytesOfId(id).readUInt16BE(14)) % MINUTES_BETWEEN_LOGINS === 0;
}

/** The reason is fetched only then, because providers limit requests. */
const goesOffline = ({ state, failed_probes, operation_id }: ServerRecord, responded: boolean): boolean =>
  !responded && state === HEALTH.responds && operation_id === null && failed_probes + 1 >= FAILED_PROBES_MAX;

/** The provider's reason for a machine that does not respond. */
async function whyOffline(server: ServerRecord): Promise<Reason | undefined> {
  try {
    const provider = await loadProvider(server);
    const machine = server.machine_id === null ? undefined : await provider.findMachine(server.machine_id);
    if (machine === undefined) return because("machine_gone");
    return machine.state === "off" ? because("machine_off") : undefined;
  } catch (error) {
    log.warn("could not find out from the provider what is wrong with a server", { server: server.id, error });
    return undefined;
  }
}
