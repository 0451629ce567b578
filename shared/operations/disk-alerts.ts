// What follows from a server's report about its disk: alerts of the server and of its instances, each with an event when it opens
// and closes, and the reasons that its instances show.
import { isDeepStrictEqual } from "node:util";
import type { Alert } from "../api/events.ts";
import { LIFECYCLE } from "../domain/lifecycle.ts";
import { DISK_STEPS, diskStep, isOverQuota, percentFree } from "../domain/low-disk.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { log } from "../platform/log.ts";
import { accountRef } from "../records/accounts.ts";
import { type Change, startChange } from "../data/change.ts";
import { logOutcome } from "../records/events.ts";
import { hostReportRef } from "../records/host-reports.ts";
import { instanceRef } from "../records/instances.ts";
import { itemsOfParent } from "../data/lists-of-parents.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import type { HostReport, ReportedUse } from "../records/schemas/host-report.ts";
import { InstanceRecord } from "../records/schemas/instance.ts";
import type { ServerRecord, WatchedServer } from "../records/schemas/server.ts";
import { NO_REASON, shownReason, statusReason } from "../records/reasons.ts";
import { ConditionFailed, find, updateOne } from "../data/table.ts";

const KINDS = ["disk_quota", "disk_paused"] as const;
type Kind = (typeof KINDS)[number];

/** By the alert that is the worst for the instance. */
const REASONS: Readonly<Record<Kind, Reason>> = {
  disk_quota: because("disk_quota_exceeded"),
  disk_paused: because("disk_paused"),
};

const SERVICE = { actor: { type: "service", id: "service", name: "Health check" }, requestId: "health-check" } as const;

/** How many alerts have opened, by kind. */
interface Opened {
  disk_free: number;
  disk_paused: number;
}

/** One write for each server and instance whose alerts change: none of them depends on another. */
export async function judgeDisk(server: ServerRecord, report: HostReport): Promise<Opened> {
  const opened = (await judgeServer(server, report)) ? 1 : 0;
  const [before, uses] = [new Map(Object.entries(report.use_alerts)), new Map(Object.entries(report.uses))];
  const alerts = new Map(before);
  let paused = 0;
  for (const id of new Set([...before.keys(), ...uses.keys()])) {
    const use = uses.get(id);
    const [was, is] = [before.get(id) ?? [], use === undefined ? [] : listKinds(use, before.get(id) ?? [])];
    if (was.length === 0 && is.length === 0) continue;
    const from = Object.fromEntries(alerts);
    if (is.length === 0) alerts.delete(id);
    else alerts.set(id, is);
    await judgeInstance(server, { id, use, was, is }, { from, to: Object.fromEntries(alerts) });
    if (is.includes("disk_paused") && !was.includes("disk_paused")) paused++;
  }
  return { disk_free: opened, disk_paused: paused };
}

const listKinds = ({ used_bytes, quota_bytes, paused }: ReportedUse, open: readonly string[]): Kind[] => [
  ...(isOverQuota(used_bytes, quota_bytes, open.includes("disk_quota")) ? (["disk_quota"] as const) : []),
  ...(paused ? (["disk_paused"] as const) : []),
];

/** Whether an alert has opened. */
async function judgeServer(server: ServerRecord, report: HostReport): Promise<boolean> {
  const { disk_free_bytes, disk_size_bytes, disk_alert, disk_shown } = report;
  if (disk_size_bytes === null || disk_size_bytes === 0) return false;
  const step = diskStep(disk_free_bytes, disk_size_bytes, disk_alert);
  if (step === disk_alert && step === disk_shown) return false;
  const value = percentFree(disk_free_bytes, disk_size_bytes);
  const [was, is] = [openSteps(disk_alert), openSteps(step)];
  const hasOpened = is.length > was.length;
  const done = await written(server.account_id, (change) => {
    const { key } = hostReportRef(server.account_id, server.id);
    change.update(key, { set: { disk_alert: step, disk_shown: step } }, { unchanged: { disk_alert, disk_shown } });
    change.moveDisk(disk_shown, step);
    const alert = (what: "opened" | "closed", threshold: number): void =>
      logAlert(change, what, { kind: "disk_free", value, threshold }, { type: "server", id: server.id, name: server.name });
    for (const each of is) if (!was.includes(each)) alert("opened", each);
    for (const each of was) if (!is.includes(each)) alert("closed", each);
  });
  return done && hasOpened;
}

const openSteps = (lowest: number | null): number[] => DISK_STEPS.filter((step) => lowest !== null && step >= lowest);

interface Judged {
  id: string;
  use: ReportedUse | undefined;
  was: readonly string[];
  is: readonly Kind[];
}

async function judgeInstance(
  server: ServerRecord,
  { id, use, was, is }: Judged,
  alerts: { from: HostReport["use_alerts"]; to: HostReport["use_alerts"] },
): Promise<void> {
  const { account_id } = server;
  const named = await find(instanceRef(account_id, id));
  const instance = named?.server_id === server.id ? named : undefined; // a machine may report anything
  if (instance !== undefined) await explain(instance, use, is);
  if (isDeepStrictEqual(was, is)) return;
  await written(account_id, (change) => {
    change.update(
      hostReportRef(account_id, server.id).key,
      { set: { use_alerts: alerts.to } },
      { unchanged: { use_alerts: alerts.from } },
    );
    if (instance === undefined) return; // deleted, which its machine may not know yet
    const { name } = instance;
    const [value, threshold] = [use?.used_bytes ?? 0, use?.quota_bytes ?? 0];
    const alert = (what: "opened" | "closed", kind: string): void =>
      logAlert(change, what, { kind, value, threshold }, { type: "instance", id, name });
    for (const kind of is) if (!was.includes(kind)) alert("opened", kind);
    for (const kind of was) if (!is.some((each) => each === kind)) alert("closed", kind);
  });
}

/**
 * Says in the instance's record what is the matter, or no longer says it, unless an operation or a failure has something to say.
 */
async function explain(instance: InstanceRecord, use: ReportedUse | undefined, is: readonly Kind[]): Promise<void> {
  const { account_id, id, operation_id, status_reason } = instance;
  const isOver = use !== undefined && isOverQuota(use.used_bytes, use.quota_bytes, false);
  const reason = is.includes("disk_paused") ? REASONS.disk_paused : isOver ? REASONS.disk_quota : undefined;
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

function logAlert(
  change: Change,
  what: "opened" | "closed",
  alert: Alert,
  resource: { type: "server" | "instance"; id: string; name: string },
): void {
  logOutcome(change, SERVICE, { type: `alert.${what}`, alert }, resource);
}

/** False if the report or the account was changed meanwhile: the next report is judged again. */
async function written(accountId: string, make: (change: Change) => void): Promise<boolean> {
  const account = await find(accountRef(accountId));
  if (account === undefined) return false;
  const change = startChange(account);
  make(change);
  try {
    await change.commit();
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    log.info("an alert about a disk was changed by another check", { account: accountId });
    return false;
  }
}

/** Whether the disk is low, noted where the next check looks first. */
export async function noteDisk(watched: WatchedServer, { disk_free_bytes, disk_size_bytes }: HostReport): Promise<void> {
  const isLow = disk_size_bytes !== null && diskStep(disk_free_bytes, disk_size_bytes) !== null;
  if (isLow === (watched.disk_low ?? false)) return;
  const change = isLow ? { set: { disk_low: true } } : { remove: ["disk_low"] };
  await updateOne(keys.watchedServer(watched.server_id), change, {});
}

/** What the instances of a server may use of its disk, those that have a quota. */
export async function quotasOn({ account_id, id }: ServerRecord): Promise<Map<string, number>> {
  const instances = parseEach(InstanceRecord, await itemsOfParent("instance", account_id, id));
  return new Map(instances.flatMap((each) => (each.disk_quota_bytes === null ? [] : [[each.id, each.disk_quota_bytes]])));
}

/** Its machine knows the quotas, and which redirects have ended, as they were then. */
export const settingsPassedOn = async (serverId: string, quotas_changed_at: string): Promise<void> =>
  void (await updateOne(
    keys.watchedServer(serverId),
    { remove: ["quotas_changed_at", "ended_redirects"] },
    { equals: { quotas_changed_at } },
  ));
