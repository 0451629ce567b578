// What a bulk action would do with backups, for its dry run.
import { serverOfBackupUnknown } from "../../api/errors.ts";
import { keyString } from "../../data/keys.ts";
import { readAll } from "../../data/table.ts";
import { nameOfBackup } from "../../domain/backup-name.ts";
import { LIFECYCLE } from "../../domain/lifecycle.ts";
import { requireDeletable, requireDrillable, requireEditable } from "../../records/backups.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { BulkTarget } from "../../records/schemas/bulk.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { ServerRecord } from "../../records/schemas/server.ts";
import { requireServerInBody, requireUsable, serverRef } from "../../records/servers.ts";
import {
  type RequestedAction,
  holdOf,
  type Outcome,
  outcomeOrWarning,
  outcomesOfEach,
  outcomeWith,
  relabeling,
  released,
  requireLabels,
} from "./bulk-outcome.ts";
import { BACKUP, effect, type Reader } from "../forecasts/forecast.ts";

export async function outcomesOfBackups(
  reader: Caller,
  doing: RequestedAction,
  backups: readonly BackupRecord[],
  targets: readonly BulkTarget[],
): Promise<Outcome[]> {
  const serverOf = new Map(targets.map(({ id, server_id }) => [id, server_id]));
  const refs = targets.flatMap(({ server_id }) => (server_id === null ? [] : [serverRef(reader.account_id, server_id)]));
  const items = await readAll(refs.map(({ key }) => key));
  return outcomesOfEach(backups, (backup) => {
    const serverId = serverOf.get(backup.id) ?? null;
    const item = serverId === null ? undefined : items.get(keyString(serverRef(reader.account_id, serverId).key));
    const server = item && ServerRecord.parse(item);
    return outcomeOfBackup(reader, doing, backup, { isKnown: serverId !== null, server });
  });
}

/** The server on which a backup is drilled. */
interface Place {
  isKnown: boolean;
  server: ServerRecord | undefined;
}

/** A backup as it is once nothing holds or reads it; one that is being made is completed by then. */
function free(backup: BackupRecord): BackupRecord {
  const { begun, through, to } = LIFECYCLE["backup.create"];
  const isMade = backup.operation_id !== null && (backup.state === through || backup.state === begun);
  return { ...released(backup), used_by: undefined, state: isMade ? to : backup.state };
}

export function outcomeOfBackup(
  reader: Reader,
  { action, parameters }: RequestedAction,
  backup: BackupRecord,
  { isKnown, server }: Place = { isKnown: false, server: undefined },
): Promise<Outcome> {
  const resource = { type: BACKUP, id: backup.id };
  const subject = { type: BACKUP, name: `${nameOfBackup(backup)}, ${backup.completed_at ?? backup.created_at}` };
  const unless = (require: () => void, outcome: () => Outcome, hold?: ReturnType<typeof holdOf>) =>
    outcomeOrWarning(reader, { ...subject, hold }, require, outcome);
  switch (action) {
    case "lock":
    case "unlock": {
      const code = action === "lock" ? "backup_locked" : "backup_unlocked";
      const isSame = backup.locked === (action === "lock");
      return unless(
        () => requireEditable(backup),
        () => outcomeWith(effect("update", resource, isSame ? "nothing_changed" : code)),
      );
    }
    case "delete":
      return unless(
        () => requireDeletable(free(backup)),
        () => outcomeWith(effect("delete", resource, "backup_deleted")),
        holdOf({ operation_id: backup.operation_id ?? [...(backup.used_by ?? [])][0] ?? null }),
      );
    case "drill":
      return unless(
        () => {
          requireDrillable(free(backup));
          if (!isKnown) throw serverOfBackupUnknown();
          requireUsable(released(requireServerInBody(server)));
        },
        () => ({ ...outcomeWith(effect("update", resource, "backup_drilled")), room: backup.size_bytes ?? 0 }),
        holdOf(backup, server),
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
