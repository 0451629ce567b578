// All workflows: for each the state machine of its table, and the function for its tasks. And the function that reads logs.
import { Duration } from "aws-cdk-lib";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { workflows } from "../functions/workflows/index.ts";
import type { Functions } from "./function.ts";
import { stateMachineName, type Settings } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";
import { taskTimeout, WorkflowMachine } from "./workflow.ts";

/** More than anybody waits for a log, so that a machine that is slow ends before its function does. */
const LOG_READER_SECONDS = 10;

interface Props {
  environment: Environment;
  settings: Settings;
  functions: Functions;
  taskLog: LogGroup;
  machineLog: LogGroup;
}

export class Workflows extends Construct {
  constructor(scope: Construct, id: string, { environment, settings, functions, taskLog, machineLog }: Props) {
    super(scope, id);
    functions.logReader = functions.make(this, "read-logs", {
      bundle: "read-logs",
      description: "Reads logs from machines",
      // It may do what the installation of an instance may do, so that both share a role.
      access: { table: "write", ...workflows["create-instance"].access },
      timeout: Duration.seconds(LOG_READER_SECONDS),
      logGroup: taskLog,
    });
    for (const workflow of Object.values(workflows)) {
      const { name } = workflow;
      const group = new Construct(this, name);
      const tasks = functions.make(group, "tasks", {
        bundle: `tasks.${name}`,
        description: `Runs the tasks of the workflow ${name}`,
        access: { table: "write", ...workflow.access },
        timeout: taskTimeout(workflow),
        logGroup: taskLog,
      });
      const polls = settings.polls;
      const { machine } = new WorkflowMachine(group, "states", {
        name: stateMachineName(environment, name),
        workflow,
        tasks,
        logGroup: machineLog,
        polls,
      });
      functions.machines.set(name, machine);
    }
  }
}
