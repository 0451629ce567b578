// What can be done with a backup now, and in words why not: from the same table that the API checks.
import type { Backup, BackupStatus } from "../../../shared/api/backups.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { LIFECYCLE, RESTORABLE, USABLE } from "../../../shared/domain/lifecycle.ts";
import { STATUSES } from "../resource/status.tsx";
import { phasesOf } from "../servers/allowed.ts";

/** The instance that a backup is of, with its server, as far as the page knows them: then the API has the last word. */
export interface Home {
  instance: Instance | undefined;
  server: Server | undefined;
  deleted: boolean;
}

/** Restore, clone and download read the archive. */
export const whyNotRead = ({ status }: Backup): string | undefined =>
  RESTORABLE.includes(status) ? undefined : `The backup is ${wordOf(status)}; only a completed one can be used.`;

export function whyNotRestore(backup: Backup, home: Home): string | undefined {
  const unread = whyNotRead(backup);
  if (unread !== undefined) return unread;
  if (home.deleted) return "The instance was deleted: clone from this backup instead.";
  return home.instance && whyNotOn(home.instance, home.server, "restore");
}

/** Whether an instance allows it, and its server: the word for what is refused is the action's. */
export function whyNotOn(instance: Instance, server: Server | undefined, action: "backup" | "restore"): string | undefined {
  const { allowed_actions, operation_id, status } = instance;
  if (operation_id !== null) return "Work on the instance is under way; wait until it ends.";
  if (!allowed_actions.includes(action))
    return `The instance is ${STATUSES.instance[status].word.toLowerCase()}, which does not allow this.`;
  if (server !== undefined && !phasesOf(server).some((phase) => USABLE.includes(phase)))
    return `The server ${server.name} is not active.`;
  return undefined;
}

export function whyNotDelete(backup: Backup, running: readonly Operation[]): string | undefined {
  const from: readonly BackupStatus[] = LIFECYCLE["backup.delete"].from;
  if (backup.operation_id !== null) return "Work on this backup is under way; wait until it ends.";
  if (running.some(({ type, result }) => type === "backup.restore" && result?.backup_id === backup.id))
    return "It is being restored; wait until that ends.";
  return from.includes(backup.status) ? undefined : `The backup is ${wordOf(backup.status)}, which does not allow this.`;
}

const wordOf = (status: BackupStatus): string => STATUSES.backup[status].word.toLowerCase();
