// Backups that had lost their archives, which an operator has put back: they can be restored again.
import { startChange, Overtaken, retryOnConflict } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import { find, queryAll } from "../../data/table.ts";
import { LIFECYCLE } from "../../domain/lifecycle.ts";
import type { ReasonCode } from "../../domain/reasons.ts";
import { NO_REASON, shownReason } from "../../records/reasons.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import { archiveKey } from "../../storage/archive-key.ts";
import { isStored } from "../../storage/archives.ts";
import { expectedArchive } from "../../storage/stored-archive.ts";
import { updateProtectionWith } from "./protection.ts";

const { to: COMPLETED, failed: FAILED } = LIFECYCLE["backup.create"];

/**
 * Yields the account's backups that are completed again: those that were once, and whose archives the store has as they were
 * recorded.
 */
export async function* completeFoundBackups(accountId: string): AsyncGenerator<BackupRecord> {
  const items = await queryAll(keys.record("backup", accountId, "").pk, { consistent: true });
  for (const backup of parseEach(BackupRecord, items)) {
    const recorded = expectedArchive(backup);
    if (!hasLostArchive(backup) || backup.completed_at === null || recorded === undefined) continue;
    if ((await isStored(archiveKey(backup), recorded)) && (await complete(backup))) yield backup;
  }
}

/** It was gone, or another was in its place. Others failed because of what is in them, which is no better now. */
const LOST: readonly string[] = ["storage_lacks_archive", "archive_not_stored", "archive_checksum"] satisfies ReasonCode[];

function hasLostArchive(backup: BackupRecord): boolean {
  const { code = "", parameters = {} } = shownReason(backup) ?? {};
  return backup.state === FAILED && (LOST.includes(code) || LOST.includes(String(parameters["why_code"])));
}

/** It does not expire any more: when it would have is forgotten. */
const complete = ({ account_id, id }: BackupRecord): Promise<boolean> =>
  retryOnConflict(async () => {
    const backup = await find({ key: keys.record("backup", account_id, id), schema: BackupRecord });
    if (backup === undefined || !hasLostArchive(backup)) return false;
    const change = startChange({ id: account_id });
    change.move(
      { kind: "backup", record: backup },
      { from: FAILED, to: COMPLETED, set: { state: COMPLETED, ...NO_REASON } },
      { equals: { state: FAILED } },
      () => new Overtaken("Another change to this backup came first", id),
    );
    await updateProtectionWith(change, backup);
    await change.commit();
    return true;
  });
