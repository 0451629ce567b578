// Starts a workflow's execution. Its name is the operation's ID, so that starting it twice has no further effect.
import { ExecutionAlreadyExists, SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import type { WorkflowName } from "../domain/lifecycle.ts";
import { machineVariable } from "../domain/workflow.ts";
import { CALLS } from "../platform/aws-calls.ts";
import { variable } from "../platform/env.ts";

let client: SFNClient | undefined;

export async function startExecution(workflow: WorkflowName, name: string, input: Record<string, unknown>): Promise<void> {
  client ??= new SFNClient(CALLS);
  try {
    await client.send(
      new StartExecutionCommand({ stateMachineArn: variable(machineVariable(workflow)), name, input: JSON.stringify(input) }),
    );
  } catch (error) {
    if (!(error instanceof ExecutionAlreadyExists)) throw error;
  }
}
