// GET /instances/:id/backups
import * as backups from "../../shared/api/backups.ts";
import { listBackupsOfInstance, toBackup } from "../../shared/records/backups.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.listOfInstance)(async ({ params, query, caller }) => {
  const { items, meta, isEmpty } = await listBackupsOfInstance(caller.account_id, params.id, query);
  if (isEmpty) await getInstance(caller.account_id, params.id); // an instance that was deleted still has its backups
  return { items: items.map(toBackup), meta };
});
