// GET /overview/nights
import * as overview from "../../shared/api/overview.ts";
import { keys, keyString } from "../../shared/data/keys.ts";
import { readAll } from "../../shared/data/table.ts";
import { NIGHTS_BACKUPS_MAX } from "../../shared/domain/limits.ts";
import { listBackups } from "../../shared/records/backups.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(overview.nights)(async ({ query: { created_after }, caller }) => {
  const { items, meta } = await listBackups(caller.account_id, { created_after, per_page: NIGHTS_BACKUPS_MAX });
  const byInstance = Map.groupBy(items, ({ instance_id }) => instance_id ?? "");
  byInstance.delete(""); // uploads
  const keyOf = (id: string) => keys.record("instance", caller.account_id, id);
  const itemsByKey = await readAll([...byInstance.keys()].map(keyOf), { consistent: false });
  const notDeleted = [...byInstance].filter(([id]) => itemsByKey.has(keyString(keyOf(id))));
  return {
    instances: notDeleted.map(([id, backups]) => ({
      id,
      name: backups[0]?.instance_name ?? id,
      backups: backups.map(({ drill, state, ...backup }) => ({ ...backup, status: state, drill: drill?.status ?? null })),
    })),
    complete: meta.next_cursor === null,
  };
});
