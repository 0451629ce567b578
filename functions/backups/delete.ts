// DELETE /backups/:id
import { api } from "../../shared/api/index.ts";
import { backupRef, backupVersion, moveBackupToDeleting, presentBackup, requireDeletable } from "../../shared/data/backups.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.backups.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { backup: backupRef(caller.account_id, params.id) },
  );
  const backup = presentBackup(records.backup);
  match(change, backupVersion(backup));
  requireDeletable(backup);
  moveBackupToDeleting(change, backup, operationId);
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "backup.delete",
    resource: { type: "backup", id: backup.id, name: backup.instance_name },
    before: backup.state,
    concerns: [backup.instance_id],
  });
  return commit(change, toOperation(operation));
});
