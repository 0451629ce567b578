// The backup that a restore or a deploy takes before it replaces anything. It has no separate operation: theirs locks it.
import { DAY_MS } from "../../domain/durations.ts";
import { type BackupStatus, LIFECYCLE } from "../../domain/lifecycle.ts";
import { because, type Reason } from "../../domain/reasons.ts";
import { getAccount } from "../../records/accounts.ts";
import { backupRef, reserveBackup, UNMEASURED } from "../../records/backups.ts";
import { recountBackup } from "../../records/backup-quota.ts";
import { type Change, startChange, now, retryOnConflict } from "../../data/change.ts";
import { requireRunning } from "../../records/operations.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { NO_REASON, statusReason } from "../../records/reasons.ts";
import { find } from "../../data/table.ts";

const BACKUP = LIFECYCLE["backup.create"];

/** What operations take them before. */
const BEFORE = {
  "backup.restore": { kind: "pre_restore", note: "Taken before a restore" },
  "instance.deploy": { kind: "pre_deploy", note: "Taken before a deploy" },
} as const;
/** The safety backup of an operation, created once however often the step runs. */
export async function reserveSafetyBackup(
  operation: OperationRecord,
  instance: InstanceRecord,
  id: string,
): Promise<BackupRecord> {
  const reserved = await find(backupRef(operation.account_id, id));
  if (reserved !== undefined) return reserved;
  const account = await getAccount(operation.account_id);
  const change = startChange(account);
  const expires_at = new Date(Date.now() + account.backup_retention_days * DAY_MS).toISOString();
  const draft = { ...BEFORE[operation.type === "instance.deploy" ? operation.type : "backup.restore"], expires_at };
  const backup = reserveBackup(change, instance, draft, { operationId: operation.id, id });
  requireRunning(change, operation);
  await change.commit();
  return backup;
}

/**
 * Ends it as completed, while its restore runs: a task that was given up may come to this while the archive is being removed
 * again. One that has ended stays as it is.
 */
export async function completeSafetyBackup(operation: OperationRecord, id: string): Promise<void> {
  const { account_id: accountId } = operation;
  const backup = await find(backupRef(accountId, id));
  if (backup?.state !== BACKUP.through) return;
  const change = startChange({ id: accountId });
  end(change, backup, { ...NO_REASON, completed_at: now(), state: BACKUP.to });
  requireRunning(change, operation);
  await change.commit();
}

/** Ends it as failed; one that has ended stays as it is. */
export const failSafetyBackup = (accountId: string, id: string): Promise<void> =>
  retryOnConflict(async () => {
    const backup = await find(backupRef(accountId, id));
    if (backup?.state !== BACKUP.through) return;
    const change = startChange({ id: accountId });
    const uncounted = recountBackup(change, backup, 0);
    const ending = { ...statusReason(whyFailed(backup)), ...UNMEASURED, ...uncounted.set };
    end(change, backup, { ...ending, state: BACKUP.failed }, uncounted);
    change.setSearchFields("backup", backup.id, { size_bytes: null });
    await change.commit();
  });

const whyFailed = ({ kind }: BackupRecord): Reason =>
  kind === BEFORE["instance.deploy"].kind ? because("deploy_of_backup_failed") : because("restore_of_backup_failed");

type Ending = Partial<
  Pick<BackupRecord, "status_reason" | "reason" | "completed_at" | "counted_bytes" | keyof typeof UNMEASURED>
>;

const end = (
  change: Change,
  backup: BackupRecord,
  set: Ending & { state: BackupStatus },
  { where, conditionError }: Partial<ReturnType<typeof recountBackup>> = {},
): void =>
  change.move(
    { kind: "backup", record: backup },
    { from: backup.state, to: set.state, set: { ...set, operation_id: null } },
    { equals: { state: backup.state }, ...where },
    conditionError,
  );
