// Restore drills: begun with the backup that they hold and a slot on their server, and recorded on the backup.
import * as z from "zod";
import { serverTriesAnother } from "../../api/errors.ts";
import { nameOfBackup } from "../../domain/backup-name.ts";
import { type Drill, type DrillCheck, DRILL_CHECKS } from "../../api/drill.ts";
import { DRILL, LIFECYCLE, OPERATION } from "../../domain/lifecycle.ts";
import { inEnglish, type Reason } from "../../domain/reasons.ts";
import { getAccount } from "../../records/accounts.ts";
import { lockBackup } from "../../records/backups.ts";
import { type Change, startChange, now, Overtaken, retryOnConflict, tryCommit } from "../../data/change.ts";
import { logEvent } from "../../records/events.ts";
import { keys, type Item } from "../../data/keys.ts";
import {
  type Beginning,
  addResult,
  changing,
  findOperation,
  requireRunning,
  reserveOperation,
} from "../../records/operations.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { requireServerReady } from "../../records/servers.ts";
import { ConditionFailed, find } from "../../data/table.ts";
import { put, update, type Write } from "../../data/writes.ts";

/**
 * Begins a drill of a completed backup on a server. A server has one at a time, so that it does not take the instances' share.
 */
export function beginDrill({ change, by, operationId }: Beginning, backup: BackupRecord, serverId: string): OperationRecord {
  lockBackup(change, backup, LIFECYCLE["backup.drill"].from, operationId);
  requireServerReady(change, serverId);
  reserveDrillSlot(change, serverId, operationId);
  return reserveOperation(change, by, {
    id: operationId,
    type: "backup.drill",
    ...changing("backup", { ...backup, name: nameOfBackup(backup) }),
    input: { server_id: serverId },
    concerns: [...(backup.instance_id === null ? [] : [backup.instance_id]), serverId],
    result: { backup_id: backup.id },
  });
}

/** The one slot of a server for an archive that is tried beside its instances. */
export const reserveDrillSlot = (change: Change, serverId: string, operationId: string): void =>
  change.write(
    put(keys.drill(change.accountId, serverId), { operation_id: operationId }, (current) =>
      serverTriesAnother(readHolder(current)),
    ),
  );

/** Takes the slot for an operation that waits for it: false while another has it. */
export async function tryAcquireDrillSlot(operation: OperationRecord, serverId: string): Promise<boolean> {
  const change = startChange({ id: operation.account_id });
  requireRunning(change, operation);
  change.write(drillSlotWrite(operation, serverId));
  return tryCommit(change, keys.drill(operation.account_id, serverId));
}

/** The same for an undo, which removes what its operation has left there. */
export async function tryReacquireDrillSlot(operation: OperationRecord, serverId: string): Promise<boolean> {
  const change = startChange({ id: operation.account_id });
  change.write(drillSlotWrite(operation, serverId));
  return tryCommit(change, keys.drill(operation.account_id, serverId));
}

const DrillSlot = z.object({ operation_id: z.string() });

export const holdsDrillSlot = async ({ account_id, id }: OperationRecord, serverId: string): Promise<boolean> =>
  (await find({ key: keys.drill(account_id, serverId), schema: DrillSlot }))?.operation_id === id;

/** Returns the slot of an operation; does nothing if another has it. */
export async function releaseDrillSlot({ account_id, id }: OperationRecord, serverId: string): Promise<void> {
  const change = startChange({ id: account_id });
  change.remove(keys.drill(account_id, serverId), { equals: { operation_id: id } });
  await tryCommit(change);
}

const drillSlotWrite = ({ account_id, id }: OperationRecord, serverId: string): Write =>
  update(keys.drill(account_id, serverId), { set: { operation_id: id } }, { exists: false, unchanged: { operation_id: id } });

const readHolder = (current: Item | undefined): string => String(current?.["operation_id"]);

export const buildCheck = (name: DrillCheck["name"], passed: boolean | null, reason: Reason): DrillCheck => ({
  name,
  passed,
  detail: inEnglish(reason),
  reason,
});

/** The checks in their order; those that were not made get the reason. */
export function buildDrill(results: readonly DrillCheck[], otherwise: Reason): Drill {
  const checks = DRILL_CHECKS.map((name) => results.find((check) => check.name === name) ?? buildCheck(name, null, otherwise));
  return { status: checks.some(({ passed }) => passed === false) ? DRILL.failed : DRILL.passed, at: now(), checks };
}

/** Keeps what a drill has found until it is recorded; the first finding stands. */
export async function storeDrillResult(operation: OperationRecord, drill: Drill): Promise<void> {
  if (operation.result?.drill === undefined) await addResult(operation, { drill });
}

const Drilled = z.object({ id: z.string(), last_drill: z.string().nullable().default(null) });

/** Shows on the instance of a drilled backup what came of its last drill. */
async function showOnInstance(change: Change, instanceId: string, { status }: Drill): Promise<void> {
  const key = keys.record("instance", change.accountId, instanceId);
  const instance = await find({ key, schema: Drilled });
  if (instance === undefined || instance.last_drill === status) return;
  const { last_drill } = instance;
  const overtaken = () => new Overtaken("Another drill of this instance ended at the same time", instanceId);
  change.update(key, { set: { last_drill: status } }, { unchanged: { last_drill } }, overtaken);
  change.setFilterFields("instance", instanceId, { last_drill }, { last_drill: status });
}

/** Records on the backup and its instance what its drill has found, once. A failure is an event, too. */
export const recordDrill = (operation: OperationRecord, backup: BackupRecord, drill: Drill): Promise<void> =>
  retryOnConflict(() => tryToRecord(operation, backup, drill));

async function tryToRecord(operation: OperationRecord, backup: BackupRecord, drill: Drill): Promise<void> {
  if (operation.recorded) return;
  const change = startChange(await getAccount(operation.account_id));
  const running = { equals: { state: OPERATION.running }, none: ["undoing", "recorded"] };
  change.write(update(keys.record("operation", operation.account_id, operation.id), { set: { recorded: true } }, running));
  const whileHeld = { equals: { operation_id: operation.id } };
  change.update(keys.record("backup", operation.account_id, backup.id), { set: { drill } }, whileHeld);
  change.setFilterFields("backup", backup.id, backup, { drill });
  if (backup.instance_id !== null) await showOnInstance(change, backup.instance_id, drill);
  if (drill.status === DRILL.failed) {
    const by = { actor: operation.created_by, requestId: operation.request_id };
    logEvent(change, by, "backup.drill_failed", { type: "backup", id: backup.id, name: nameOfBackup(backup) });
  }
  try {
    await change.commit();
  } catch (error) {
    const current = error instanceof ConditionFailed && (await findOperation(operation.account_id, operation.id));
    if (!current || !current.recorded) throw error; // else another run of the task was faster
  }
}
