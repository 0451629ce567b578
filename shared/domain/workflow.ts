// A workflow as a table: steps, each with its undo. The state machine, the task functions and the tests are built from it.
import type * as z from "zod";
import type { TaskAccess } from "./grants.ts";
import { type OperationType, workflowOf, type WorkflowName } from "./lifecycle.ts";

interface Common {
  name: string;
  /** The operation's `step` in the meantime, for people to read. */
  label: string;
  /** The task that undoes this one, which may have done everything, a part or nothing: it must accept each. */
  undo?: string;
  /** Name of the input's flag without which the step is left out. */
  when?: string;
  /** Once it has begun, what the work was for stays: a failure from then on ends the operation as a success. */
  commits?: true;
}

/** Something done in one go, within `minutes`. */
export interface Step extends Common {
  kind: "step";
  minutes: number;
}

/** Work that starts once, however often it is called, and is polled until it is ready. */
export interface Poll extends Common {
  kind: "poll";
  upToMinutes: number;
}

export interface Workflow<I extends z.ZodType = z.ZodType, S extends readonly (Step | Poll)[] = readonly (Step | Poll)[]> {
  name: WorkflowName;
  /** The type of operation that the workflow carries out; `lifecycle.ts` says what its end means for the resource. */
  operation: OperationType;
  /** Ids and flags only: Step Functions keeps inputs for 90 days, so nothing secret belongs here. */
  input: I;
  /** What its tasks touch beyond the table. */
  access: TaskAccess;
  steps: S;
}

export const step = <const N extends string, const O extends Omit<Partial<Step>, "kind" | "name" | "label">>(
  name: N,
  label: string,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without options there are none
  options: O = {} as O,
) => ({ kind: "step" as const, name, label, minutes: 5, ...options });

export const poll = <const N extends string, const O extends Omit<Poll, "kind" | "name" | "label">>(
  name: N,
  label: string,
  options: O,
) => ({
  kind: "poll" as const,
  name,
  label,
  ...options,
});

/** A workflow has its name from its operation. */
export const workflow = <I extends z.ZodType, const S extends readonly (Step | Poll)[]>(
  table: Omit<Workflow<I, S>, "name">,
): Workflow<I, S> => ({ ...table, name: workflowOf(table.operation) });

/** The tasks that every workflow has before and after its own; `runtime/tasks.ts` does them from the lifecycle table. */
export const COMMON_TASKS = ["begin", "succeed", "fail"] as const;

/** Names of the tasks that a workflow's own file must bring: its steps and polls, and their undos. */
export type StepName<W> = W extends Workflow<z.ZodType, infer S> ? S[number]["name"] : never;
export type PollName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { kind: "poll" }>["name"] : never;
export type UndoName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { undo: string }>["undo"] : never;
export type InputOf<W> = W extends Workflow<infer I> ? z.output<I> : never;

/** Until then a second or two is noticed, and after that it is not. */
const SHORT_WORK_SECONDS = 30;
const SHORT_WAIT_SECONDS_MAX = 2;
const WAIT_SECONDS_MAX = 60;

function waitAfter(passedSeconds: number): number {
  if (passedSeconds < SHORT_WORK_SECONDS) return Math.min(SHORT_WAIT_SECONDS_MAX, Math.max(1, Math.floor(passedSeconds / 5)));
  return Math.min(WAIT_SECONDS_MAX, Math.floor(passedSeconds / 4));
}

/** The waits between a poll's asks, together as long as it may take: a second at first, as most work is short, then a quarter of the time passed. */
export function waitsWithin(minutes: number): number[] {
  const waits: number[] = [];
  for (let left = minutes * 60; left > 0; left -= waits.at(-1) ?? left)
    waits.push(Math.min(left, waitAfter(minutes * 60 - left)));
  return waits;
}

/** How often a poll asks before it gives up, at its end or earlier: 37 times in 10 minutes, 147 times in two hours. */
export function attempts({ upToMinutes }: Pick<Poll, "upToMinutes">, withinMinutes = upToMinutes): number {
  let passed = 0;
  return 1 + waitsWithin(upToMinutes).filter((wait) => (passed += wait) <= withinMinutes * 60).length;
}

/** The name of the second execution that only undoes what the first left. */
export const rescueName = (operationId: string): string => `${operationId}-undo`;

/** The environment variable that holds a workflow's state machine ARN: `CREATE_SERVER_ARN`. */
export const machineVariable = (name: WorkflowName): string => `${name.toUpperCase().replaceAll("-", "_")}_ARN`;
