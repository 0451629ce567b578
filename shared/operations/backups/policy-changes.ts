// How backup policies are set. What only moves them does without the cron parser (`policies.ts`).
import type { PolicyFields } from "../../api/backup-policy.ts";
import { type BackupPolicy, NEXT_RUNS } from "../../api/policy-shown.ts";
import { isFailure } from "../../domain/lifecycle.ts";
import { OVERDUE_MINUTES } from "../../domain/limits.ts";
import { reasonIn } from "../../domain/reasons.ts";
import { nextRun, nextRuns } from "../../domain/schedule.ts";
import type { Change } from "../../data/change.ts";
import {
  immediateRun,
  removeWaitingBackup,
  toIso,
  minutesAfter,
  type Present,
  savePolicy,
  showProtection,
  startKey,
} from "../../records/policies.ts";
import type { DueRun, PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";

/**
 * Returns when an instance becomes overdue: two hours after the first due time since its last completed backup was begun, not
 * counting times before the policy was set, nor a run that waits for a slot on its server.
 */
export function overdueAt(
  policy: Pick<PolicyRecord, "schedule" | "timezone" | "enabled" | "since" | "due">,
  begunAt: string | null,
): string | null {
  if (!policy.enabled || begunAt === null) return null;
  const waiting = policy.due !== null && policy.due.backup_id !== null ? policy.due.due_at : "";
  const [latest = begunAt] = [begunAt, policy.since, waiting].toSorted().toReversed();
  return minutesAfter(toIso(nextRun(policy, Date.parse(latest))), OVERDUE_MINUTES);
}

/** The response has only the public fields. */
export const toPolicy = ({ last_run, ...policy }: PolicyRecord): BackupPolicy => ({
  ...policy,
  next_runs: listNextRuns(policy),
  last_run: last_run && { ...last_run, reason_details: last_run.reason_details ?? reasonIn(last_run.reason) },
});

/** Lists when a policy runs next. One that is due at once has its run first, then those of its schedule. */
export function listNextRuns(policy: Pick<PolicyRecord, "schedule" | "timezone" | "next_run_at">): string[] {
  const { next_run_at } = policy;
  if (next_run_at === null) return [];
  const after = Math.max(Date.parse(next_run_at), Date.now());
  return [next_run_at, ...nextRuns(policy, after, NEXT_RUNS - 1).map(toIso)];
}

/** There is nothing to back up, ever: an instance whose creation failed can only be deleted. */
export const isNeverInstalled = ({ installed, state }: Pick<InstanceRecord, "installed" | "state">): boolean =>
  !installed && isFailure(state);

interface Setting extends Present {
  /** The present policy is making the instance's first backup. */
  firstIsRunning: boolean;
}

/** The policy that an instance gets with `fields`, in place of the one that it has. */
export function policyWith(
  { instance, policy: current, firstIsRunning }: Omit<Setting, "by" | "waiting">,
  fields: PolicyFields,
  at: number,
) {
  const active = current?.enabled === true ? current : undefined;
  const unchanged = active?.schedule === fields.schedule && active.timezone === fields.timezone;
  const runs = fields.enabled && !isNeverInstalled(instance);
  const due = runs ? dueWith({ instance, firstIsRunning }, active, unchanged, toIso(at)) : null;
  const isUntried = due !== null && due.held_since === null && due.backup_id === null;
  const next = unchanged && active.next_run_at !== null ? active.next_run_at : toIso(nextRun(fields, at));
  const policy = {
    ...fields,
    account_id: instance.account_id,
    instance_id: instance.id,
    server_id: instance.server_id,
    last_run: current?.last_run ?? null,
    next_run_at: !runs ? null : isUntried ? due.due_at : next,
    since: unchanged ? active.since : toIso(at),
    due,
    retain: fields.enabled && (current?.retain ?? false),
    overdue_at: null,
    drill_at: runs ? drillAtWith(active, fields, toIso(at)) : null,
  };
  const isOverdue = instance.protection_status === "overdue";
  return { ...policy, overdue_at: isOverdue ? null : overdueAt(policy, instance.last_backup_begun_at) };
}

/** The first drill is due at once; another schedule, or other rules, do not bring the next one forward. */
function drillAtWith(active: PolicyRecord | undefined, { drill_every_days }: PolicyFields, at: string): string | null {
  if (drill_every_days === null) return null;
  return active?.drill_every_days === drill_every_days ? active.drill_at : at;
}

/**
 * A run that is due stays due, whatever the new schedule is; without any completed backup, one is due at once, unless it is being
 * made.
 */
function dueWith(
  { instance, firstIsRunning }: Pick<Setting, "instance" | "firstIsRunning">,
  active: PolicyRecord | undefined,
  unchanged: boolean,
  at: string,
): DueRun | null {
  if (instance.last_backup_at === null && !firstIsRunning) {
    const due = active?.due ?? immediateRun(at);
    return { ...due, start_at: due.start_at < at ? due.start_at : at };
  }
  if (active === undefined || active.due !== null || unchanged) return active?.due ?? null;
  const { next_run_at } = active;
  return next_run_at !== null && next_run_at <= at ? { ...immediateRun(next_run_at), start_at: startKey(active) ?? at } : null;
}

/** Sets an instance's policy. */
export function setPolicy(change: Change, setting: Setting, fields: PolicyFields): PolicyRecord {
  const { by, instance, policy, waiting } = setting;
  const saved = savePolicy(change, policy, policyWith(setting, fields, Date.now()));
  if (saved.due === null && waiting !== undefined) removeWaitingBackup(change, by, waiting);
  const enabled = saved.enabled && instance.last_backup_at !== null;
  const to = !enabled ? "unprotected" : instance.protection_status === "overdue" ? "overdue" : "protected";
  showProtection(change, instance, { to, next_backup_at: saved.next_run_at });
  return saved;
}
