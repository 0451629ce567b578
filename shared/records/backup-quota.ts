// What backups and uploads use of the account's quotas: how many backups there are, and the bytes of all archives.
//
// Each record says which bytes it counts, in `counted_bytes`, and changes that in the write that moves the account's counters: a
// step that runs twice counts once. Records from before there were these quotas count nothing until a change or the first
// migration counts them.
import { type Change, Overtaken } from "../data/change.ts";
import type { Where } from "../data/expressions.ts";
import { isSafetyBackup } from "../domain/backup-kinds.ts";
import type { BackupRecord } from "./schemas/backup.ts";
import type { Item } from "../data/keys.ts";

type Counted = Pick<BackupRecord, "counted_bytes">;

/**
 * Counts a new backup, of whose archive nothing is known yet: it may take the account over its bytes, but not begin where there
 * is no room left. A safety backup passes, because nobody may lose data for a quota.
 */
export function countNewBackup(change: Change, kind: BackupRecord["kind"]): Required<Counted> {
  const limited = !isSafetyBackup({ kind });
  change.use("backup", 1, { limited });
  if (limited) change.requireRoom("backup_bytes");
  return { counted_bytes: 0 };
}

/** Counts the backup of an upload, whose bytes count already. */
export function countUploaded(change: Change, size_bytes: number): Required<Counted> {
  change.use("backup", 1);
  return { counted_bytes: size_bytes };
}

interface Recount {
  set: Required<Counted>;
  where: Where;
  conditionError: (current: Item | undefined) => Error | undefined;
}

/** Counts other bytes for a backup from now on; for the write of its record. */
export function recountBackup(change: Change, backup: Counted & { id: string }, bytes: number): Recount {
  if (backup.counted_bytes === undefined) change.use("backup", 1, { limited: false });
  change.use("backup_bytes", bytes - (backup.counted_bytes ?? 0), { limited: false });
  return { set: { counted_bytes: bytes }, ...asCounted(backup) };
}

/** Takes a backup out of the counts; for the write that removes its record. */
export function uncountBackup(change: Change, backup: Counted & { id: string }): Omit<Recount, "set"> {
  if (backup.counted_bytes !== undefined) {
    change.use("backup", -1);
    change.use("backup_bytes", -backup.counted_bytes);
  }
  return asCounted(backup);
}

/** The write fails if the backup has been counted otherwise since it was read. */
const asCounted = ({ id, counted_bytes }: Counted & { id: string }): Omit<Recount, "set"> => ({
  where: { same: { counted_bytes } },
  conditionError: (current) =>
    current === undefined || current["counted_bytes"] === counted_bytes
      ? undefined
      : new Overtaken("Another request changed the backup at the same time; try again", id),
});
