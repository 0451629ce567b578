// What the steps of drilling a backup do.
import { toBroughtCode } from "../../../shared/hosts/brought-code.ts";
import { markCorrupt } from "../../../shared/operations/backups/corrupt-backups.ts";
import { buildCheck, buildDrill, storeDrillResult, recordDrill } from "../../../shared/operations/backups/drills.ts";
import { findBackupCode, withInstanceCredentials } from "../../../shared/records/backup-code.ts";
import { findOperation } from "../../../shared/records/operations.ts";
import { DRILL } from "../../../shared/domain/lifecycle.ts";
import { because, type Reason } from "../../../shared/domain/reasons.ts";
import { run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { publish } from "../../../shared/platform/publish-metric.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { isStored } from "../../../shared/storage/archives.ts";
import { expectedArchive, requireStoredArchive } from "../../../shared/storage/stored-archive.ts";
import workflow from "./workflow.ts";

const WHOLE = buildCheck("checksum", true, because("check_intact"));

export const handler = tasks(workflow, {
  verifyArchive: async ({ operation, backup, server, jobId }) => {
    const record = await backup();
    // Without the store's checksum, as in old records, the machine finds out what is there.
    const expected = expectedArchive(record);
    if (expected !== undefined && !(await isStored(archiveKey(record), expected))) {
      await storeDrillResult(operation, damaged(because("storage_lacks_archive")));
      return true;
    }
    try {
      return (await run(await server(), { id: jobId, kind: "verify_archive", archive: requireStoredArchive(record) })).ready;
    } catch (error) {
      await storeDrillResult(operation, damaged(corruption(error)));
      return true;
    }
  },

  drillArchive: async ({ operation, backup, server, jobId }) => {
    if (operation.result?.drill !== undefined) return true;
    const record = await backup();
    const { note } = record;
    try {
      const { edition, ...archive } = requireStoredArchive(record);
      const code = await findBackupCode(record);
      const brought = code && (await toBroughtCode(await withInstanceCredentials(code)));
      const job = { id: jobId, kind: "drill_archive", archive, edition, note, code: brought } as const;
      const progress = await run(await server(), job);
      if (progress.ready)
        await storeDrillResult(operation, buildDrill([WHOLE, ...progress.result.checks], because("check_not_made")));
      return progress.ready;
    } catch (error) {
      await storeDrillResult(operation, damaged(corruption(error)));
      return true;
    }
  },

  recordDrill: async ({ operation, backup }) => {
    // The result is read as the last step has left it, also if that ran twice at once.
    const drill = (await findOperation(operation.account_id, operation.id))?.result?.drill;
    if (drill === undefined) throw new GiveUp("INTERNAL_ERROR", because("drill_without_result"));
    const record = await backup();
    if (drill.status === DRILL.failed && !operation.recorded) {
      publish("DrillFailed", 1);
      log.warn("a restore drill failed", { backup: record.id, checks: drill.checks });
    }
    await recordDrill(operation, record, drill);
    const checksum = drill.checks.find(({ name }) => name === WHOLE.name);
    if (checksum?.passed === false)
      await markCorrupt(record.account_id, record.id, { message: checksum.detail, reason: checksum.reason ?? null });
  },

  removeDrill: async ({ server, jobId, stepJobs }) =>
    undoUnlessDown(await server(), { id: jobId, kind: "remove_drill", ends: stepJobs }),
});

const damaged = (reason: Reason) => buildDrill([buildCheck("checksum", false, reason)], because("check_skipped_damaged"));

/** What is wrong with the archive; anything else that failed says nothing about it. */
function corruption(error: unknown): Reason {
  if (!(error instanceof GiveUp) || error.code !== "BACKUP_CORRUPT") throw error;
  return error.reason;
}
