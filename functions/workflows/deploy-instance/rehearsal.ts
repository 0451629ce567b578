// The rehearsal of a deploy on a copy of the data: the slot that it needs, its job, and what its failure means for the deploy.
import {
  holdsDrillSlot,
  releaseDrillSlot,
  tryReacquireDrillSlot,
  tryAcquireDrillSlot,
} from "../../../shared/operations/backups/drills.ts";
import { getDeploy, getPlan, updateDeploy } from "../../../shared/records/deploys.ts";
import type { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { startInJson } from "../../../shared/domain/json-bytes.ts";
import { REHEARSAL } from "../../../shared/domain/lifecycle.ts";
import { because, inEnglish, type Reason, type ReasonCode } from "../../../shared/domain/reasons.ts";
import { undoUnlessDown } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { type Deploy, joinReport, readUpdate, runWithLog, splitReport } from "./jobs.ts";

/** A deploy's record has room for this much of its rehearsal's error: `tasks.ts` lists what else the record has to hold. */
const ERROR_BYTES_MAX = 4 * 1024;

export async function awaitPlace(work: Deploy): Promise<boolean> {
  const { operation, input, server } = work;
  if (!isRehearsed(input)) return true;
  return (await tryAcquireDrillSlot(operation, (await server()).id)) || !(await updatesSome(work));
}

export async function rehearse(work: Deploy): Promise<boolean> {
  const { operation, input, server, jobId } = work;
  if (!isRehearsed(input)) return true;
  const { id: serverId } = await server();
  if (!(await holdsDrillSlot(operation, serverId))) {
    const { rehearsal } = await getDeploy(input.account_id, input.deploy_id);
    if (rehearsal !== null) return true; // this task, which may run twice, has released the slot
    if (await updatesSome(work)) {
      // A rehearsal that lost the slot goes on once it is taken again: no update goes unrehearsed.
      await tryAcquireDrillSlot(operation, serverId);
      return false;
    }
    await skipRehearsal(operation, because("rehearsal_place_taken"));
    return true;
  }
  const job = { id: jobId, kind: "rehearse_code", ...(await readUpdate(work)) } as const;
  try {
    const progress = await runWithLog(work, job);
    if (!progress.ready) return false;
    const { duration_seconds } = progress.result;
    await updateDeploy(operation, { rehearsal: { status: REHEARSAL.passed, duration_seconds, error: null } });
  } catch (error) {
    await failRehearsal(work, error);
  }
  await releaseDrillSlot(operation, serverId);
  return true;
}

export async function leavePlace({ operation, server, jobId, stepJobs }: Deploy): Promise<boolean> {
  const record = await server();
  // Only whoever has the slot may remove what is there.
  if (!(await tryReacquireDrillSlot(operation, record.id))) return true;
  if (!(await undoUnlessDown(record, { id: jobId, kind: "remove_drill", ends: stepJobs }))) return false;
  await releaseDrillSlot(operation, record.id);
  return true;
}

/**
 * Whether a deploy is rehearsed, also if it updates no module: code, packages and variables can keep an ERP from its start. The
 * rehearsal has a copy of the present data alone, which is not what the ERP gets where a backup's data comes back.
 */
const isRehearsed = ({ restore_database }: Deploy["input"]): boolean => !restore_database;

/** Without an update, a rehearsal only starts the ERP: a deploy goes on without one that the server has no slot or room for. */
async function updatesSome({ input: { account_id, deploy_id } }: Deploy): Promise<boolean> {
  const { update, install } = await getPlan(account_id, deploy_id);
  return update.length + install.length > 0;
}

/** Fails the deploy, unless it updates nothing and the error says nothing of the code. New code may keep the ERP from ending. */
async function failRehearsal(work: Deploy, error: unknown): Promise<void> {
  const { operation } = work;
  if (!(error instanceof GiveUp)) throw error;
  if (error.code === "HOST_JOB_FAILED") {
    if (await updatesSome(work)) throw withWayAround(error);
    return skipRehearsal(operation, error.reason);
  }
  const failure = error.code === "TIMEOUT" ? tooSlow(error) : error;
  if (failure.code === "REHEARSAL_FAILED") {
    const message = startInJson(inEnglish(failure.reason), ERROR_BYTES_MAX);
    await updateDeploy(operation, { rehearsal: { status: REHEARSAL.failed, duration_seconds: null, error: message } });
  }
  throw failure;
}

function tooSlow(error: GiveUp): GiveUp {
  const [, log] = splitReport(error.reason);
  const reason = because("rehearsal_slow", { minutes: JOB_MINUTES.rehearse_code });
  return new GiveUp("REHEARSAL_FAILED", joinReport(because("rehearsal_stopped", { why: reason }), log), { cause: error });
}

/** The log is of no failed step any more. */
async function skipRehearsal(operation: OperationRecord, reason: Reason): Promise<void> {
  const [reportedReason] = splitReport(reason);
  const error = startInJson(inEnglish(reportedReason), ERROR_BYTES_MAX);
  log.info("the deploy updates nothing, and goes on without a rehearsal", { error });
  const rehearsal = { status: REHEARSAL.skipped, duration_seconds: null, error };
  await updateDeploy(operation, { rehearsal, log_excerpt: null });
}

const SHORTAGES: readonly string[] = [
  "disk_full",
  "disk_almost_full",
  "disk_out_of_inodes",
  "disk_almost_out_of_inodes",
  "out_of_memory",
] satisfies ReasonCode[];

/** A shortage is no reason against the deploy. What the machine says of those that it looks for names the way already. */
function withWayAround(error: GiveUp): GiveUp {
  const [reason, log] = splitReport(error.reason);
  if (!SHORTAGES.includes(reason.code)) return error;
  return new GiveUp(error.code, joinReport(because("rehearsal_stopped", { why: reason }), log), { cause: error });
}
