// GET /overview/nights
import * as overview from "../../shared/api/overview.ts";
import { NIGHTS_BACKUPS_MAX } from "../../shared/domain/limits.ts";
import { listBackups } from "../../shared/records/backups.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(overview.nights)(async ({ query: { created_after }, caller }) => {
  const { items, meta } = await listBackups(caller.account_id, { created_after, per_page: NIGHTS_BACKUPS_MAX });
  const made = Map.groupBy(items, ({ instance_id }) => instance_id ?? "");
  made.delete(""); // uploads
  return {
    instances: [...made].map(([id, backups]) => ({
      id,
      name: backups[0]?.instance_name ?? id,
      backups: backups.map(({ drill, state, ...backup }) => ({ ...backup, status: state, drill: drill?.status ?? null })),
    })),
    complete: meta.next_cursor === null,
  };
});
