// What the end of a backup, of its deletion or of its drill means for the protection of its instance, and for its policy's next
// run or drill.
//
// The schemas have only what that takes: every function that can begin an operation builds them at each cold start.
import * as z from "zod";
import { isSafetyBackup } from "../../domain/backup-kinds.ts";
import { BACKUP_WAITING, LIFECYCLE, RESTORABLE } from "../../domain/lifecycle.ts";
import { DRILL_AGAIN_HOURS, REPEAT_MINUTES } from "../../domain/limits.ts";
import { type Change, now } from "../../data/change.ts";
import type { Where } from "../../data/expressions.ts";
import { keys, type Item } from "../../data/keys.ts";
import { listChildren } from "../../data/child-lists.ts";
import { minutesAfter, protectionError, savePolicy, startKey } from "../../records/policies.ts";
import type { OperationCore } from "../../records/schemas/operation.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import { PolicyCore } from "../../records/schemas/backup-policy.ts";
import { type Explained, lastReason } from "../../records/reasons.ts";
import { releaseBackupSlot } from "../../records/servers.ts";
import { find, read } from "../../data/table.ts";
import { check, type Write } from "../../data/writes.ts";

const Protected = z.object({
  id: z.string(),
  number: z.string(),
  protection_status: z.string().default("unprotected"),
  last_backup_id: z.string().nullable().default(null),
  next_backup_at: z.string().nullable().default(null),
});
type Protected = z.infer<typeof Protected>;

const Scheduled = z.object({
  id: z.string(),
  number: z.string(),
  state: z.string(),
  kind: z.string(),
  server_id: z.string(),
  operation_id: z.string().nullable(),
  due_at: z.string().optional(),
  attempt: z.number().optional(),
});

const instanceRef = (accountId: string, id: string) => ({ key: keys.record("instance", accountId, id), schema: Protected });
const backupRef = (accountId: string, id: string) => ({ key: keys.record("backup", accountId, id), schema: Scheduled });
const policyRef = (accountId: string, instanceId: string) => ({
  key: keys.backupPolicy(accountId, instanceId),
  schema: PolicyCore,
});

/** What the write that ends the operation also sets on the instance. */
export interface Protection {
  set: Item;
  where: Where;
  conditionError: Write["conditionError"];
}

interface LastBackup {
  last_backup_id: string | null;
  last_backup_at: string | null;
  last_backup_begun_at: string | null;
}

const BACKUP = LIFECYCLE["backup.create"];

/** Updates the policy after the backup of an instance, and returns the instance's protection; `to` is the backup's state. */
export async function protectionAfterBackup(
  change: Change,
  operation: OperationCore,
  { to, at, error }: { to: string; at: string; error: Explained | null },
): Promise<Protection | undefined> {
  const { accountId } = change;
  const instanceId = String(operation.input["instance_id"]);
  const { backup, instance, policy } = await read({
    backup: backupRef(accountId, operation.resource.id),
    instance: instanceRef(accountId, instanceId),
    policy: policyRef(accountId, instanceId),
  });
  if (backup === undefined || backup.operation_id !== operation.id) return undefined;
  const scheduled = backup.kind === "scheduled";
  const completed = to === BACKUP.to;
  if (scheduled) releaseBackupSlot(change, backup.server_id);
  if (scheduled && policy !== undefined) savePolicy(change, policy, policyAfterRun(policy, backup, { completed, error }));
  else if (completed && instance?.protection_status === "overdue") scheduleOverdueCheck(change, policy);
  if (!completed || instance === undefined) return undefined;
  return protectionWith(change, instance, {
    last_backup_id: backup.id,
    last_backup_at: at,
    last_backup_begun_at: operation.created_at,
  });
}

/** A policy after a run that ended: one that failed is repeated once, unless the next run comes first. */
function policyAfterRun(
  policy: PolicyCore,
  { id, due_at = policy.since, attempt = 1 }: z.infer<typeof Scheduled>,
  { completed, error }: { completed: boolean; error: Explained | null },
) {
  const last_run = { at: due_at, status: completed ? BACKUP.to : BACKUP.failed, backup_id: id, ...lastReason(error) };
  const repeat_at = minutesAfter(now(), REPEAT_MINUTES);
  const next = startKey(policy);
  const repeated = !completed && attempt === 1 && policy.due === null && next !== undefined && repeat_at < next;
  const due = repeated ? { due_at, attempt: 2, start_at: repeat_at, held_since: null, backup_id: null } : policy.due;
  return { ...policy, last_run, due, retain: policy.enabled && (policy.retain || completed) };
}

/** The next run of the schedule function finds out when the instance becomes overdue. */
function scheduleOverdueCheck(change: Change, policy: PolicyCore | undefined): void {
  if (policy?.enabled === true) savePolicy(change, policy, { ...policy, overdue_at: now() });
}

function protectionWith(change: Change, instance: Protected, last: LastBackup): Protection {
  const { protection_status, last_backup_id } = instance;
  // What is overdue all the same, because a later run was due two hours ago, the schedule function moves.
  const to = last.last_backup_id === null || instance.next_backup_at === null ? "unprotected" : "protected";
  change.setBackupTime(instance.id, last.last_backup_at);
  return {
    set: { ...last, ...change.moveProtection(instance, { from: protection_status, to }) },
    where: { unchanged: { protection_status, last_backup_id } },
    conditionError: (current) => protectionError(instance.id, current),
  };
}

const Author = z.object({ created_by: z.object({ type: z.string() }) });

/** Makes a policy's drill that found out nothing due again soon, not only after its whole period. */
export async function rescheduleDrill(change: Change, { id, concerns: [instanceId = ""] }: OperationCore): Promise<void> {
  const { operation, policy } = await read({
    operation: { key: keys.record("operation", change.accountId, id), schema: Author },
    policy: policyRef(change.accountId, instanceId),
  });
  if (operation?.created_by.type !== "schedule" || !policy?.drill_at) return;
  const again_at = minutesAfter(now(), DRILL_AGAIN_HOURS * 60);
  if (again_at < policy.drill_at) savePolicy(change, policy, { ...policy, drill_at: again_at });
}

export const updateProtectionAfterDeletion = (
  change: Change,
  { resource, concerns: [instanceId = ""] }: OperationCore,
): Promise<void> => updateProtectionWithout(change, instanceId, resource.id);

/** If a backup that nobody can restore any more was its instance's last one, the one before it is. */
export async function updateProtectionWithout(change: Change, instanceId: string, id: string): Promise<void> {
  const { accountId } = change;
  const { instance, policy } = await read({
    instance: instanceRef(accountId, instanceId),
    policy: policyRef(accountId, instanceId),
  });
  if (instance?.last_backup_id !== id) return;
  const { set, where } = protectionWith(change, instance, await lastBackupExcept(change, instanceId, id));
  // The error also covers an instance that is gone, or being deleted: reading again shows that nothing is left to protect.
  change.update(keys.record("instance", accountId, instance.id), { set }, where, () => protectionError(instance.id, {}));
  scheduleOverdueCheck(change, policy);
}

/** A backup that can be restored again is its instance's last one, unless there is a later one. */
export async function updateProtectionWith(
  change: Change,
  {
    id,
    instance_id,
    kind,
    created_at,
    completed_at,
  }: Pick<BackupRecord, "id" | "instance_id" | "kind" | "created_at" | "completed_at">,
): Promise<void> {
  if (instance_id === null || completed_at === null || isSafetyBackup({ kind })) return;
  const key = keys.record("instance", change.accountId, instance_id);
  const instance = await find({ key, schema: Protected.extend({ last_backup_at: z.string().nullable().default(null) }) });
  if (instance === undefined || (instance.last_backup_at ?? "") >= completed_at) return;
  const last = { last_backup_id: id, last_backup_at: completed_at, last_backup_begun_at: created_at };
  const { set, where } = protectionWith(change, instance, last);
  change.update(key, { set }, where, () => protectionError(instance_id, {}));
  scheduleOverdueCheck(change, await find(policyRef(change.accountId, instance_id)));
}

const Listed = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.string(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
});

/** The list may lag behind, and still show what was deleted. The backup that is found stays until the change is written. */
async function lastBackupExcept(change: Change, instanceId: string, deletedId: string): Promise<LastBackup> {
  const { accountId } = change;
  const { items } = await listChildren(
    { kind: "backup", accountId, schema: Listed, parentId: instanceId },
    { per_page: Number.MAX_SAFE_INTEGER },
    ({ id, kind, state }) => id !== deletedId && !isSafetyBackup({ kind }) && isRestorable(state),
  );
  for (const { id } of items) {
    const key = keys.record("backup", accountId, id);
    const last = await find({ key, schema: Listed });
    if (last === undefined || !isRestorable(last.state)) continue;
    change.write(check(key, { oneOf: { state: RESTORABLE } }, () => protectionError(instanceId, {})));
    return { last_backup_id: id, last_backup_at: last.completed_at, last_backup_begun_at: last.created_at };
  }
  return { last_backup_id: null, last_backup_at: null, last_backup_begun_at: null };
}

const isRestorable = (state: string): boolean => RESTORABLE.some((each) => each === state);

/** Removes the policy of an instance that is gone, with the backup that waits for its run. */
export async function removePolicyOfDeleted(change: Change, instanceId: string): Promise<void> {
  const policy = await find(policyRef(change.accountId, instanceId));
  if (policy === undefined) return;
  change.remove(keys.backupPolicy(change.accountId, instanceId), { equals: { revision: policy.revision } }, () =>
    protectionError(instanceId, {}),
  );
  const waiting = policy.due?.backup_id ? await find(backupRef(change.accountId, policy.due.backup_id)) : undefined;
  if (waiting !== undefined)
    change.removeListed(
      { kind: "backup", record: waiting, status: waiting.state },
      { equals: { operation_id: null, state: BACKUP_WAITING } },
    );
}
