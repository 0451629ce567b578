// POST /backups/:id/restore
import { backupUploaded, instanceOfBackupDeleted } from "../../shared/api/errors.ts";
import * as backups from "../../shared/api/backups.ts";
import { backupRef, requireBackup, requireRestorable, retainBackup } from "../../shared/records/backups.ts";
import { forecastRestore } from "../../shared/operations/forecasts/backup-forecast.ts";
import { instanceRef, moveInstance, requireAllowed, requireServerUsable } from "../../shared/records/instances.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { find } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.restore)(async ({ params, body, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { backup: backupRef(caller.account_id, params.id) },
  );
  const backup = requireBackup(records.backup);
  if (backup.instance_id === null) throw backupUploaded();
  const instance = await find(instanceRef(caller.account_id, backup.instance_id));
  if (instance === undefined) throw instanceOfBackupDeleted();
  requireRestorable(backup);
  requireAllowed(instance, "restore");
  requireServerUsable(change, instance);
  const safety_backup_id = newId("backup");
  moveInstance(change, instance, { type: "backup.restore", operationId });
  retainBackup(change, backup.id, operationId);
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "backup.restore",
    ...changing("instance", instance),
    input: { ...body, backup_id: backup.id, safety_backup_id },
    usesBackupId: backup.id,
    concerns: body.backup_first ? [safety_backup_id] : [],
    result: { backup_id: backup.id },
  });
  return commit(change, toOperation(operation), () => forecastRestore(caller, instance, backup, body));
});
