// Turns a workflow's table and the implementation of its steps into the Lambda function that its state machine calls.
//
// Every task fetches the operation first: work for an ended one would happen behind the user's back.
import * as z from "zod";
import type { OperationErrorCode } from "../api/errors.ts";
import { getBackup } from "../records/backups.ts";
import { markCorrupt } from "../operations/backups/corrupt-backups.ts";
import { getInstance } from "../records/instances.ts";
import {
  beginOperation,
  commitOperation,
  countFailedUndo,
  findOperation,
  type ShownProgress,
  showProgress,
} from "../records/operations.ts";
import { secretsInLogs } from "../operations/code/log-secrets.ts";
import { endOperation } from "../operations/work/operation-ends.ts";
import type { BackupRecord } from "../records/schemas/backup.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import type { OperationRecord } from "../records/schemas/operation.ts";
import type { ServerRecord } from "../records/schemas/server.ts";
import { removeSealed } from "../data/sealed.ts";
import { getServer } from "../records/servers.ts";
import { USABLE, isOpen } from "../domain/lifecycle.ts";
import { readableWork } from "../domain/log-lines.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { readWorkLog } from "../hosts/index.ts";
import { storeWorkLog } from "../records/work-logs.ts";
import {
  type InputOf,
  type Poll,
  type PollName,
  type Step,
  type StepName,
  type UndoName,
  type Workflow,
} from "../domain/workflow.ts";
import { log, logAsDebug } from "../platform/log.ts";
import { publish } from "../platform/publish-metric.ts";
import {
  againAfter,
  asTaskError,
  CaughtError,
  forStateMachine,
  GiveUp,
  giveUpAfter,
  NotYet,
  type OperationError,
  toOperationError,
  TryAgain,
} from "../platform/task-errors.ts";

/** The records that the input's IDs identify, fetched on demand. */
type Records<I> = (I extends { server_id: string } | { instance_id: string }
  ? { server: () => Promise<ServerRecord> }
  : unknown) &
  (I extends { instance_id: string } ? { instance: () => Promise<InstanceRecord> } : unknown) &
  (I extends { backup_id: string } ? { backup: () => Promise<BackupRecord> } : unknown);

/** What a task is given. */
export type Work<I> = Records<I> & {
  operation: OperationRecord;
  input: I;
  /** Names the task's job on the machine, so that it starts once however often the task runs. */
  jobId: string;
  /** The jobs of all steps: an undo ends those that still run, and prevents late ones. */
  stepJobs: readonly string[];
  /** Why the workflow is being undone. */
  failure: OperationErrorCode;
  /** Whether an undo that can do without the machine has tried often enough: some minutes, with the waits between its tries. */
  triedEnough: boolean;
};

/** Waits of 2, 4, 8, 16 and 30 s are a minute at most, and each job waits three more for its machine's Docker. */
const UNDO_TRIES_ENOUGH = 6;

type Done<W, T> = (work: Work<InputOf<W>>) => Promise<T>;

/** The implementations of a workflow's steps and undos; a missing or misspelled task does not compile. */
type Implementations<W> = {
  [N in Exclude<StepName<W>, PollName<W>>]: Done<W, void>;
} & {
  /**
   * Whether the awaited work is ready, or why it is not. Instead it may throw a `NotYet`, with the operation's error if it never
   * is.
   */
  [N in PollName<W>]: Done<W, boolean | Reason>;
} & {
  /** False asks to be called again. An undo accepts that there is nothing to undo, and that it has been done. */
  [N in UndoName<W>]: Done<W, boolean | void>;
};

const TaskEvent = z.object({
  task: z.string(),
  input: z.looseObject({ account_id: z.string(), operation_id: z.string(), error: CaughtError.optional() }),
});
type TaskEvent = z.infer<typeof TaskEvent>;

export const tasks = <W extends Workflow>(workflow: W, implementations: Implementations<W>) => {
  logAsDebug(NotYet);
  const functionsByTask = new Map<string, Done<Workflow, boolean | Reason | void>>(Object.entries(implementations));
  return async (payload: unknown): Promise<null> => {
    const event = TaskEvent.parse(payload);
    const { account_id, operation_id } = event.input;
    log.setKeys({ workflow: workflow.name, task: event.task, operation: operation_id, account: account_id });
    try {
      const operation = await findOperation(account_id, operation_id);
      return await perform(workflow, functionsByTask, event, operation);
    } catch (error) {
      if (error instanceof NotYet) throw forStateMachine(error);
      const taskError = asTaskError(error);
      if (taskError instanceof TryAgain || taskError instanceof GiveUp) log.warn("task did not succeed", { error: taskError });
      else log.error("task failed", { error: taskError });
      throw forStateMachine(taskError);
    }
  };
};

const operationEnded = (): GiveUp => new GiveUp("CANCELLED", because("operation_ended"));

async function perform(
  workflow: Workflow,
  functionsByTask: ReadonlyMap<string, Done<Workflow, boolean | Reason | void>>,
  event: TaskEvent,
  operation: OperationRecord | undefined,
): Promise<null> {
  switch (event.task) {
    case "begin": {
      // This also writes the position of the first step, which then has nothing to write: a write of an operation is one of its
      // three indexes, too.
      const hasBegun =
        operation && (await beginOperation(operation, toProgress(applicableSteps(workflow, readInput(workflow, event)), 0)));
      if (!hasBegun) throw operationEnded();
      return null;
    }
    case "succeed":
      if (operation === undefined) return null;
      await keepLog(workflow, operation, event);
      await endOperation(operation, { succeeded: true });
      return null;
    case "fail":
      if (operation === undefined) return null;
      await keepLog(workflow, operation, event);
      await end(operation, toOperationError(event.input.error ?? {}));
      // The task that would have used it may not have run. Not before the end: a repeat keeps the log again, and must know what
      // to remove.
      await removeSealed(operation.account_id, operation.id);
      return null;
    default:
      break;
  }
  const run = functionsByTask.get(event.task);
  if (run === undefined) throw new Error(`The workflow ${workflow.name} has no task ${event.task}`);
  const part = workflow.steps.find(({ name }) => name === event.task);
  // What a finished operation created belongs to the user by now.
  if (operation === undefined || !isOpen(operation.state)) {
    if (part !== undefined) throw operationEnded();
    log.warn("skipped the undo: the operation has already ended");
    return null;
  }
  const input = readInput(workflow, event);
  await showCurrentStep(operation, part, applicableSteps(workflow, input));
  if (part?.commits && !(await commitOperation(operation))) throw operationEnded();
  const jobId = part === undefined ? undoJobIdFor(operation, event.task) : jobIdFor(operation, part.name);
  const failure = toOperationError(event.input.error ?? {}).code;
  const work = { ...buildWork(operation, input, jobId, workflow), failure };
  const outcome = await run(work).catch((error: unknown) =>
    part === undefined ? retryUndo(error, operation) : giveUpIfOffline(error, part, work.server),
  );
  if (part === undefined && outcome === false) throw new TryAgain("TIMEOUT", because("undo_timed_out"));
  if (part?.kind === "poll" && outcome !== true) throw new NotYet("TIMEOUT", timedOut(part.label, outcome));
  return null;
}

const timedOut = (step: string, outcome: boolean | Reason | void): Reason =>
  typeof outcome === "object" ? because("step_timed_out_because", { step, why: outcome }) : because("step_timed_out", { step });

/**
 * What the operation's jobs have logged on its machine, where it is soon removed. It is no reason to hold up the end: a machine
 * that does not respond keeps it.
 */
async function keepLog(workflow: Workflow, operation: OperationRecord, event: TaskEvent): Promise<void> {
  const { id, account_id, type, state } = operation;
  const { keys = [] } = workflow.access;
  if (!isOpen(state) || !keys.includes("hosts") || type === "server.delete") return;
  try {
    const input = readInput(workflow, event);
    const server = await buildWork(operation, input, id, workflow).server();
    if (server.ip_address === null) return;
    // Workflows that cannot decrypt secrets run no code that is given any.
    const { instance_id, backup_id, deploy_id } = keys.includes("sealing") ? InputIds.parse(input) : {};
    const secrets = await secretsInLogs({ account_id, operation_id: id, instance_id, backup_id, deploy_id });
    const text = readableWork(await readWorkLog(server, id), secrets);
    if (text !== "") await storeWorkLog(operation, text);
  } catch (error) {
    log.info("could not keep the log of an operation", { error: error instanceof Error ? error : undefined });
  }
}

/** Ends an operation after a step that failed, and the undos. */
async function end(operation: OperationRecord, error: OperationError): Promise<void> {
  // The execution ends like that of any failure which is not ours.
  if (error.code === "INTERNAL_ERROR") publish("InternalError", 1);
  if (operation.committed) {
    log.error("only the cleanup failed", { cause: error });
    return endOperation(operation, { succeeded: true });
  }
  if (error.code === "BACKUP_CORRUPT" && operation.uses_backup_id !== null)
    await markCorrupt(operation.account_id, operation.uses_backup_id, error);
  return endOperation(operation, { succeeded: false, error });
}

/** An undo that fails now may succeed later, with a new job: whatever a machine lacks may be temporary. */
async function retryUndo(error: unknown, operation: OperationRecord): Promise<never> {
  if (!(error instanceof GiveUp)) throw error;
  await countFailedUndo(operation);
  throw againAfter(error);
}

/**
 * A machine that restarts continues its jobs when it is back: a poll waits for it, until the poll times out or the health check
 * reports the server offline.
 */
async function giveUpIfOffline(error: unknown, part: Step | Poll, server: () => Promise<ServerRecord>): Promise<never> {
  const away = error instanceof TryAgain && error.code === "HOST_UNREACHABLE";
  if (away && part.kind === "poll" && !USABLE.includes((await server()).state)) throw giveUpAfter(error);
  throw error;
}

/** A step that has just started shows a little progress, to distinguish it from one that waits. */
const PERCENT_MIN = 5;

const toProgress = (steps: readonly (Step | Poll)[], index: number): ShownProgress => ({
  step: steps[index]?.label ?? null,
  step_code: steps[index]?.name ?? null,
  progress: Math.max(PERCENT_MIN, Math.round((100 * index) / steps.length)),
});

/** The step that was in progress when the undo began. */
const failedAt = ({ step_code }: OperationRecord) => (step_code === null ? {} : { failed_step: step_code });

const UNDOING = { step: "Undoing the changes", step_code: "undo" };

async function showCurrentStep(
  operation: OperationRecord,
  part: Step | Poll | undefined,
  steps: readonly (Step | Poll)[],
): Promise<void> {
  if (part === undefined) {
    if (!operation.undoing)
      await showProgress(operation, { ...UNDOING, progress: operation.progress, undoing: true, ...failedAt(operation) });
    return;
  }
  const progress = toProgress(steps, steps.indexOf(part));
  const isShown = operation.step === progress.step && operation.progress >= progress.progress; // the second and later calls of a poll
  if (!isShown) await showProgress(operation, progress);
}

const readInput = (workflow: Workflow, event: TaskEvent): Record<string, unknown> =>
  z.looseObject({}).parse(workflow.input.parse(event.input));

/** The steps that run with this input. */
const applicableSteps = ({ steps }: Workflow, input: Record<string, unknown>): readonly (Step | Poll)[] =>
  steps.filter(({ when }) => when === undefined || input[when] === true);

export const jobIdFor = (operation: { id: string }, task: string): string => `${operation.id}-${task}`;

const undoJobIdFor = (operation: OperationRecord, undo: string): string =>
  `${jobIdFor(operation, undo)}-try${(operation.failed_undos ?? 0) + 1}`;

const InputIds = z.looseObject({
  server_id: z.string().optional(),
  instance_id: z.string().optional(),
  backup_id: z.string().optional(),
  deploy_id: z.string().optional(),
});

function buildWork(
  operation: OperationRecord,
  input: Record<string, unknown>,
  jobId: string,
  { steps }: Workflow,
): Omit<Work<unknown>, "failure"> & { server: () => Promise<ServerRecord> } {
  const { account_id: accountId } = operation;
  const ids = InputIds.parse(input);
  const instance = loadOnce(() => getInstance(accountId, ids.instance_id ?? ""));
  const records = {
    instance,
    server: loadOnce(async () => getServer(accountId, ids.server_id ?? (await instance()).server_id)),
    backup: loadOnce(() => getBackup(accountId, ids.backup_id ?? "")),
  };
  const stepJobs = steps.map(({ name }) => jobIdFor(operation, name));
  return { operation, input, jobId, stepJobs, triedEnough: (operation.failed_undos ?? 0) + 1 >= UNDO_TRIES_ENOUGH, ...records };
}

function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => (loaded ??= load());
}
