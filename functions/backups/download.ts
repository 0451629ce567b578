// GET /backups/:id/download
import { nameOfBackup } from "../../shared/domain/backup-name.ts";
import * as backups from "../../shared/api/backups.ts";
import { backupRef, requireBackup, requireRestorable } from "../../shared/records/backups.ts";
import { logEvent } from "../../shared/records/events.ts";
import { DOWNLOAD_MINUTES } from "../../shared/domain/limits.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { presignedGet } from "../../shared/storage/presign.ts";

export const handler = handle(backups.download)(async ({ params, caller, by, read, commit, isHead }) => {
  const { change, ...records } = await beginChange({ caller, read }, { backup: backupRef(caller.account_id, params.id) });
  const backup = requireBackup(records.backup);
  requireRestorable(backup);
  if (isHead) return presignedGet(backup, DOWNLOAD_MINUTES * 60);
  logEvent(change, by, "backup.download", { type: "backup", id: backup.id, name: nameOfBackup(backup) });
  return commit(change, await presignedGet(backup, DOWNLOAD_MINUTES * 60)); // no URL without its entry in the audit log
});
