// Every hour: deletes safety backups whose time is over, but never an instance's last completed backup.
import { randomUUID } from "node:crypto";
import { getAccount } from "../../shared/data/accounts.ts";
import {
  completedBackups,
  expiredBackups,
  findBackup,
  moveBackupToDeleting,
  requireDeletable,
} from "../../shared/data/backups.ts";
import { changeOf, logEvent, now } from "../../shared/data/change.ts";
import { reserveOperation } from "../../shared/data/operations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { log } from "../../shared/runtime/log.ts";
import { startExecution } from "../../shared/runtime/start.ts";

export async function handler(): Promise<void> {
  log.resetKeys();
  for (const { accountId, backupId, instanceId } of await expiredBackups(now())) {
    try {
      await expire(accountId, backupId, instanceId);
    } catch (error) {
      log.warn("a safety backup could not be deleted now", { backup: backupId, error }); // held, perhaps; the next run comes
    }
  }
}

async function expire(accountId: string, backupId: string, instanceId: string): Promise<void> {
  const backup = await findBackup(accountId, backupId);
  if (backup === undefined) return;
  const completed = await completedBackups(accountId, instanceId);
  if (completed.every(({ id }) => id === backupId) && backup.state === "completed") return; // the instance has no other
  requireDeletable(backup);
  const by = { operator: "expiry", requestId: `expiry-${randomUUID()}` };
  const change = changeOf(await getAccount(accountId));
  const id = newId("operation");
  moveBackupToDeleting(change, backup, id);
  const operation = reserveOperation(change, by, {
    id,
    type: "backup.delete",
    workflow: "delete-backup",
    resource: { type: "backup", id: backup.id },
    input: { backup_id: backup.id },
    before: backup.state,
  });
  logEvent(change, by, "backup.delete", { type: "backup", id: backup.id, name: backup.instance_name });
  await change.commit();
  await startExecution(operation.workflow, operation.id, operation.input); // if this gets lost, the sweep starts it
}
