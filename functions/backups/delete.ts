// DELETE /backups/:id
import * as backups from "../../shared/api/backups.ts";
import { backupRef, backupVersion, beginDeletion, requireBackup, requireDeletable } from "../../shared/records/backups.ts";
import { forecastBackupDeletion } from "../../shared/operations/forecasts/backup-forecast.ts";
import { toOperation } from "../../shared/records/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { backup: backupRef(caller.account_id, params.id) },
  );
  const backup = requireBackup(records.backup);
  match(change, backupVersion(backup));
  requireDeletable(backup);
  const operation = beginDeletion(change, by, backup, operationId);
  return commit(change, toOperation(operation), () => forecastBackupDeletion(caller, backup));
});
