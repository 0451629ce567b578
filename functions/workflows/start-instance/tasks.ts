// What each step of start-instance does.
import { isHealthy, runJob } from "../../../shared/hosts/jobs.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  startErp: async (work) => (await runJob(work, { kind: "start", instance_id: work.input.instance_id })) !== undefined,
  awaitHealthy: isHealthy,
});
