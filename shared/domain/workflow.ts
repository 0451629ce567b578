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
  /** Once it has begun, the operation's effect stays: a later failure ends it as a success. */
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
  /** The wait before the second ask; each later wait is a quarter longer. It is more where a second is never enough. */
  firstWaitSeconds: number;
  /** It waits for other operations, so that the sandbox's shorter limit does not apply. */
  unlimited?: true;
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

export const poll = <
  const N extends string,
  const O extends Omit<Poll, "kind" | "name" | "label" | "firstWaitSeconds"> & Partial<Poll>,
>(
  name: N,
  label: string,
  options: O,
) => ({
  kind: "poll" as const,
  name,
  label,
  firstWaitSeconds: 1,
  ...options,
});

/** A workflow has its name from its operation. */
export const workflow = <I extends z.ZodType, const S extends readonly (Step | Poll)[]>(
  table: Omit<Workflow<I, S>, "name">,
): Workflow<I, S> => ({ ...table, name: workflowOf(table.operation) });

/** Names of the tasks that a workflow's own file must bring: its steps and polls, and their undos. */
export type StepName<W> = W extends Workflow<z.ZodType, infer S> ? S[number]["name"] : never;
export type PollName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { kind: "poll" }>["name"] : never;
export type UndoName<W> = W extends Workflow<z.ZodType, infer S> ? Extract<S[number], { undo: string }>["undo"] : never;
export type InputOf<W> = W extends Workflow<infer I> ? z.output<I> : never;

/** How many times longer each wait is: nothing is noticed much later than a quarter of the time that it took. */
export const WAIT_GROWTH = 1.25;
export const WAIT_SECONDS_MAX = 60;

/** A poll's waits, together as long as it may take: 135 in two hours. */
export function listWaits({ upToMinutes, firstWaitSeconds }: Pick<Poll, "upToMinutes" | "firstWaitSeconds">): number[] {
  const waits: number[] = [];
  for (let waitedSeconds = 0; waitedSeconds < upToMinutes * 60; waitedSeconds += waits.at(-1) ?? 0)
    waits.push(Math.min(WAIT_SECONDS_MAX, firstWaitSeconds * WAIT_GROWTH ** waits.length));
  return waits;
}

/** The name of the second execution that only undoes what the first left. */
export const rescueName = (operationId: string): string => `${operationId}-undo`;

/** The environment variable that holds a workflow's state machine ARN: `CREATE_SERVER_ARN`. */
export const machineVariable = (name: WorkflowName): string => `${name.toUpperCase().replaceAll("-", "_")}_ARN`;
