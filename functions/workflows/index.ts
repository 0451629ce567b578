// Every workflow's table, by name: infra builds the state machines from them.
import type { WorkflowName } from "../../shared/domain/lifecycle.ts";
import type { Workflow } from "../../shared/domain/workflow.ts";
import checkCodeInstance from "./check-code-instance/workflow.ts";
import cloneInstance from "./clone-instance/workflow.ts";
import createBackup from "./create-backup/workflow.ts";
import createInstance from "./create-instance/workflow.ts";
import createServer from "./create-server/workflow.ts";
import deleteBackup from "./delete-backup/workflow.ts";
import deleteInstance from "./delete-instance/workflow.ts";
import deleteServer from "./delete-server/workflow.ts";
import deployInstance from "./deploy-instance/workflow.ts";
import drillBackup from "./drill-backup/workflow.ts";
import importBackup from "./import-backup/workflow.ts";
import rebootServer from "./reboot-server/workflow.ts";
import restartInstance from "./restart-instance/workflow.ts";
import restoreBackup from "./restore-backup/workflow.ts";
import runBulk from "./run-bulk/workflow.ts";
import startInstance from "./start-instance/workflow.ts";
import stopInstance from "./stop-instance/workflow.ts";
import updateInstance from "./update-instance/workflow.ts";
import updateServer from "./update-server/workflow.ts";

export const workflows: Readonly<Record<WorkflowName, Workflow>> = {
  "check-code-instance": checkCodeInstance,
  "clone-instance": cloneInstance,
  "create-backup": createBackup,
  "create-instance": createInstance,
  "create-server": createServer,
  "delete-backup": deleteBackup,
  "delete-instance": deleteInstance,
  "delete-server": deleteServer,
  "deploy-instance": deployInstance,
  "drill-backup": drillBackup,
  "import-backup": importBackup,
  "reboot-server": rebootServer,
  "restart-instance": restartInstance,
  "restore-backup": restoreBackup,
  "start-instance": startInstance,
  "stop-instance": stopInstance,
  "update-instance": updateInstance,
  "update-server": updateServer,
  // This one comes after the workflows that it starts.
  "run-bulk": runBulk,
};
