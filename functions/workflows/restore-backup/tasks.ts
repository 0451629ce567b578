// What the steps of restoring a backup do.
import { recordRestored } from "../../../shared/records/code.ts";
import { recordNeutralized } from "../../../shared/records/instances.ts";
import { addResult, setFailedState, recordModulesBefore, recordModules } from "../../../shared/records/operations.ts";
import { abandonedState, LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { addMissingModules, removeSentArchive, isServing, run, runUndo } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { closeSafetyBackup, makeSafetyBackup } from "../../../shared/runtime/safety-backup.ts";
import { tasks, type Work } from "../../../shared/runtime/tasks.ts";
import { requireStoredArchive } from "../../../shared/storage/stored-archive.ts";
import type { InputOf } from "../../../shared/domain/workflow.ts";
import workflow from "./workflow.ts";

type Restore = Work<InputOf<typeof workflow>>;

export const handler = tasks(workflow, {
  verifyArchive: async ({ backup, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "verify_archive", archive: requireStoredArchive(await backup()) })).ready,

  buildRestore: async ({ operation, input, backup, server, jobId }) => {
    const built = await run(await server(), {
      id: jobId,
      kind: "build_restore",
      instance_id: input.instance_id,
      restore_id: operation.id,
      archive: requireStoredArchive(await backup()),
      restore_database: input.restore_database,
      restore_filestore: input.restore_filestore,
      neutralize: input.neutralize,
      backup_first: input.backup_first,
    });
    if (built.ready) await addMissingModules(operation, built.result?.modules ?? null);
    return built.ready;
  },

  pauseErp: async ({ operation, input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "pause_erp", instance_id: input.instance_id, restore_id: operation.id })).ready,

  makeSafetyBackup: async (work) => {
    const { operation, server, jobId } = work;
    return (await makeSafetyBackup(work, { restore_id: operation.id })) && removeSentArchive(await server(), jobId);
  },

  /** Starts the ERP even if it was stopped: only its response shows that it accepts the data. */
  swapRestore: async ({ operation, input, server, jobId }) => {
    const { instance_id, restore_database, restore_filestore } = input;
    const job = { id: jobId, kind: "swap_restore", instance_id, restore_id: operation.id } as const;
    const progress = await run(await server(), { ...job, restore_database, restore_filestore });
    if (!progress.ready) return false;
    const { downtime_seconds } = progress.result;
    if (downtime_seconds !== null) await addResult(operation, { downtime_seconds });
    return true;
  },

  awaitHealthy: async ({ operation, instance, server, jobId }) => {
    const record = await instance();
    await recordModulesBefore(operation, record);
    return isServing(await server(), { operation, instance: record, jobId });
  },

  stopAgain: async ({ operation, input, server, jobId }) => {
    if (operation.before !== LIFECYCLE["instance.stop"].to) return true;
    return (await run(await server(), { id: jobId, kind: "stop_erp", instance_id: input.instance_id })).ready;
  },

  dropOld: async ({ operation, input, instance, server, jobId }) => {
    const record = await instance();
    const job = { id: jobId, kind: "drop_old", instance_id: record.id, restore_id: operation.id } as const;
    const progress = await run(await server(), job);
    if (!progress.ready) return false;
    await recordNeutralized(record, operation, progress.result.neutralized);
    if (input.restore_database) await recordRestored(record);
    return true;
  },

  putBack: async (work) => {
    const { operation, input, server, jobId, stepJobs } = work;
    if (operation.committed) return retryDropOld(work);
    const start = operation.before === LIFECYCLE["instance.start"].to;
    const { instance_id } = input;
    const job = { id: jobId, kind: "put_back", instance_id, restore_id: operation.id, start, ends: stepJobs } as const;
    const progress = await runUndo(await server(), job);
    if (progress !== "down") {
      if (progress.ready && operation.modules_before) await recordModules(operation, instance_id, operation.modules_before);
      return progress.ready;
    }
    // The old data still exists, but it is now unknown which of the two the ERP has.
    await setFailedState(operation, abandonedState(operation.type));
    return true;
  },

  closeSafetyBackup,
});

/** The restored data stays, because the old may be gone by now; anything else is left behind rather than lose good data. */
async function retryDropOld({ operation, input, instance, server, jobId, stepJobs, triedEnough }: Restore): Promise<boolean> {
  const record = await instance();
  if (input.restore_database) await recordRestored(record);
  const job = { id: jobId, kind: "drop_old", instance_id: record.id, restore_id: operation.id, ends: stepJobs } as const;
  try {
    const progress = await runUndo(await server(), job);
    if (progress === "down") return true;
    if (progress.ready) await recordNeutralized(record, operation, progress.result.neutralized);
    return progress.ready;
  } catch (error) {
    if (!(error instanceof GiveUp && triedEnough)) throw error;
    log.error("the data that a restore replaced is still on the machine", { instance: record.id, error });
    return true;
  }
}
