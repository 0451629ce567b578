// Expired backups: which can be deleted, and the start of their deletion.
import { newId } from "../../domain/ids.ts";
import { isFailure, RESTORABLE } from "../../domain/lifecycle.ts";
import { getAccount } from "../../records/accounts.ts";
import { backupRef, beginDeletion } from "../../records/backups.ts";
import { startChange } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { listChildren } from "../../data/child-lists.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { find } from "../../data/table.ts";
import { check } from "../../data/writes.ts";

interface Expired {
  accountId: string;
  backupId: string;
}

/**
 * Begins the deletion of an expired backup. Returns undefined if it must be kept for now, because it is locked, in use or the
 * last completed backup of its instance. The write that begins the deletion also checks that there is another one.
 */
export async function reserveExpiry({ accountId, backupId }: Expired): Promise<OperationRecord | undefined> {
  const backup = await find(backupRef(accountId, backupId));
  if (backup === undefined || backup.expires_at === null) return undefined;
  if (backup.locked || backup.operation_id !== null || (backup.used_by?.size ?? 0) > 0) return undefined;
  const completed = RESTORABLE.includes(backup.state);
  if (!completed && !isFailure(backup.state)) return undefined;
  const other = completed ? await findOther(backup) : undefined;
  if (completed && other === undefined) return undefined;
  const change = startChange(await getAccount(accountId));
  const operation = beginDeletion(change, SERVICE, backup, newId("operation"));
  if (other !== undefined)
    change.write(
      check(keys.record("backup", accountId, other), { equals: { operation_id: null }, oneOf: { state: RESTORABLE } }),
    );
  await change.commit();
  return operation;
}

const SERVICE = { operator: "Expiry of backups", requestId: "expire-backups" } as const;

/** Another completed backup of the same instance. The list may lag behind; the write checks it. */
async function findOther(backup: BackupRecord): Promise<string | undefined> {
  if (backup.instance_id === null) return undefined;
  const { items } = await listChildren(
    { kind: "backup", accountId: backup.account_id, schema: BackupRecord, parentId: backup.instance_id },
    { per_page: 1 },
    ({ id, state, operation_id }) => id !== backup.id && operation_id === null && RESTORABLE.includes(state),
  );
  return items[0]?.id;
}
