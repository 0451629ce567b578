// GET /backups/:id
import { api } from "../../shared/api/index.ts";
import { getBackup, toBackup } from "../../shared/records/backups.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.backups.get)(async ({ params, caller }) =>
  toBackup(await getBackup(caller.account_id, params.id)),
);
