// GET /backups/:id
import * as backups from "../../shared/api/backups.ts";
import { getBackup, toBackup } from "../../shared/records/backups.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.get)(async ({ params, caller }) => toBackup(await getBackup(caller.account_id, params.id)));
