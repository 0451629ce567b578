// What each step of restore-backup does, and how it is undone.
import { closeSafetyBackup, findBackup, reserveSafetyBackup } from "../../../shared/data/backups.ts";
import { recordNeutralized } from "../../../shared/data/instances.ts";
import { addResult } from "../../../shared/data/operations.ts";
import type { OperationRecord } from "../../../shared/data/records.ts";
import { afterRestore } from "../../../shared/domain/lifecycle.ts";
import { requireStored, storeArchive } from "../../../shared/hosts/backup-archive.ts";
import { archiveRefOf } from "../../../shared/hosts/index.ts";
import { isHealthy, runJob } from "../../../shared/hosts/jobs.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive } from "../../../shared/storage/archives.ts";
import { TryAgain } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

/** What is stopped when the restore begins is stopped when it ends. */
const shallRun = ({ before }: OperationRecord): boolean => afterRestore(before ?? "running") === "running";

export const handler = tasks(workflow, {
  verifyArchive: async (work) =>
    (await runJob(work, { kind: "verify", archive: archiveRefOf(await work.backup()) })) !== undefined,

  makeSafetyBackup: async (work) => {
    const { operation, input } = work;
    const backup = await reserveSafetyBackup(await work.instance(), input.safety_backup_id, operation.id);
    if (!(await storeArchive(work, backup))) return false;
    const stored = await findBackup(operation.account_id, backup.id);
    await requireStored(stored ?? backup);
    await closeSafetyBackup(stored ?? backup, "completed", null);
    await addResult(operation, { safety_backup_id: backup.id });
    return true;
  },

  restoreArchive: async (work) => {
    const { instance_id, restore_database: database, restore_filestore: filestore, neutralize } = work.input;
    const archive = archiveRefOf(await work.backup());
    const start = shallRun(work.operation);
    const job = {
      kind: "restore" as const,
      instance_id,
      restore_id: work.operation.id,
      archive,
      database,
      filestore,
      neutralize,
      start,
    };
    return (await runJob(work, job)) !== undefined;
  },

  awaitHealthy: async (work) => !shallRun(work.operation) || isHealthy(work),

  dropOld: async (work) => {
    const { instance_id } = work.input;
    const found = await runJob({ ...work, jobId: `${work.jobId}-inspect` }, { kind: "inspect", instance_id });
    const dropped = await runJob(work, { kind: "drop_old", instance_id, restore_id: work.operation.id });
    if (found === undefined || dropped === undefined)
      throw new TryAgain("HOST_JOB_FAILED", "What was replaced could not be removed in time");
    await recordNeutralized(await work.instance(), found.is_neutralized);
  },

  putBack: async (work) =>
    (await runJob(work, { kind: "put_back", instance_id: work.input.instance_id, restore_id: work.operation.id })) !== undefined,

  /** A safety backup that was completed is kept: it is somebody's data, whatever became of the restore. */
  closeSafetyBackup: async (work) => {
    const backup = await findBackup(work.operation.account_id, work.input.safety_backup_id);
    if (backup === undefined || backup.state === "completed") return;
    await removeArchive(archiveKey(backup));
    await closeSafetyBackup(backup, "failed", "The restore that it was taken for failed first");
  },
});
