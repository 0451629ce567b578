// The outcome of a workflow's execution.
import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient } from "@aws-sdk/client-sfn";
import type { WorkflowName } from "../domain/lifecycle.ts";
import { machineVariable } from "../domain/workflow.ts";
import { CALLS } from "../platform/aws-calls.ts";
import { variable } from "../platform/env.ts";
import { ABORTED, type CaughtError } from "../platform/task-errors.ts";

let client: SFNClient | undefined;

interface Execution {
  running: boolean;
  /** Why it ended, as far as it says. */
  error: Required<CaughtError>;
}

/** Undefined if none has that name. */
export async function findExecution(workflow: WorkflowName, name: string): Promise<Execution | undefined> {
  client ??= new SFNClient(CALLS);
  const machine = variable(machineVariable(workflow));
  const executionArn = `${machine.replace(":stateMachine:", ":execution:")}:${name}`;
  try {
    const { status = "FAILED", error, cause } = await client.send(new DescribeExecutionCommand({ executionArn }));
    return { running: status === "RUNNING" || status === "PENDING_REDRIVE", error: readError({ status, error, cause }) };
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

/** The end of an execution as an error that a state could have caught. */
export function readError(end: {
  status: string;
  error?: string | null | undefined;
  cause?: string | null | undefined;
}): Required<CaughtError> {
  const names: Record<string, string> = { TIMED_OUT: "States.Timeout", ABORTED };
  return { Error: names[end.status] ?? end.error ?? "Unknown", Cause: end.cause ?? "" };
}
