// GET /backups/:id/download
import { api } from "../../shared/api/index.ts";
import { getBackup, requireRestorable } from "../../shared/data/backups.ts";
import { DOWNLOAD_MINUTES } from "../../shared/domain/limits.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { presignedGet } from "../../shared/storage/presign.ts";

export const handler = handle(api.backups.download)(async ({ params, caller }) => {
  const backup = await getBackup(caller.account_id, params.id);
  requireRestorable(backup);
  return presignedGet(backup, DOWNLOAD_MINUTES * 60);
});
