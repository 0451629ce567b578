// Long work as a table: steps, each with its undo. The state machine, the task functions and the tests are built from it.
import type * as z from "zod";
import type { WorkflowName } from "./api/endpoint.ts";
import type { OperationType } from "./api/operations.ts";

interface Common {
  name: string;
  /** What a person reads on the operation meanwhile. */
  says: string;
  /** The task that takes back what this one did, or part of it, or nothing: it must accept each. */
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

/** Something begun (once, however often it is asked for) and asked for again until it is ready. */
export interface Poll extends Common {
  kind: "poll";
  upToMinutes: number;
}

export interface Workflow<I extends z.ZodType = z.ZodType, S extends readonly (Step | Poll)[] = readonly (Step | Poll)[]> {
  name: WorkflowName;
  /** The kind of operation that the workflow carries out; `lifecycle.ts` says what its end means for the resource. */
  operation: OperationType;
  /** Ids and flags only: Step Functions keeps inputs for 90 days, so nothing secret belongs here. */
  input: I;
  steps: S;
}

export const step = <const N extends string, const O extends Omit<Partial<Step>, "kind" | "name" | "says">>(
  name: N,
  says: string,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without options there are none
  options: O = {} as O,
) => ({ kind: "step" as const, name, says, minutes: 5, ...options });

export const poll = <const N extends string, const O extends Omit<Poll, "kind" | "name" | "says">>(
  name: N,
  says: string,
  options: O,
) => ({
  kind: "poll" as const,
  name,
  says,
  ...options,
});

export const workflow = <I extends z.ZodType, const S extends readonly (Step | Poll)[]>(table: Workflow<I, S>): Workflow<I, S> =>
  table;

/** The tasks that every workflow has before and after its own; `runtime/tasks.ts` does them from the lifecycle table. */
export const COMMON_TASKS = ["begin", "succeed", "fail"] as const;

/** Names of the tasks that a workflow's own file must bring: its steps and polls, and their undos. */
export type StepName<W> = W extends Workflow<z.ZodType, infer S> ? S[number]["name"] : never;
export type PollName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { kind: "poll" }>["name"] : never;
export type UndoName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { undo: string }>["undo"] : never;
export type InputOf<W> = W extends Workflow<infer I> ? z.output<I> : never;

const WAIT_SECONDS_MIN = 1;
const WAIT_SECONDS_MAX = 30;

/** The waits between a poll's asks: a second at first, as most work is short, then a tenth of the time that has passed. */
export function waitsWithin(minutes: number): number[] {
  const waits: number[] = [];
  for (let passed = 0; passed < minutes * 60; passed += waits.at(-1) ?? 0)
    waits.push(Math.min(WAIT_SECONDS_MAX, Math.max(WAIT_SECONDS_MIN, Math.floor(passed / 10))));
  return waits;
}

/** How often a poll asks before it gives up: 62 times in 10 minutes, 282 times in two hours. */
export const attempts = ({ upToMinutes }: Pick<Poll, "upToMinutes">): number => waitsWithin(upToMinutes).length + 1;

/** The name of the second execution that only undoes what the first left. */
export const rescueName = (operationId: string): string => `${operationId}-undo`;

/** The environment variable that holds a workflow's state machine ARN: `CREATE_SERVER_ARN`. */
export const machineVariable = (name: WorkflowName): string => `${name.toUpperCase().replaceAll("-", "_")}_ARN`;
