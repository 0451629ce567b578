// Instances that begin with the data of a backup.
import { retainBackup } from "../../records/backups.ts";
import { type Beginning, reserveOperation } from "../../records/operations.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";

interface Copied {
  restore_database: boolean;
  restore_filestore: boolean;
  neutralize: boolean;
  reset_users: boolean;
  /** Whether it stays the same database to the ERP's vendor: one that moves in, and does not exist twice. */
  keep_uuid: boolean;
}

/** Begins to build an instance from a backup, whose archive cannot be deleted meanwhile. */
export function beginClone(
  { change, by, operationId }: Beginning,
  { id, name }: InstanceRecord,
  backup: BackupRecord,
  copied: Copied,
): void {
  retainBackup(change, backup.id, operationId);
  reserveOperation(change, by, {
    id: operationId,
    type: "instance.clone",
    resource: { type: "instance", id, name },
    input: { backup_id: backup.id, ...copied, bring_code: backup.with_code === true && copied.restore_database },
    usesBackupId: backup.id,
    concerns: backup.instance_id === null ? [] : [backup.instance_id],
    result: { backup_id: backup.id },
  });
}
