// Drives the tasks of a workflow as its state machine does (infra/workflow.ts), in this process and with a clock that stands
// still by itself, so that tests can kill a task between any two of its effects.
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { type DeadExecution, rescue } from "../../shared/runtime/rescue.ts";
import { findOperation } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { CaughtError } from "../../shared/platform/task-errors.ts";
import { type Poll, rescueName, listWaits, type Workflow } from "../../shared/domain/workflow.ts";

type Handler = (payload: unknown) => Promise<null>;

export const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);

interface Invocation {
  effects: number;
  killedAt: number;
  dead: boolean;
  /** How many pauses the next request or response of a concurrent run takes; it does not advance the pauses itself. */
  slow?: () => number;
}
const invocations = new AsyncLocalStorage<Invocation>();

class Killed extends Error {
  override name = "Runtime.ExitError";
}

/** Another moment at which a function can be killed; a killed function has no effect any more, whatever its code does. */
function moment(): void {
  const invocation = invocations.getStore();
  if (invocation === undefined) return;
  invocation.effects += 1;
  if (invocation.effects === invocation.killedAt) invocation.dead = true;
  if (invocation.dead) throw new Killed("The function was killed");
}

/** Concurrent runs, as after a lost response of Lambda: each either works or waits at a gate. */
const aside = new AsyncLocalStorage<{ waits: boolean }>();
const beside = new Set<{ waits: boolean }>();
const gates = new Set<{ pauses: number; open: () => void }>();
const REQUEST_SECONDS = 30;

async function gate(since: number): Promise<void> {
  const pauses = invocations.getStore()?.slow?.() ?? 0;
  const run = aside.getStore();
  if (pauses === 0 || run === undefined) return;
  run.waits = true;
  await new Promise<void>((go) => {
    const open = (): void => {
      run.waits = false;
      go();
    };
    gates.add({ pauses, open });
  });
  if (Date.now() - since > REQUEST_SECONDS * 1000) throw new DOMException("It was given up", "TimeoutError");
}

/** Advances the time once every concurrent run waits or has ended, and resumes those whose wait is over. */
async function elapse(seconds: number): Promise<void> {
  while ([...beside].some(({ waits }) => !waits)) await sleep(1);
  pass(seconds);
  for (const each of gates) {
    each.pauses -= 1;
    if (each.pauses > 0) continue;
    gates.delete(each);
    each.open();
  }
}

function besides(run: () => Promise<unknown>): void {
  const mark = { waits: false };
  beside.add(mark);
  void aside
    .run(mark, run)
    .catch(() => undefined)
    .finally(() => beside.delete(mark));
}

/** Every request to a provider adds a moment before and one after it. */
export function fetchMortally(): void {
  const really = globalThis.fetch;
  vi.stubGlobal("fetch", async (...request: Parameters<typeof fetch>) => {
    const since = Date.now();
    moment();
    await gate(since);
    const response = await really(...request);
    await gate(since);
    moment();
    return response;
  });
}

/** Returns at which of its moments a function is killed; Infinity for never. It is called for each try of a task. */
export type Fatality = (task: string) => number;

async function invoke(
  handler: Handler,
  payload: { task: string; input: unknown },
  fatality: Fatality,
  slow?: () => number,
): ReturnType<Handler> {
  const invocation: Invocation = { effects: 0, killedAt: fatality(payload.task), dead: false, ...(slow && { slow }) };
  return invocations.run(invocation, async () => {
    try {
      const result = await handler(payload);
      moment(); // done, but the response is lost
      return result;
    } catch (error) {
      throw invocation.dead ? new Killed("The function was killed") : error;
    }
  });
}

/** The waits before the retries of a task, for each group of errors. */
type Retriers = readonly { errors: readonly string[]; waits: readonly number[] }[];
const doubling = (times: number): number[] => Array.from({ length: times }, (_, index) => Math.min(2 ** (index + 1), 30));
const RUN_AGAIN = { errors: ["Runtime.ExitError"], waits: doubling(2) };
const RETRIES: Retriers = [{ errors: ["TryAgain"], waits: doubling(6) }, RUN_AGAIN];
const UNDO_RETRIES: Retriers = [{ errors: ["TryAgain"], waits: doubling(60) }, RUN_AGAIN];
const pollRetries = (poll: Poll): Retriers => [{ errors: ["NotYet", "TryAgain"], waits: listWaits(poll) }, RUN_AGAIN];

export interface Running {
  handler: Handler;
  input: Record<string, unknown>;
  fatality: Fatality;
  random: () => number;
  /**
   * Whether a try of the task runs twice concurrently: undefined if not, else how many pauses each request of the second run
   * takes.
   */
  twin?: ((task: string) => (() => number) | undefined) | undefined;
}

async function task(running: Running, name: string, retriers = RETRIES, error?: Required<CaughtError>): Promise<void> {
  const tries = new Map<unknown, number>();
  const payload = { task: name, input: { ...running.input, ...(error && { error }) } };
  for (;;) {
    try {
      const slow = running.twin?.(name);
      if (slow !== undefined) besides(() => invoke(running.handler, payload, running.fatality, slow));
      await invoke(running.handler, payload, running.fatality);
      return;
    } catch (failure) {
      const retrier = retriers.find(({ errors }) => errors.includes(nameOf(failure)));
      const tried = tries.get(retrier) ?? 0;
      const wait = retrier?.waits[tried];
      if (wait === undefined) throw failure;
      tries.set(retrier, tried + 1);
      await elapse(nameOf(failure) === "NotYet" ? wait : wait * running.random());
    }
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "Unknown");

const caught = (error: unknown): Required<CaughtError> => ({
  Error: nameOf(error),
  Cause: JSON.stringify({ errorType: nameOf(error), errorMessage: error instanceof Error ? error.message : String(error) }),
});

/** Runs a workflow to its end, with the second execution if the first dies; throws what even that leaves unfinished. */
export async function execute(
  workflow: Workflow,
  operation: OperationRecord,
  running: Omit<Running, "input">,
): Promise<OperationRecord> {
  const execution = { ...running, input: operation.input };
  try {
    await steps(workflow, execution);
  } catch (death) {
    try {
      await undo(workflow, workflow.steps.length - 1, caught(death), execution);
    } catch (error) {
      const last: DeadExecution = { name: rescueName(operation.id), error: caught(error) };
      const present = await findOperation(operation.account_id, operation.id);
      if (present !== undefined) await rescue(present, last);
    }
  }
  while (beside.size > 0) await elapse(REQUEST_SECONDS / 3);
  const ended = await findOperation(operation.account_id, operation.id);
  if (ended === undefined) throw new Error("The operation is gone");
  return ended;
}

async function steps(workflow: Workflow, running: Running): Promise<void> {
  await task(running, "begin");
  for (const [index, step] of workflow.steps.entries()) {
    if (step.kind !== "poll") throw new Error("Only polls are driven here");
    try {
      await task(running, step.name, pollRetries(step));
    } catch (error) {
      return undo(workflow, index, caught(error), running);
    }
  }
  await task(running, "succeed");
}

async function undo(workflow: Workflow, from: number, error: Required<CaughtError>, running: Running): Promise<void> {
  for (const { undo: name } of workflow.steps.slice(0, from + 1).toReversed())
    if (name !== undefined) await task(running, name, UNDO_RETRIES, error);
  await task(running, "fail", RETRIES, error);
}
