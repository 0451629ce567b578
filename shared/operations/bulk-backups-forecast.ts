// What a bulk action would do with backups, for its dry run.
import { serverOfBackupUnknown } from "../api/errors.ts";
import { keyString } from "../data/keys.ts";
import { readAll } from "../data/table.ts";
import { nameOfBackup } from "../domain/backup-name.ts";
import { requireDeletable, requireDrillable, requireEditable } from "../records/backups.ts";
import type { BackupRecord } from "../records/schemas/backup.ts";
import type { BulkTarget } from "../records/schemas/bulk.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { ServerRecord } from "../records/schemas/server.ts";
import { requireServerInBody, requireUsable, serverRef } from "../records/servers.ts";
import {
  type Doing,
  type Outcome,
  outcomeOrWarning,
  outcomesOfEach,
  outcomeWith,
  relabeling,
  requireLabels,
} from "./bulk-outcome.ts";
import { BACKUP, effect, type Reader } from "./forecast.ts";

export async function outcomesOfBackups(
  reader: Caller,
  doing: Doing,
  backups: readonly BackupRecord[],
  targets: readonly BulkTarget[],
): Promise<Outcome[]> {
  const serverOf = new Map(targets.map(({ id, server_id }) => [id, server_id]));
  const refs = targets.flatMap(({ server_id }) => (server_id === null ? [] : [serverRef(reader.account_id, server_id)]));
  const items = await readAll(refs.map(({ key }) => key));
  /** Where it is drilled. */
  const requireServer = ({ id }: BackupRecord): void => {
    const serverId = serverOf.get(id) ?? null;
    if (serverId === null) throw serverOfBackupUnknown();
    const item = items.get(keyString(serverRef(reader.account_id, serverId).key));
    requireUsable(requireServerInBody(item && ServerRecord.parse(item)));
  };
  return outcomesOfEach(backups, (backup) =>
    outcomeOfBackup(reader, doing, backup, () => {
      requireDrillable(backup);
      requireServer(backup);
    }),
  );
}

export function outcomeOfBackup(
  reader: Reader,
  { action, parameters }: Doing,
  backup: BackupRecord,
  requireDrill?: () => void,
): Promise<Outcome> {
  const resource = { type: BACKUP, id: backup.id };
  const named = { type: BACKUP, name: `${nameOfBackup(backup)}, ${backup.completed_at ?? backup.created_at}` };
  const unless = (require: () => void, outcome: () => Outcome) => outcomeOrWarning(reader, named, require, outcome);
  switch (action) {
    case "lock":
    case "unlock": {
      const done = action === "lock" ? "backup_locked" : "backup_unlocked";
      const isSame = backup.locked === (action === "lock");
      return unless(
        () => requireEditable(backup),
        () => outcomeWith(effect("update", resource, isSame ? "nothing_changed" : done)),
      );
    }
    case "delete":
      return unless(
        () => requireDeletable(backup),
        () => outcomeWith(effect("delete", resource, "backup_deleted")),
      );
    case "drill":
      return unless(
        () => requireDrill?.(),
        () => ({ ...outcomeWith(effect("update", resource, "backup_drilled")), room: backup.size_bytes ?? 0 }),
      );
    case "set_labels":
      return unless(
        () => {
          requireEditable(backup);
          requireLabels(backup.labels, parameters);
        },
        () => outcomeWith(relabeling(resource, backup.labels, parameters)),
      );
    default:
      throw new Error(`No such action: ${action}`);
  }
}
