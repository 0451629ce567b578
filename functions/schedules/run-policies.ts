// Every minute: starts the backups and restore drills that policies have due, removes what their rules no longer keep, and finds
// out which instances are overdue. It reads only the policies for which there is something to do. Beside that it checks and
// deploys code that was pushed.
import { ApiError } from "../../shared/api/errors.ts";
import { waitingBackup } from "../../shared/operations/backups/begin-backup.ts";
import { now, Overtaken } from "../../shared/data/change.ts";
import { listPushes, type PushRecord } from "../../shared/records/deploy-hooks.ts";
import { instanceRef, requireAllowed } from "../../shared/records/instances.ts";
import { keyString } from "../../shared/data/keys.ts";
import { parseOrSkip } from "../../shared/data/parse-each.ts";
import { duePolicies, startKey } from "../../shared/records/policies.ts";
import { isNeverInstalled } from "../../shared/operations/backups/policy-changes.ts";
import {
  applyRetention,
  markOverdue,
  beginDueDrill,
  beginRun,
  findDueRun,
  holdRun,
  isHeldTooLong,
  closeRun,
  postponeDrill,
  skipRun,
  stopPolicy,
  type Subject,
  hasRun,
  queueRun,
  waitsUntil,
} from "../../shared/operations/backups/policy-runs.ts";
import { runPush } from "../../shared/operations/code/push-runs.ts";
import type { DueRun, PolicyRecord } from "../../shared/records/schemas/backup-policy.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { explain, type Explained } from "../../shared/records/reasons.ts";
import { NoBackupSlot, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { ConditionFailed, readAll } from "../../shared/data/table.ts";
import { workflowOf } from "../../shared/domain/lifecycle.ts";
import { SCHEDULED_AT_ONCE } from "../../shared/domain/limits.ts";
import { recognizeProblem } from "../../shared/domain/problems.ts";
import { because } from "../../shared/domain/reasons.ts";
import { log } from "../../shared/platform/log.ts";
import { publish } from "../../shared/platform/publish-metric.ts";
import { concurrentlyLogged, inParts } from "../../shared/runtime/concurrently-logged.ts";
import { createPacer } from "../../shared/runtime/paced.ts";
import { startExecution } from "../../shared/runtime/start.ts";

/** Accounts at once. The policies of one account come one after the other: each run writes the account's counters. */
const ACCOUNTS_AT_ONCE = 20;
/** The next run of this function continues with what is left then. */
const SECONDS_MAX = 50;
/**
 * Operations begun in a second, and backups that wait. Each writes about 50 units and starts an execution: more at a time would
 * meet the limits of Step Functions (150 starts a second) and of a new table (4,000 units a second). 3,000 a minute are what
 * 10,000 policies need that are due at once (docs/scale.md).
 */
export const BEGUN_PER_SECOND = 60;

export const handler = async (): Promise<void> => {
  const began = Date.now();
  const isLate = (): boolean => Date.now() - began > SECONDS_MAX * 1000;
  const run = { isLate, turn: createPacer(BEGUN_PER_SECOND) };
  await inParts({ policies: () => runPolicies(run), pushes: () => runPushes(run) });
};

async function runPolicies(run: Run): Promise<void> {
  const due = await duePolicies(now());
  await concurrentlyLogged(
    ACCOUNTS_AT_ONCE,
    [...Map.groupBy(due, ({ account_id }) => account_id)],
    ([accountId, policies]) => runAccount(accountId, policies, run),
    ([account]) => ({ account }),
  );
}

async function runPushes({ isLate, turn }: Run): Promise<void> {
  const runOne = async (push: PushRecord): Promise<void> => {
    if (isLate()) return;
    await turn();
    const operation = await runPush(push);
    if (operation !== undefined) await startOperation(operation);
  };
  await concurrentlyLogged(
    ACCOUNTS_AT_ONCE,
    await listPushes(),
    (push) => runOne(push).catch(ignoreConflict),
    ({ account_id, instance_id }) => ({ account: account_id, instance: instance_id }),
  );
}

/** One run of the function. */
interface Run {
  isLate: () => boolean;
  /** Waits until the next operation may begin. */
  turn: () => Promise<void>;
}

async function runAccount(accountId: string, policies: readonly PolicyRecord[], { isLate, turn }: Run): Promise<void> {
  const refs = policies.flatMap(({ instance_id, server_id }) => [
    instanceRef(accountId, instance_id).key,
    serverRef(accountId, server_id).key,
  ]);
  const items = await readAll(refs);
  const servers = new Map<string, ServerRecord | undefined>();
  const runOne = async (policy: PolicyRecord): Promise<void> => {
    if (isLate()) return;
    const instanceItem = items.get(keyString(instanceRef(accountId, policy.instance_id).key));
    if (instanceItem === undefined) return; // deleted since; its policy is gone with it
    const instance = parseOrSkip(InstanceRecord, instanceItem);
    if (instance === undefined) return;
    const server = servers.get(policy.server_id) ?? serverIn(items, accountId, policy.server_id);
    servers.set(policy.server_id, server);
    await advancePolicy({ instance, policy, turn }, server).catch(ignoreConflict);
  };
  await concurrentlyLogged(1, policies, runOne, ({ instance_id }) => ({ account: accountId, instance: instance_id }));
}

function serverIn(items: ReadonlyMap<string, Record<string, unknown>>, accountId: string, id: string): ServerRecord | undefined {
  const item = items.get(keyString(serverRef(accountId, id).key));
  return item && parseOrSkip(ServerRecord, item);
}

/**
 * Another function, or a person, has moved the policy or the push, or is deleting its instance: whatever there is to do now, the
 * next minute sees.
 */
function ignoreConflict(error: unknown): void {
  const isConflict = error instanceof ConditionFailed || (error instanceof ApiError && error.status < 500);
  if (!isConflict) throw error;
  log.info("a backup policy or a push cannot be moved at the moment", { reason: error.message });
}

type Due = Subject & Pick<Run, "turn">;

/** Does for a policy what there is to do now. */
async function advancePolicy(subject: Due, server: ServerRecord | undefined): Promise<void> {
  if (isNeverInstalled(subject.instance)) return stopPolicy(subject);
  const at = now();
  const due = findDueRun(subject.policy, at);
  const moved = due === undefined ? subject.policy : await advanceRun(subject, server, due, at);
  const policy = await beginDueDrillOf({ ...subject, policy: moved }, at);
  // This comes before the retention, which may have to wait for the end of a drill.
  const isDue = policy.overdue_at !== null && policy.overdue_at <= at;
  const checked = isDue ? await markOverdue({ ...subject, policy }, at) : { policy, became: false };
  const { instance } = subject;
  if (checked.became) {
    // This is reported at once: nothing later says it again, whatever becomes of the retention or of this function.
    log.warn("an instance is overdue", { account: policy.account_id, instance: instance.id });
    publish("BackupsOverdue", 1);
  }
  if (!policy.retain) return;
  const current = checked.became ? { ...instance, protection_status: "overdue" as const } : instance;
  await applyRetention({ instance: current, policy: checked.policy }, subject.turn, startOperation);
}

/** Starts a due run, or keeps it, or gives it up; the policy as it is then. */
async function advanceRun(subject: Due, server: ServerRecord | undefined, due: DueRun, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  const next = startKey(policy);
  // Until a run that is due at once has been tried, it is the next one itself.
  const isNext = policy.next_run_at === due.due_at;
  const overtaken = policy.due !== null && !isNext && next !== undefined && next <= at;
  const isFull = server !== undefined && server.scheduled_backups >= SCHEDULED_AT_ONCE;
  // A run that waits for a slot is not skipped, even if its instance was not available when there was one.
  if (overtaken || (!isFull && isHeldTooLong(due, at))) return skipRun(subject, due, whyNotStarted(subject, server, due), at);
  try {
    return await beginDueBackup(subject, server, due, { isFull, at });
  } catch (error) {
    // The run is not held for an hour as when the instance is busy: somebody has to act, and the event says so at once.
    if (error instanceof ApiError && error.code === "QUOTA_EXCEEDED") return skipRun(subject, due, explainError(error), at);
    throw error;
  }
}

async function beginDueBackup(
  subject: Due,
  server: ServerRecord | undefined,
  due: DueRun,
  { isFull, at }: { isFull: boolean; at: string },
): Promise<PolicyRecord> {
  const { policy } = subject;
  try {
    if (isFull) return await queueOrSkip(subject, due, at);
    if (server === undefined) throw new Error(`Server ${policy.server_id} does not exist`);
    requireUsable(server);
    await subject.turn();
    const { policy: saved, operation } = await beginRun(subject, due, await waitingBackup(policy), at);
    server.scheduled_backups += 1;
    await startOperation(operation);
    return saved;
  } catch (error) {
    if (error instanceof NoBackupSlot) return queueOrSkip(subject, due, at);
    if (error instanceof ConditionFailed && (await hasRun(policy, due))) return closeRun(subject, due, at);
    if (error instanceof Overtaken || !(error instanceof ApiError) || error.code === "QUOTA_EXCEEDED") throw error;
    return due.held_since === null ? holdRun(subject, due, at) : policy;
  }
}

/** Why a run did not start. */
function whyNotStarted({ instance }: Subject, server: ServerRecord | undefined, { backup_id, held_since }: DueRun): Explained {
  if (backup_id !== null && held_since === null) return NO_SLOT;
  try {
    requireAllowed(instance, "backup");
    if (server !== undefined) requireUsable(server);
    return explain(because("run_too_late"));
  } catch (error) {
    return explainError(error);
  }
}
const NO_SLOT = explain(because("run_without_place"));

function explainError(error: unknown): Explained {
  const message = error instanceof Error ? error.message : String(error);
  return { message, reason: recognizeProblem(message) };
}

async function queueOrSkip(subject: Due, due: DueRun, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  if (due.backup_id === null) await subject.turn();
  if (due.backup_id === null || due.held_since !== null) return queueRun(subject, due, at);
  if (policy.next_run_at !== null && waitsUntil(due, policy.next_run_at) <= at) return skipRun(subject, due, NO_SLOT, at);
  return policy;
}

/** Begins the restore drill that is due, or tries again later; the policy as it is then. */
async function beginDueDrillOf(subject: Due, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  if (policy.drill_at === null || policy.drill_at > at) return policy;
  try {
    await subject.turn();
    const drill = await beginDueDrill(subject, at);
    if (drill === undefined) return await postponeDrill(subject, at);
    await startOperation(drill.operation);
    return drill.policy;
  } catch (error) {
    if (error instanceof Overtaken || !(error instanceof ApiError)) throw error;
    return postponeDrill(subject, at);
  }
}

async function startOperation(operation: OperationRecord): Promise<void> {
  try {
    await startExecution(workflowOf(operation.type), operation.id, operation.input);
  } catch (error) {
    // The sweep starts it.
    log.error("could not start a scheduled operation", {
      operation: operation.id,
      error: error instanceof Error ? error : undefined,
    });
  }
}
