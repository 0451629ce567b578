// What the steps of restarting an instance do.
import { isServing, run } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  restartErp: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "restart_erp", instance_id: input.instance_id })).ready,

  awaitHealthy: async ({ operation, instance, server, jobId }) =>
    isServing(await server(), { operation, instance: await instance(), jobId }),
});
