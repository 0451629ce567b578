// What follows from a server's report about its disk, besides alerts: what the overview counts, and the reasons that instances
// show.
import { isDeepStrictEqual } from "node:util";
import { LIFECYCLE } from "../../domain/lifecycle.ts";
import { diskStep } from "../../domain/low-disk.ts";
import { because, type Reason } from "../../domain/reasons.ts";
import { startChange, tryCommit } from "../../data/change.ts";
import { hostReportRef } from "../../records/host-reports.ts";
import { instanceRef } from "../../records/instances.ts";
import { readChildren } from "../../data/child-lists.ts";
import { keys } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import type { HostReport, ReportedUse } from "../../records/schemas/host-report.ts";
import { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord, WatchedServer } from "../../records/schemas/server.ts";
import { NO_REASON, shownReason, statusReason } from "../../records/reasons.ts";
import { find, updateOne } from "../../data/table.ts";

/** Counts a server by how full its disk is. Whether it has become low, or lower: false also if another check has counted it. */
export async function countLowDisk({ account_id, id }: ServerRecord, report: HostReport): Promise<boolean> {
  const { disk_free_bytes, disk_size_bytes, disk_shown } = report;
  if (disk_size_bytes === null || disk_size_bytes === 0) return false;
  const step = diskStep(disk_free_bytes, disk_size_bytes, disk_shown);
  if (step === disk_shown) return false;
  const change = startChange({ id: account_id });
  change.update(hostReportRef(account_id, id).key, { set: { disk_shown: step } }, { unchanged: { disk_shown } });
  change.moveDisk(disk_shown, step);
  return (await tryCommit(change)) && step !== null && (disk_shown === null || step < disk_shown);
}

const REASONS = { over: because("disk_quota_exceeded"), paused: because("disk_paused") } as const;

const reasonFor = ({ used_bytes, quota_bytes, paused }: ReportedUse): Reason | undefined =>
  paused ? REASONS.paused : quota_bytes !== null && used_bytes > quota_bytes ? REASONS.over : undefined;

/** Instances say that they are over their quota, or paused. How many have been paused since the last report. */
export async function explainUses({ account_id, id }: ServerRecord, { uses, explained }: HostReport): Promise<number> {
  const reasons = new Map(
    Object.entries(uses).flatMap(([instanceId, use]) => {
      const reason = reasonFor(use);
      return reason === undefined ? [] : [[instanceId, reason] as const];
    }),
  );
  for (const instanceId of new Set([...reasons.keys(), ...Object.keys(explained)])) {
    const instance = await find(instanceRef(account_id, instanceId));
    // A machine may report anything.
    if (instance?.server_id === id) await explain(instance, reasons.get(instanceId));
  }
  const after = Object.fromEntries([...reasons].map(([instanceId, { code }]) => [instanceId, code]));
  if (isDeepStrictEqual(after, explained)) return 0;
  const { key } = hostReportRef(account_id, id);
  const { done } = await updateOne(key, { set: { explained: after } }, { unchanged: { explained } });
  const isPaused = (codes: Readonly<Record<string, string>>, instanceId: string) => codes[instanceId] === REASONS.paused.code;
  return done ? Object.keys(after).filter((each) => isPaused(after, each) && !isPaused(explained, each)).length : 0;
}

/**
 * Says in the instance's record what is the matter, or no longer says it, unless an operation or a failure has something to say.
 */
async function explain(instance: InstanceRecord, reason: Reason | undefined): Promise<void> {
  const { account_id, id, operation_id, status_reason } = instance;
  const shownCode = shownReason(instance)?.code;
  const isOfDisk = status_reason === null || Object.values(REASONS).some(({ code }) => code === shownCode);
  if (reason?.code === shownCode || operation_id !== null || !isOfDisk) return;
  const key = keys.record("instance", account_id, id);
  await updateOne(
    key,
    { set: { ...(reason === undefined ? NO_REASON : statusReason(reason)) } },
    { equals: { operation_id: null, status_reason }, oneOf: { state: LIFECYCLE["instance.update"].from } },
  );
}

/** Whether the disk is low, noted where the next check looks first. */
export async function recordLowDisk(watched: WatchedServer, { disk_free_bytes, disk_size_bytes }: HostReport): Promise<void> {
  const isLow = disk_size_bytes !== null && diskStep(disk_free_bytes, disk_size_bytes) !== null;
  if (isLow === (watched.disk_low ?? false)) return;
  const change = isLow ? { set: { disk_low: true } } : { remove: ["disk_low"] };
  await updateOne(keys.watchedServer(watched.server_id), change, {});
}

/** What the instances of a server may use of its disk, those that have a quota. */
export async function readDiskQuotas({ account_id, id }: ServerRecord): Promise<Map<string, number>> {
  const instances = parseEach(InstanceRecord, await readChildren("instance", account_id, id));
  return new Map(instances.flatMap((each) => (each.disk_quota_bytes === null ? [] : [[each.id, each.disk_quota_bytes]])));
}

/** Its machine knows the quotas, and which redirects have ended, as they were then. */
export const clearSettingsUpdate = async (serverId: string, quotas_changed_at: string): Promise<void> =>
  void (await updateOne(
    keys.watchedServer(serverId),
    { remove: ["quotas_changed_at", "ended_redirects"] },
    { equals: { quotas_changed_at } },
  ));
