// The runs of backup policies, as the schedule function moves them. Each function makes one change, which needs the policy as it
// was read: of two schedule functions that meet, one moves the policy and the other changes nothing.
import { createHash } from "node:crypto";
import { BACKUP_WAITING, DRILL, LIFECYCLE, RESTORABLE } from "../../domain/lifecycle.ts";
import { HELD_MINUTES } from "../../domain/limits.ts";
import { idFrom, newId } from "../../domain/ids.ts";
import type { IdKind } from "../../domain/id-kinds.ts";
import { latestRun, nextRun } from "../../domain/schedule.ts";
import { byAge, type Candidate, retain } from "../../domain/retention.ts";
import { getAccount } from "../../records/accounts.ts";
import { backupRef, beginDeletion } from "../../records/backups.ts";
import { beginScheduledBackup, reserveWaiting, waitingBackup } from "./begin-backup.ts";
import { type Change, startChange } from "../../data/change.ts";
import { logEvent } from "../../records/events.ts";
import { beginDrill } from "./drills.ts";
import { keys, keyString } from "../../data/keys.ts";
import { listChildren } from "../../data/child-lists.ts";
import { findOperation } from "../../records/operations.ts";
import { parseEach } from "../../data/parse-each.ts";
import { removeWaitingBackup, toIso, minutesAfter, savePolicy, showProtection, startKey } from "../../records/policies.ts";
import { overdueAt } from "./policy-changes.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import type { DueRun, PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { type Explained, lastReason } from "../../records/reasons.ts";
import { find, readAll } from "../../data/table.ts";
import { check, update } from "../../data/writes.ts";

/** The author of what policies do. */
const SCHEDULE = { actor: { type: "schedule", id: "schedule", name: "Backup policy" }, requestId: "backup-policy" } as const;

/** What a policy's run needs to know. */
export interface Subject {
  instance: InstanceRecord;
  policy: PolicyRecord;
}

/** The run that is due at a time, if one is: of several that an outage has missed, the latest one. */
export function findDueRun(policy: PolicyRecord, at: string): DueRun | undefined {
  if (!policy.enabled) return undefined;
  if (policy.due !== null) return policy.due.start_at <= at ? policy.due : undefined;
  const start_at = startKey(policy);
  if (policy.next_run_at === null || start_at === undefined || start_at > at) return undefined;
  const due_at = toIso(latestRun(policy, Date.parse(policy.next_run_at), Date.parse(at)));
  return { due_at, attempt: 1, start_at, held_since: null, backup_id: null };
}

/**
 * A policy that has come to its due run: the next one is after it, whatever the clock says. Only a run that begins also covers
 * one that has become due since; otherwise that one is tried itself.
 */
function advancePastDue(
  policy: PolicyRecord,
  due: DueRun,
  at: string,
  { begins = false } = {},
): PolicyRecord & { next_run_at: string } {
  const pending = policy.next_run_at;
  const isPast = pending === null || pending <= due.due_at || (begins && pending <= at);
  const from = Math.max(Date.parse(due.due_at), Date.parse(at));
  return { ...policy, next_run_at: isPast ? toIso(nextRun(policy, from)) : pending };
}

/** Returns until when a run waits for a slot: an hour before the next one is due, but half an hour at least. */
export const waitsUntil = (due: DueRun, next_run_at: string): string =>
  [minutesAfter(next_run_at, -60), minutesAfter(due.due_at, 30)].toSorted().at(-1) ?? next_run_at;

/** A run makes the same backup and the same operation, however often it is begun. */
function deriveId(kind: IdKind, { instance_id }: PolicyRecord, { due_at, attempt }: DueRun): string {
  const digest = createHash("sha256").update(`${kind}\n${instance_id}\n${due_at}\n${attempt}`).digest();
  return idFrom(kind, Date.parse(due_at), digest.subarray(0, 10));
}

/**
 * Starts a change with the account as it is now, for the numbers of new records: a run of the function takes up to a minute, and
 * lists by date need numbers that are as recent as the times.
 */
const changeWithNumbers = async ({ account_id }: PolicyRecord): Promise<Change> => startChange(await getAccount(account_id));

/** Begins the backup of a due run. */
export async function beginRun(
  { instance, policy }: Subject,
  due: DueRun,
  waiting: BackupRecord | undefined,
  at: string,
): Promise<{ policy: PolicyRecord; operation: OperationRecord }> {
  const change = await changeWithNumbers(policy);
  const after = { ...advancePastDue(policy, due, at, { begins: true }), due: null };
  const saved = savePolicy(change, policy, { ...after, overdue_at: findOverdue(after, instance) });
  const operation = beginScheduledBackup(change, SCHEDULE, instance, {
    due,
    operationId: deriveId("operation", policy, due),
    backupId: deriveId("backup", policy, due),
    waiting,
    next_run_at: after.next_run_at,
  });
  await change.commit();
  return { policy: saved, operation };
}

const findOverdue = (policy: PolicyRecord, { last_backup_begun_at, protection_status }: InstanceRecord): string | null =>
  protection_status === "overdue" ? null : overdueAt(policy, last_backup_begun_at);

/** Keeps a due run until its server has a free slot; its backup is pending meanwhile. */
export async function queueRun({ instance, policy }: Subject, due: DueRun, at: string): Promise<PolicyRecord> {
  const change = await changeWithNumbers(policy);
  const backup_id = due.backup_id ?? deriveId("backup", policy, due);
  const after = { ...advancePastDue(policy, due, at), due: { ...due, backup_id, held_since: null } };
  const saved = savePolicy(change, policy, { ...after, overdue_at: findOverdue(after, instance) });
  if (due.backup_id === null) reserveWaiting(change, instance, due, backup_id);
  showNextRun(change, instance, after.next_run_at);
  await change.commit();
  return saved;
}

/** Notes since when a due run is retried because its instance or server is not available. */
export async function holdRun({ instance, policy }: Subject, due: DueRun, at: string): Promise<PolicyRecord> {
  const change = startChange({ id: policy.account_id });
  const after = { ...advancePastDue(policy, due, at), due: { ...due, held_since: at } };
  const saved = savePolicy(change, policy, { ...after, overdue_at: findOverdue(after, instance) });
  showNextRun(change, instance, after.next_run_at);
  await change.commit();
  return saved;
}

export const isHeldTooLong = ({ held_since }: DueRun, at: string): boolean =>
  held_since !== null && minutesAfter(held_since, HELD_MINUTES) <= at;

/** Stops a policy whose instance was never installed: without this, a run of it would be due, and skipped, every night. */
export async function stopPolicy({ instance, policy }: Subject): Promise<void> {
  const waiting = await waitingBackup(policy);
  const change = await changeWithNumbers(policy);
  savePolicy(change, policy, { ...policy, next_run_at: null, due: null, overdue_at: null, drill_at: null, retain: false });
  if (waiting !== undefined) removeWaitingBackup(change, SCHEDULE, waiting);
  showNextRun(change, instance, null);
  await change.commit();
}

/** Gives up a due run. */
export const skipRun = (subject: Subject, due: DueRun, explanation: Explained, at: string): Promise<PolicyRecord> =>
  finishRun(subject, due, { at: due.due_at, status: "skipped", backup_id: null, ...lastReason(explanation) }, at);

/** Whether a due run has taken place already: the clock has gone back since, and the policy was set again. */
export async function hasRun(policy: PolicyRecord, due: DueRun): Promise<boolean> {
  if (due.backup_id !== null) return false; // the backup that waits is the run's own
  const createdKeys = (["backup", "operation"] as const).map((kind) =>
    keys.record(kind, policy.account_id, deriveId(kind, policy, due)),
  );
  return (await readAll(createdKeys)).size > 0;
}

/** Goes on to the next run. */
export const closeRun = (subject: Subject, due: DueRun, at: string): Promise<PolicyRecord> =>
  finishRun(subject, due, subject.policy.last_run, at);

async function finishRun(
  { instance, policy }: Subject,
  due: DueRun,
  last_run: PolicyRecord["last_run"],
  at: string,
): Promise<PolicyRecord> {
  const waiting = await waitingBackup(policy);
  const change = await changeWithNumbers(policy);
  const after = { ...advancePastDue(policy, due, at), due: null, last_run };
  const saved = savePolicy(change, policy, { ...after, overdue_at: findOverdue(after, instance) });
  if (waiting !== undefined) removeWaitingBackup(change, SCHEDULE, waiting);
  if (last_run !== policy.last_run)
    logEvent(change, SCHEDULE, "backup_policy.run_skipped", { type: "instance", id: instance.id, name: instance.name });
  showNextRun(change, instance, after.next_run_at);
  await change.commit();
  return saved;
}

const showNextRun = (change: Change, instance: InstanceRecord, next_backup_at: string | null): void => {
  if (next_backup_at === instance.next_backup_at) return;
  change.update(keys.record("instance", change.accountId, instance.id), { set: { next_backup_at } });
  change.revise();
};

/**
 * Moves an instance to `overdue`, unless a backup that is still running was begun since the run was due; whether it became so.
 */
export async function markOverdue({ instance, policy }: Subject, at: string): Promise<{ policy: PolicyRecord; became: boolean }> {
  const overdue_at = findOverdue(policy, instance);
  const became = overdue_at !== null && overdue_at <= at;
  const running =
    instance.operation_id === null || !became ? undefined : await findOperation(policy.account_id, instance.operation_id);
  if (running?.type === "backup.create" && (overdueAt(policy, running.created_at) ?? "") > at) return { policy, became: false };
  const change = await changeWithNumbers(policy);
  const saved = savePolicy(change, policy, { ...policy, overdue_at: became ? null : overdue_at });
  if (became) {
    // Unless a backup was begun in the meantime, as by this run of the function.
    const { operation_id } = instance;
    // The time is the policy's, not the instance's as it was read: this run of the function may have moved the policy since.
    showProtection(change, instance, { to: "overdue", next_backup_at: policy.next_run_at }, { operation_id });
    logEvent(change, SCHEDULE, "instance.overdue", { type: "instance", id: instance.id, name: instance.name });
  }
  await change.commit();
  return { policy: saved, became };
}

/**
 * The pause before a drill that cannot begin is tried again: there is no completed backup yet, or the backup or the server's slot
 * for drills is in use.
 */
const DRILL_AGAIN_MINUTES = 15;

/** Begins the drill that is due, of the instance's last completed backup. Undefined if there is none. */
export async function beginDueDrill(
  { instance, policy }: Subject,
  at: string,
): Promise<{ policy: PolicyRecord; operation: OperationRecord } | undefined> {
  const { last_backup_id, server_id } = instance;
  const backup = last_backup_id === null ? undefined : await find(backupRef(policy.account_id, last_backup_id));
  if (backup === undefined || policy.drill_every_days === null) return undefined;
  const change = await changeWithNumbers(policy);
  const saved = savePolicy(change, policy, { ...policy, drill_at: minutesAfter(at, policy.drill_every_days * 24 * 60) });
  const operation = beginDrill({ change, by: SCHEDULE, operationId: newId("operation") }, backup, server_id);
  await change.commit();
  return { policy: saved, operation };
}

export async function postponeDrill({ policy }: Subject, at: string): Promise<PolicyRecord> {
  const change = startChange({ id: policy.account_id });
  const saved = savePolicy(change, policy, { ...policy, drill_at: minutesAfter(at, DRILL_AGAIN_MINUTES) });
  await change.commit();
  return saved;
}

/** Removals of one policy in one run of the schedule function; the next one continues. */
const REMOVALS_MAX = 50;
/** A transaction has at most 100 items. */
const CHANGES_MAX = 90;

/**
 * What a policy would keep and remove of an instance's backups: now, or once the backup that is due at `coming` is completed,
 * which then is the instance's last one. By then, the run that is in progress is completed, too.
 */
export async function applyRules(
  policy: Pick<PolicyRecord, "account_id" | "instance_id" | "keep" | "timezone">,
  { last_backup_id }: Pick<InstanceRecord, "last_backup_id">,
  coming: string | null = null,
) {
  const { account_id: accountId, instance_id } = policy;
  const listed = await listChildren(
    { kind: "backup", accountId, schema: BackupRecord, parentId: instance_id },
    {
      per_page: Number.MAX_SAFE_INTEGER,
    },
  );
  // The index may lag behind, and still show what was deleted.
  const items = await readAll(listed.items.map(({ id }) => keys.record("backup", accountId, id)));
  const stored = listed.items
    .map(({ id }) => items.get(keyString(keys.record("backup", accountId, id))))
    .filter((item) => item !== undefined);
  const all = parseEach(BackupRecord, stored)
    .map((backup) => ({
      ...backup,
      due_at: backup.due_at ?? backup.created_at,
      in_use: !isInProgress(backup) && (backup.operation_id !== null || (backup.used_by?.size ?? 0) > 0),
    }))
    .toSorted(byAge);
  const backups = all.filter((backup) => isRetained(backup) || (coming !== null && isInProgress(backup)));
  const next = coming === null ? [] : [{ id: "", due_at: coming, locked: false, in_use: false }];
  const { retained_by, removable } = retain<Candidate>(policy.keep, policy.timezone, [...next, ...backups]);
  const byId = new Map(backups.map((backup) => [backup.id, backup]));
  const retainedIds = [coming === null ? last_backup_id : null, ...lastProven(all)];
  return {
    backups,
    newest: all.find(({ state }) => RESTORABLE.includes(state)),
    retained_by,
    removable: removable.flatMap(({ id }) => (retainedIds.includes(id) ? [] : (byId.get(id) ?? []))),
  };
}

/**
 * The newest backup whose drill passed, if the drill of a newer one has failed: until another passes, it may be the only one that
 * restores. The newer one stays as well, because it is what says so.
 */
function lastProven(newestFirst: readonly Pick<BackupRecord, "id" | "state" | "drill" | "expires_at">[]): string[] {
  const drilled = newestFirst.filter(({ state, drill, expires_at }) => {
    if (drill === null || expires_at !== null) return false; // one that expires proves nothing for long
    return drill.status === DRILL.failed || RESTORABLE.includes(state);
  });
  const [last] = drilled;
  if (last?.drill?.status !== DRILL.failed) return [];
  const proven = drilled.find(({ drill }) => drill?.status === DRILL.passed);
  return proven === undefined ? [] : [last.id, proven.id];
}

const isRetained = ({ kind, state }: BackupRecord): boolean => kind === "scheduled" && RESTORABLE.includes(state);

/** One without an operation waits for its turn. */
const isInProgress = ({ kind, state, operation_id }: BackupRecord): boolean =>
  kind === "scheduled" && operation_id !== null && (state === BACKUP_WAITING || state === LIFECYCLE["backup.create"].begun);

/**
 * Begins the deletion of what no rule keeps, and shows which rules keep the others. Afterwards there is nothing to do until the
 * next run.
 */
export async function applyRetention(
  { instance, policy }: Subject,
  turn: () => Promise<void>,
  start: (operation: OperationRecord) => Promise<void>,
): Promise<void> {
  const { backups, newest, retained_by, removable } = await applyRules(policy, instance);
  for (const backup of removable.slice(0, REMOVALS_MAX)) {
    await turn();
    const change = await changeWithNumbers(policy);
    const operation = beginDeletion(change, SCHEDULE, backup, newId("operation"));
    // The rules still are those that were applied, the instance exists, its last completed backup stays, and was not drilled
    // since.
    change.write(check(keys.backupPolicy(policy.account_id, policy.instance_id), { equals: { revision: policy.revision } }));
    change.write(
      check(keys.record("instance", policy.account_id, instance.id), { unchanged: { last_backup_id: instance.last_backup_id } }),
    );
    if (newest !== undefined)
      change.write(
        check(keys.record("backup", policy.account_id, newest.id), {
          equals: { operation_id: null },
          oneOf: { state: RESTORABLE },
          unchanged: { drill: newest.drill },
        }),
      );
    await change.commit();
    await start(operation);
  }
  const changed = backups.filter(({ id, retained_by: before }) => (retained_by.get(id) ?? []).join() !== before.join());
  const remaining = changed.filter(({ id }) => !removable.some((each) => each.id === id));
  const change = startChange({ id: policy.account_id });
  const isDone = removable.length <= REMOVALS_MAX && remaining.length <= CHANGES_MAX;
  savePolicy(change, policy, { ...policy, retain: !isDone, overdue_at: findOverdue(policy, instance) });
  if (remaining.length > 0) change.revise();
  for (const { id } of remaining.slice(0, CHANGES_MAX))
    change.write(
      update(
        keys.record("backup", policy.account_id, id),
        { set: { retained_by: retained_by.get(id) ?? [] } },
        { oneOf: { state: RESTORABLE } },
      ),
    );
  await change.commit();
}
