// The allowed actions of a backup, and the reasons against the others, from the same table that the API checks.
import type { Backup } from "../../../shared/api/backups.ts";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { type BackupStatus, EDITABLE, LIFECYCLE, RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { text } from "../messages/text.ts";
import { type ServerOf, whyNot } from "./instances.ts";

/** The instance of a backup and its server, as far as the page knows them; otherwise the API decides. */
export interface Home {
  instance: ListedInstance | undefined;
  server: ServerOf | undefined;
  deleted: boolean;
}

/** Restore, clone and download read the archive. */
export const whyNotRead = ({ status }: Backup): string | undefined =>
  RESTORABLE.includes(status) ? undefined : text.allowed.backup.unusable(status);

export function whyNotRestore(backup: Backup, home: Home): string | undefined {
  const unread = whyNotRead(backup);
  if (unread !== undefined) return unread;
  if (backup.instance_id === null) return text.allowed.backup.uploaded;
  if (home.deleted) return text.allowed.backup.instanceDeleted;
  return home.instance && whyNot("restore", home.instance, home.server);
}

export const whyNotDrill = (backup: Backup): string | undefined =>
  whyNotRead(backup) ?? (backup.operation_id === null ? undefined : text.allowed.backup.busy);

/** An import that failed for another reason than its archive, which is stored until it expires. */
export function canImportAgain({ kind, status, expires_at, operation_id }: Backup): boolean {
  const again: readonly BackupStatus[] = LIFECYCLE["backup.import"].again;
  return kind === "uploaded" && again.includes(status) && expires_at !== null && operation_id === null;
}

export const whyNotEdit = ({ status }: Backup): string | undefined =>
  EDITABLE.includes(status) ? undefined : text.allowed.backup.cannotChange(status);

export function whyNotDelete(backup: Backup, running: readonly Operation[]): string | undefined {
  const from: readonly BackupStatus[] = LIFECYCLE["backup.delete"].from;
  if (backup.operation_id !== null) return text.allowed.backup.busy;
  if (running.some(({ result }) => result?.backup_id === backup.id)) return text.allowed.backup.inUse;
  if (backup.locked) return text.allowed.backup.locked;
  return from.includes(backup.status) ? undefined : text.allowed.backup.cannotDelete(backup.status);
}
