// Imports: uploaded archives that become backups once a server has examined them.
import { reserveUploaded } from "./backups.ts";
import { type Author, type Change, changeOf } from "./change.ts";
import { takeDrillPlace } from "./drills.ts";
import { keys } from "./keys.ts";
import { requireRunning, reserveOperation } from "./operations.ts";
import type { BackupRecord, OperationRecord } from "./records.ts";
import { requireServerReady } from "./servers.ts";
import { finishUpload, restoreUpload, type UploadRecord } from "./uploads.ts";

/** Begins the import of an upload, whose record is gone from then on. */
export function beginImport(
  change: Change,
  by: Author,
  upload: UploadRecord & { store_id: string },
  { sha256, server_id }: { sha256: string; server_id: string },
  operationId: string,
): BackupRecord {
  const { backup_id, size_bytes, note, store_id } = upload;
  finishUpload(change, upload);
  change.restore = (withdrawal) => restoreUpload(withdrawal, upload);
  requireServerReady(change, server_id);
  takeDrillPlace(change, server_id, operationId);
  const backup = reserveUploaded(change, { id: backup_id, server_id, note }, operationId);
  reserveOperation(change, by, {
    id: operationId,
    type: "backup.import",
    resource: { type: "backup", id: backup_id, name: note ?? backup_id },
    input: { server_id, store_id, size_bytes, sha256 },
    concerns: [server_id],
    result: { backup_id },
  });
  return backup;
}

type Examined = Required<
  Pick<
    BackupRecord,
    "size_bytes" | "sha256" | "stored_checksum" | "erp_version" | "edition" | "database_name" | "missing_files" | "left_out"
  >
>;

/** What was found out about the archive, while its import runs. */
export async function recordImport(operation: OperationRecord, examined: Examined): Promise<void> {
  const change = changeOf({ id: operation.account_id });
  const mine = { equals: { operation_id: operation.id } };
  change.update(keys.record("backup", operation.account_id, operation.resource.id), { set: examined }, mine);
  change.refind("backup", operation.resource.id, { database_name: examined.database_name });
  requireRunning(change, operation);
  await change.commit();
}
