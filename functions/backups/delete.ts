// DELETE /backups/:id
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { backupRef, backupVersion, moveBackupToDeleting, presentBackup, requireDeletable } from "../../shared/data/backups.ts";
import { changeOf } from "../../shared/data/change.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.backups.delete)(async ({ params, caller, by, read, commit, match }) => {
  const records = await read({ account: accountRef(caller.account_id), backup: backupRef(caller.account_id, params.id) });
  const backup = presentBackup(records.backup);
  const change = changeOf(presentAccount(records.account));
  match(change, backupVersion(backup));
  requireDeletable(backup);
  const operationId = newId("operation");
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
