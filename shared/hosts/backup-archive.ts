// Making a backup's archive on the host, and checking that what is stored is what was made.
import { recordArchive } from "../data/backups.ts";
import type { BackupRecord, ServerRecord } from "../data/records.ts";
import { GiveUp } from "../runtime/task-errors.ts";
import { archiveKey } from "../storage/archive-key.ts";
import { findArchive } from "../storage/archives.ts";
import { runJob } from "./jobs.ts";

/** Whether the archive is made and stored; what the host found of it is then on the backup. */
export async function storeArchive(
  work: { server: () => Promise<ServerRecord>; jobId: string },
  backup: BackupRecord,
): Promise<boolean> {
  const { account_id, id, instance_id, note } = backup;
  const made = await runJob(work, { kind: "archive", instance_id, key: archiveKey(backup), note });
  if (made === undefined) return false;
  await recordArchive(account_id, id, made);
  return true;
}

/** Throws STORAGE_ERROR unless the storage has the archive as the host stored it: only then is a backup a backup. */
export async function requireStored(backup: BackupRecord): Promise<void> {
  const stored = await findArchive(archiveKey(backup));
  if (stored === undefined) throw new GiveUp("STORAGE_ERROR", "The archive is not in the storage");
  if (stored.size_bytes !== backup.size_bytes || stored.checksum !== backup.stored_checksum)
    throw new GiveUp("STORAGE_ERROR", "The archive in the storage is not the one that was sent");
}
