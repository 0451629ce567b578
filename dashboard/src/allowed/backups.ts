// The allowed actions of a backup, and the reasons against the others, from the same table that the API checks.
import type { Backup } from "../../../shared/api/backups.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { type BackupStatus, EDITABLE, LIFECYCLE, RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { whyNot } from "./instances.ts";
import { shownOf } from "../resource/status.tsx";

/** The instance of a backup and its server, as far as the page knows them; otherwise the API decides. */
export interface Home {
  instance: Instance | undefined;
  server: ListedServer | undefined;
  deleted: boolean;
}

/** Restore, clone and download read the archive. */
export const whyNotRead = ({ status }: Backup): string | undefined =>
  RESTORABLE.includes(status) ? undefined : `The backup is ${wordOf(status)}. Only completed backups can be used.`;

export function whyNotRestore(backup: Backup, home: Home): string | undefined {
  const unread = whyNotRead(backup);
  if (unread !== undefined) return unread;
  if (home.deleted) return "The instance was deleted. Clone it from this backup instead.";
  return home.instance && whyNot("restore", home.instance, home.server);
}

export const whyNotEdit = ({ status }: Backup): string | undefined =>
  EDITABLE.includes(status) ? undefined : `The backup is ${wordOf(status)}, so it can't be changed.`;

export function whyNotDelete(backup: Backup, running: readonly Operation[]): string | undefined {
  const from: readonly BackupStatus[] = LIFECYCLE["backup.delete"].from;
  if (backup.operation_id !== null) return "Another operation is using this backup. Wait for it to finish.";
  if (running.some(({ result }) => result?.backup_id === backup.id))
    return "In use by a restore or clone. Wait for it to finish.";
  if (backup.locked) return "The backup is locked. Unlock it first, under Edit details.";
  return from.includes(backup.status) ? undefined : `The backup is ${wordOf(backup.status)}, so it can't be deleted.`;
}

const wordOf = (status: BackupStatus): string => shownOf("backup", status).word.toLowerCase();
