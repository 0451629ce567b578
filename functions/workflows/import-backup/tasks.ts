// What the steps of importing an uploaded archive do.
import { recordImport } from "../../../shared/operations/backups/imports.ts";
import { addResult } from "../../../shared/records/operations.ts";
import type { BackupRecord } from "../../../shared/records/schemas/backup.ts";
import type { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../../shared/records/schemas/server.ts";
import { missingModules } from "../../../shared/domain/missing-modules.ts";
import { because } from "../../../shared/domain/reasons.ts";
import { addMissingModules, run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { GiveUp, TryAgain } from "../../../shared/platform/task-errors.ts";
import { offeredVersions } from "../../../shared/providers/images.ts";
import { jobIdFor, tasks } from "../../../shared/runtime/tasks.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive, storedObject } from "../../../shared/storage/archives.ts";
import { abortUploads, joinParts } from "../../../shared/storage/uploads.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  joinParts: async ({ input, backup }) => {
    const key = archiveKey(await backup());
    if ((await storedObject(key)) === undefined) await joinParts(key, input.store_id);
    const { size_bytes } = await requireObject(key);
    if (size_bytes !== input.size_bytes) throw corrupt(size_bytes, input.size_bytes);
    await abortUploads(key); // one that was begun and never recorded
  },

  examineArchive: async ({ operation, input, backup, server }) =>
    (await examine(operation, input, await backup(), await server())).ready,

  recordImport: async ({ operation, input, backup, server }) => {
    const record = await backup();
    const examined = await examine(operation, input, record, await server());
    if (!examined.ready) throw new TryAgain("HOST_JOB_FAILED", because("archive_unknown"));
    const { size_bytes, stored_checksum } = await requireObject(archiveKey(record));
    const { left_out, modules, ...measurements } = examined.result;
    const missing_modules = modules && missingModules(modules);
    const counts = left_out.map(({ kind, count }) => ({ kind, count }));
    const archive = { size_bytes, stored_checksum, sha256: input.sha256 };
    await recordImport(operation, { ...measurements, ...archive, left_out: counts, missing_modules });
    await addMissingModules(operation, modules);
    const { missing_files } = measurements;
    if (left_out.length + missing_files > 0)
      await addResult(operation, { ...(left_out.length > 0 && { left_out }), ...(missing_files > 0 && { missing_files }) });
  },

  // Any other failure may be the server's or the storage's: nobody should have to send 100 GB again for it.
  deleteArchive: async ({ backup, failure }) => {
    if (failure === "BACKUP_CORRUPT") await removeArchive(archiveKey(await backup()));
  },

  removeExamined: async ({ server, jobId, stepJobs }) =>
    undoUnlessDown(await server(), { id: jobId, kind: "remove_drill", ends: stepJobs }),
});

/** Starting a job again with the same ID returns its result. */
const examine = async (
  operation: OperationRecord,
  { size_bytes, sha256 }: { size_bytes: number; sha256: string },
  backup: BackupRecord,
  server: ServerRecord,
) =>
  run(server, {
    id: jobIdFor(operation, "examineArchive"),
    kind: "import_archive",
    archive: { key: archiveKey(backup), size_bytes, sha256 },
    erp_versions: (await offeredVersions()).map(({ version }) => version),
    note: backup.upload === undefined ? backup.note : null, // in the sandbox it makes the first try fail
  });

async function requireObject(key: string) {
  const stored = await storedObject(key);
  if (stored === undefined) throw new GiveUp("STORAGE_ERROR", because("storage_lacks_upload"));
  return stored;
}

const corrupt = (size: number, expected: number): GiveUp =>
  new GiveUp("BACKUP_CORRUPT", because("upload_unusable", { why: because("archive_other_size", { size, expected }) }));
