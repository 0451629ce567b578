// PUT /backups/:id
import { nameOfBackup } from "../../shared/domain/backup-name.ts";
import * as backups from "../../shared/api/backups.ts";
import { backupRef, backupVersion, editBackup, requireBackup, toBackup } from "../../shared/records/backups.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, ...records } = await beginChange({ caller, read }, { backup: backupRef(caller.account_id, params.id) });
    const backup = requireBackup(records.backup);
    match(change, backupVersion(backup));
    const edited = editBackup(change, backup, body);
    const changes = changesBetween(backup, edited, Object.keys(body));
    logEvent(change, by, { type: "backup.update", changes }, { type: "backup", id: edited.id, name: nameOfBackup(edited) });
    return commit(change, toBackup(edited));
  }),
);
