// What the steps of backing up an instance do.
import { recordArchive } from "../../../shared/data/backups.ts";
import { addResult } from "../../../shared/data/operations.ts";
import { skippedIn } from "../../../shared/hosts/host.ts";
import { run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { TryAgain } from "../../../shared/platform/task-errors.ts";
import { jobIdOf, tasks } from "../../../shared/runtime/tasks.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive, requireStored } from "../../../shared/storage/archives.ts";
import type { BackupRecord, OperationRecord, ServerRecord } from "../../../shared/data/records.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  makeArchive: async ({ operation, input, backup, server }) =>
    (await make(operation, input, await backup(), await server())).ready,

  recordArchive: async ({ operation, input, backup, server }) => {
    const present = await backup();
    const made = await make(operation, input, present, await server());
    if (!made.ready) throw new TryAgain("HOST_JOB_FAILED", "The server no longer has the archive");
    await requireStored(archiveKey(present), made.result);
    await recordArchive(operation, present.id, made.result);
    await addResult(operation, skippedIn(made.result));
  },

  deleteArchive: async ({ operation, backup, server, jobId, stepJobs }) => {
    const made_by = jobIdOf(operation, "makeArchive");
    const forgotten = await undoUnlessDown(await server(), { id: jobId, kind: "forget_archive", made_by, ends: stepJobs });
    if (forgotten) await removeArchive(archiveKey(await backup()));
    return forgotten;
  },
});

/** Starting a job again with the same ID returns its result. */
const make = (operation: OperationRecord, { instance_id }: { instance_id: string }, backup: BackupRecord, server: ServerRecord) =>
  run(server, {
    id: jobIdOf(operation, "makeArchive"),
    kind: "make_archive",
    instance_id,
    key: archiveKey(backup),
    note: backup.note,
  });
