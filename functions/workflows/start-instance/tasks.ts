// What the steps of starting an instance do.
import { isServing, run } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  startErp: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "start_erp", instance_id: input.instance_id })).ready,

  awaitHealthy: async ({ operation, instance, server, jobId }) =>
    isServing(await server(), { operation, instance: await instance(), jobId }),
});
