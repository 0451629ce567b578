// What the steps of backing up an instance do.
import { codeInManifest } from "../../../shared/records/backup-code.ts";
import { readDeployedCode } from "../../../shared/records/deployed-code.ts";
import { recordArchive } from "../../../shared/records/backups.ts";
import { addResult } from "../../../shared/records/operations.ts";
import { type MadeArchive, skippedIn } from "../../../shared/hosts/host.ts";
import { removeSentArchive, run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { TryAgain } from "../../../shared/platform/task-errors.ts";
import { jobIdFor, tasks } from "../../../shared/runtime/tasks.ts";
import { archiveKey } from "../../../shared/storage/archive-key.ts";
import { removeArchive, requireStored } from "../../../shared/storage/archives.ts";
import { expectedArchive } from "../../../shared/storage/stored-archive.ts";
import type { BackupRecord } from "../../../shared/records/schemas/backup.ts";
import type { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../../shared/records/schemas/server.ts";
import { because } from "../../../shared/domain/reasons.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  // Recorded as soon as it is stored: a machine that goes away the next moment takes nothing with it.
  makeArchive: async ({ operation, input, backup, server, jobId }) => {
    const record = await backup();
    const archive = expectedArchive(record) ?? (await createArchive(operation, input, record, await server()));
    return archive !== undefined && removeSentArchive(await server(), jobId);
  },

  recordArchive: async ({ operation, input, backup, server }) => {
    const record = await backup();
    // An execution that began with an older version has not recorded it yet.
    const archive = expectedArchive(record) ?? (await createArchive(operation, input, record, await server()));
    if (archive === undefined) throw new TryAgain("HOST_JOB_FAILED", because("archive_gone"));
    await requireStored(archiveKey(record), archive);
  },

  deleteArchive: async ({ operation, backup, server, jobId, stepJobs }) => {
    const made_by = jobIdFor(operation, "makeArchive");
    const forgotten = await undoUnlessDown(await server(), { id: jobId, kind: "forget_archive", made_by, ends: stepJobs });
    if (forgotten) await removeArchive(archiveKey(await backup()));
    return forgotten;
  },
});

/**
 * Makes the archive and records what it is; undefined until the machine has made it. Starting a job again with the same ID
 * returns its result.
 */
async function createArchive(
  operation: OperationRecord,
  { instance_id }: { instance_id: string },
  backup: BackupRecord,
  server: ServerRecord,
): Promise<MadeArchive | undefined> {
  const deployed = await readDeployedCode({ account_id: operation.account_id, id: instance_id });
  const archive = await run(server, {
    id: jobIdFor(operation, "makeArchive"),
    kind: "make_archive",
    instance_id,
    key: archiveKey(backup),
    note: backup.note,
    code: codeInManifest(deployed),
  });
  if (!archive.ready) return undefined;
  await addResult(operation, skippedIn(archive.result));
  await recordArchive(operation, backup.id, archive.result, deployed); // last: with it, the work counts as done
  return archive.result;
}
