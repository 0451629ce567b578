// Imports: uploaded archives that become backups once a server has examined them.
import { beginImportAgain, recordMeasured, reserveUploaded } from "../../records/backups.ts";
import { reserveDrillSlot } from "./drills.ts";
import { type Beginning, reserveOperation } from "../../records/operations.ts";
import type { BackupRecord, KeptUpload } from "../../records/schemas/backup.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { requireServerReady } from "../../records/servers.ts";
import { finishUpload, restoreUpload, type UploadRecord } from "../../records/uploads.ts";

/** Begins the import of an upload, whose record is gone from then on. */
export function beginImport(
  { change, by, operationId }: Beginning,
  upload: UploadRecord & { store_id: string },
  { sha256, server_id }: { sha256: string; server_id: string },
): BackupRecord {
  const { backup_id, size_bytes, note, file_name, store_id } = upload;
  finishUpload(change, upload);
  change.ifWithdrawn((withdrawal) => restoreUpload(withdrawal, upload));
  requireServerReady(change, server_id);
  reserveDrillSlot(change, server_id, operationId);
  const backup = reserveUploaded(change, { id: backup_id, server_id, note, file_name, size_bytes }, operationId);
  reserveOperation(change, by, { id: operationId, ...buildImport(backup, server_id, { store_id, size_bytes, sha256 }) });
  return backup;
}

/** Begins another try of an import that failed, perhaps on another server. */
export function retryImport({ change, by, operationId }: Beginning, backup: BackupRecord, server_id: string): OperationRecord {
  const upload = beginImportAgain(change, backup, server_id, operationId);
  requireServerReady(change, server_id);
  reserveDrillSlot(change, server_id, operationId);
  return reserveOperation(change, by, { id: operationId, before: backup.state, ...buildImport(backup, server_id, upload) });
}

const buildImport = ({ id, note }: BackupRecord, server_id: string, upload: KeptUpload) => ({
  type: "backup.import" as const,
  resource: { type: "backup" as const, id, name: note ?? id },
  input: { server_id, ...upload },
  concerns: [server_id],
  result: { backup_id: id },
});

type Examined = Required<
  Pick<
    BackupRecord,
    | "size_bytes"
    | "sha256"
    | "stored_checksum"
    | "erp_version"
    | "edition"
    | "database_name"
    | "missing_files"
    | "listed_files"
    | "left_out"
    | "missing_modules"
  >
>;

/** What was found out about the archive, while its import runs. */
export const recordImport = (operation: OperationRecord, examined: Examined): Promise<void> =>
  recordMeasured(operation, operation.resource.id, examined, (change) =>
    change.setSearchFields("backup", operation.resource.id, { database_name: examined.database_name }),
  );
