// One run of one execution: its tasks by functions, its waits by timers, its end with Step Functions' status.
import { setTimeout as sleep } from "node:timers/promises";
import { ExecutionAbortedError, ExecutionTimeoutError } from "aws-local-stepfunctions";
import * as z from "zod";
import { FunctionError } from "../lambda/function-error.ts";
import type { StateMachine } from "../template/machines.ts";
import type { Execution, Outcome } from "./records.ts";
import type { Runnable } from "./runnable.ts";

const Json = z.json();
const Wait = z.object({ seconds: z.number().nonnegative() });

export const DATA_LIMIT_BYTES = 262_144;

/** One try of one task, for a test's interceptor. `attempt` counts the tries since the task last succeeded in this execution. */
export interface TaskCall {
  machine: string;
  execution: string;
  task: string;
  payload: unknown;
  attempt: number;
}

export type RunnableMachine = StateMachine & Runnable;

export interface Runtime {
  /** Runs a task, through a test's interceptors. */
  run: (call: TaskCall, work: (call: TaskCall) => Promise<unknown>) => Promise<unknown>;
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** Multiplies waits. */
  timeScale: number;
}

/** `abort` abandons what runs, with another outcome in place of its own. */
export function runExecution(
  record: Execution,
  machine: RunnableMachine,
  runtime: Runtime,
): { outcome: Promise<Outcome>; abort: (outcome: Outcome) => void } {
  const controller = new AbortController();
  const { result, abort } = machine.interpreter.run(JSON.parse(record.input), {
    overrides: { taskResourceLocalHandlers: createHandlers(record, machine, runtime, controller.signal) },
    context: {
      Execution: { Id: record.executionArn, Name: record.name, RoleArn: machine.role },
      StateMachine: { Id: machine.arn, Name: machine.name },
    },
  });
  let abortedWith: Outcome | undefined;
  const outcome = result
    .then((output): Outcome => ({ status: "SUCCEEDED", output: JSON.stringify(output) }), toFailure)
    .then((ownOutcome) => {
      controller.abort();
      return abortedWith ?? ownOutcome;
    });
  return {
    outcome,
    abort: (cause) => {
      abortedWith ??= cause;
      abort();
    },
  };
}

function createHandlers(record: Execution, machine: RunnableMachine, { run, invoke, timeScale }: Runtime, signal: AbortSignal) {
  const tries = new Map<string, number>();
  const task = async (name: string, functionArn: string, payload: unknown) => {
    // The interpreter may still retry a task of an abandoned execution.
    signal.throwIfAborted();
    const attempt = (tries.get(name) ?? 0) + 1;
    tries.set(name, attempt);
    const call = { machine: machine.name, execution: record.name, task: name, payload, attempt };
    const result = await run(call, (changed) => invoke(functionArn, changed.payload)).catch((error: unknown) => {
      throw taskError(error);
    });
    tries.delete(name);
    const text = JSON.stringify(result) ?? "null";
    if (Buffer.byteLength(text) > DATA_LIMIT_BYTES) throw tooLarge(name);
    return Json.parse(JSON.parse(text));
  };
  const wait = async (payload: unknown) => {
    const parsed = Wait.parse(payload);
    await sleep(parsed.seconds * 1000 * timeScale, undefined, { signal });
    return null;
  };
  return Object.fromEntries([
    ...Object.entries(machine.tasks).map(([name, arn]) => [name, (payload: unknown) => task(name, arn, payload)] as const),
    ...machine.waits.map((name) => [name, wait] as const),
  ]);
}

/** An error that the interpreter matches by name; its message becomes the Cause, which on AWS is the function's error as JSON. */
function taskError(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const trace = error instanceof FunctionError ? { trace: error.trace } : {};
  return new FunctionError(name, JSON.stringify({ errorType: name, errorMessage: message, ...trace }));
}

/** States.DataLimitExceeded passes every Retry and Catch, even States.ALL; the interpreter reads that from the error. */
const tooLarge = (task: string): Error =>
  Object.assign(new FunctionError("States.DataLimitExceeded", `The result of ${task} is over ${DATA_LIMIT_BYTES} bytes`), {
    isRetryable: false,
    isCatchable: false,
  });

function toFailure(error: unknown): Outcome {
  if (error instanceof ExecutionTimeoutError) return { status: "TIMED_OUT" };
  if (error instanceof ExecutionAbortedError) return { status: "ABORTED" };
  const first = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(first instanceof Error)) return { status: "FAILED", cause: String(first) };
  // The interpreter's name for the error of a Fail state without one.
  return first.name === "FailStateError" ? { status: "FAILED" } : { status: "FAILED", error: first.name, cause: first.message };
}
