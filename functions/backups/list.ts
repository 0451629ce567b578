// GET /backups
import * as backups from "../../shared/api/backups.ts";
import { listBackups, toBackup } from "../../shared/records/backups.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.list)(async ({ query, caller }) => {
  const { items, meta } = await listBackups(caller.account_id, query);
  return { items: items.map(toBackup), meta };
});
