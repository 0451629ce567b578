// The safety backup of a workflow that replaces an instance's data: a restore or a deploy.
import { completeSafetyBackup, failSafetyBackup, reserveSafetyBackup } from "../operations/backups/safety-backups.ts";
import { codeInManifest } from "../records/backup-code.ts";
import { backupRef, recordArchive } from "../records/backups.ts";
import { readDeployedCode } from "../records/deployed-code.ts";
import { addResult } from "../records/operations.ts";
import { find } from "../data/table.ts";
import { LIFECYCLE } from "../domain/lifecycle.ts";
import { skippedIn } from "../hosts/host.ts";
import { run, undoUnlessDown } from "../hosts/index.ts";
import { archiveKey } from "../storage/archive-key.ts";
import { removeArchive, requireStored } from "../storage/archives.ts";
import { jobIdFor, type Work } from "./tasks.ts";

interface Input {
  account_id: string;
  instance_id: string;
  safety_backup_id: string;
}

/**
 * Makes the safety backup, once however often the step runs; false until it is stored. `restore_id` is that of the restore, if it
 * is taken for one.
 */
export async function makeSafetyBackup(
  { operation, input, instance, server, jobId }: Work<Input>,
  { restore_id }: { restore_id?: string } = {},
): Promise<boolean> {
  const safety = await reserveSafetyBackup(operation, await instance(), input.safety_backup_id);
  if (safety.state !== LIFECYCLE["backup.create"].through) return true;
  const deployed = await readDeployedCode(await instance());
  const key = archiveKey(safety);
  const archive = await run(await server(), {
    id: jobId,
    kind: "make_archive",
    instance_id: input.instance_id,
    key,
    note: safety.note,
    ...(restore_id !== undefined && { restore_id }),
    code: codeInManifest(deployed),
  });
  if (!archive.ready) return false;
  await requireStored(key, archive.result);
  await recordArchive(operation, safety.id, archive.result, deployed);
  await addResult(operation, { safety_backup_id: safety.id, ...skippedIn(archive.result) });
  await completeSafetyBackup(operation, safety.id);
  return true;
}

/** Ends a safety backup that is not complete as failed, and removes what there is of it. A completed one stays: it is valid. */
export async function closeSafetyBackup({ operation, input, server, jobId }: Work<Input>): Promise<boolean> {
  const { account_id, safety_backup_id: id } = input;
  const safety = await find(backupRef(account_id, id));
  if (safety?.state !== LIFECYCLE["backup.create"].through) return true;
  const made_by = jobIdFor(operation, "makeSafetyBackup");
  if (!(await undoUnlessDown(await server(), { id: jobId, kind: "forget_archive", made_by, ends: [made_by] }))) return false;
  await removeArchive(archiveKey(safety));
  await failSafetyBackup(account_id, id);
  return true;
}
