// The beginning of a backup: by a request, or by a policy's run, which may have to wait for a slot on its server.
import * as z from "zod";
import type { Labels } from "../../api/fields.ts";
import { BACKUP_WAITING, isOpen, type OperationStatus } from "../../domain/lifecycle.ts";
import { backupRef, reserveBackup } from "../../records/backups.ts";
import type { Change } from "../../data/change.ts";
import type { Author, By } from "../../records/events.ts";
import { holdInstance, requireAllowed, requireServerUsable } from "../../records/instances.ts";
import { keys, type Item } from "../../data/keys.ts";
import { type Beginning, reserveOperation } from "../../records/operations.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { DueRun, PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { openEnum } from "../../data/stored.ts";
import { acquireBackupSlot } from "../../records/servers.ts";
import { find } from "../../data/table.ts";

/** Begins a backup of an instance: reserves it, locks the instance, and starts the operation with the change. */
export function beginBackup(
  beginning: Beginning & { by: By },
  instance: InstanceRecord,
  { note = null, labels }: { note?: string | null | undefined; labels?: Labels | undefined },
): { backup: BackupRecord; operation: OperationRecord } {
  requireAllowed(instance, "backup");
  const backup = reserveBackup(beginning.change, instance, { kind: "manual", note, labels, expires_at: null }, beginning);
  requireServerUsable(beginning.change, instance);
  return { backup, operation: begin(beginning, instance, backup) };
}

/** A due run of a policy, with the IDs of what it makes: a run makes one backup, however often it is begun. */
interface Run {
  due: DueRun;
  operationId: string;
  backupId: string;
  /** The backup, if it had to wait for a slot. */
  waiting: BackupRecord | undefined;
  /** The time when the run after it is due. */
  next_run_at: string;
}

/** The same for a policy's run, which also takes one of its server's slots. */
export function beginScheduledBackup(
  change: Change,
  by: Author,
  instance: InstanceRecord,
  { due, operationId, backupId, waiting, next_run_at }: Run,
): OperationRecord {
  requireAllowed(instance, "backup");
  if (waiting !== undefined)
    change.update(
      keys.record("backup", change.accountId, waiting.id),
      { set: { operation_id: operationId } },
      { equals: { operation_id: null, state: BACKUP_WAITING } },
    );
  const backup = waiting ?? reserveScheduled(change, instance, due, { operationId, id: backupId });
  acquireBackupSlot(change, instance.server_id);
  return begin({ change, by, operationId }, instance, backup, { next_backup_at: next_run_at });
}

/** The backup of a run that waits for a slot on its server. */
export const reserveWaiting = (change: Change, instance: InstanceRecord, due: DueRun, id: string): BackupRecord =>
  reserveScheduled(change, instance, due, { operationId: null, id });

const reserveScheduled = (
  change: Change,
  instance: InstanceRecord,
  { due_at, attempt }: DueRun,
  ids: { operationId: string | null; id: string },
): BackupRecord => reserveBackup(change, instance, { kind: "scheduled", note: null, expires_at: null, due_at, attempt }, ids);

/** The backup that waits for a policy's run, if there is one. */
export const waitingBackup = async (policy: PolicyRecord | undefined): Promise<BackupRecord | undefined> =>
  policy?.due?.backup_id ? find(backupRef(policy.account_id, policy.due.backup_id)) : undefined;

/**
 * The part of an operation that is read here, without the schema of operations, which is a fiftieth of the function that asks.
 */
const Running = z.object({ type: z.string(), state: openEnum<OperationStatus>(), created_by: z.object({ type: z.string() }) });

/** Whether the first backup of an instance is being made by its policy. */
export async function isFirstRunning({ account_id, last_backup_at, operation_id }: InstanceRecord): Promise<boolean> {
  if (last_backup_at !== null || operation_id === null) return false;
  const running = await find({ key: keys.record("operation", account_id, operation_id), schema: Running });
  return running?.type === "backup.create" && isOpen(running.state) && running.created_by.type === "schedule";
}

function begin(
  { change, by, operationId: id }: Beginning,
  instance: InstanceRecord,
  backup: BackupRecord,
  attributes: Item = {},
): OperationRecord {
  holdInstance(change, instance, id, attributes);
  return reserveOperation(change, by, {
    id,
    type: "backup.create",
    resource: { type: "backup", id: backup.id, name: instance.name },
    input: { instance_id: instance.id },
    holds: [{ type: "instance", id: instance.id }],
    result: { backup_id: backup.id },
  });
}
