// A completed backup whose archive turns out to be corrupt: nobody can restore it, and its instance is protected by the one
// before it.
import * as z from "zod";
import { LIFECYCLE } from "../../domain/lifecycle.ts";
import { startChange, Overtaken, retryOnConflict } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { updateProtectionWithout } from "./protection.ts";
import { type Explained, withMessage } from "../../records/reasons.ts";
import { find } from "../../data/table.ts";

const { to: COMPLETED, failed: FAILED } = LIFECYCLE["backup.create"];

const Corrupt = z.object({
  id: z.string(),
  number: z.string(),
  state: z.string(),
  instance_id: z.string().nullable(),
  expires_at: z.string().nullable(),
});

/**
 * Marking it twice has the same effect as once. Its archive stays until a user deletes it, and does not expire: parts of it may
 * be of use.
 */
export const markCorrupt = (accountId: string, backupId: string, error: Explained): Promise<void> =>
  retryOnConflict(async () => {
    const backup = await find({ key: keys.record("backup", accountId, backupId), schema: Corrupt });
    if (backup?.state !== COMPLETED) return;
    const change = startChange({ id: accountId });
    change.move(
      { kind: "backup", record: backup },
      { from: COMPLETED, to: FAILED, set: { state: FAILED, ...withMessage(error), expires_at: null } },
      { equals: { state: COMPLETED } },
      () => new Overtaken("Another change to this backup came first", backupId),
    );
    if (backup.expires_at !== null) change.remove(keys.expiringBackup(backup.expires_at, backupId), { exists: false });
    if (backup.instance_id !== null) await updateProtectionWithout(change, backup.instance_id, backupId);
    await change.commit();
  });
