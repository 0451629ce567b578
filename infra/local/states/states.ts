// Step Functions on this machine: the template's state machines, with executions that outlive this process.
import { join } from "node:path";
import type { Event } from "../events/events.ts";
import { hooks, type Hooks } from "../hooks.ts";
import type { StateMachine } from "../template/machines.ts";
import { handle } from "./actions.ts";
import { openExecutions, type Executions } from "./executions.ts";
import { recordsIn } from "./records.ts";
import type { TaskCall } from "./run-execution.ts";
import { runnable } from "./runnable.ts";

export type { Execution } from "./records.ts";
export type { TaskCall } from "./run-execution.ts";

export interface States extends Pick<Hooks<TaskCall>, "intercept">, Pick<Executions, "resume" | "settled" | "stop"> {
  /** The service's actions, as the bodies of its JSON protocol. Throws AwsFault. */
  handle: (action: string, body: unknown) => Promise<unknown>;
  executions: Executions["all"];
}

export async function startStates(options: {
  machines: StateMachine[];
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  emit: (event: Event) => Promise<void>;
  log: (line: string) => void;
  dataDir?: string | undefined;
  /** Multiplies waits and pauses before retries, not timeouts; 0 means none. */
  timeScale: number;
}): Promise<States> {
  const { invoke, emit, log, timeScale, dataDir } = options;
  const { intercept, run } = hooks<TaskCall>();
  const machines = new Map(options.machines.map((machine) => [machine.arn, { ...machine, ...runnable(machine, timeScale) }]));
  const records = recordsIn(dataDir === undefined ? undefined : join(dataDir, "executions"));
  const executions = await openExecutions({ machines, runtime: { run, invoke, timeScale }, records, emit, log });
  return {
    intercept,
    handle: (action, body) => handle({ machines, executions }, action, body),
    executions: executions.all,
    resume: executions.resume,
    settled: executions.settled,
    stop: executions.stop,
  };
}
