// What the steps of deleting a server do.
import { retire } from "../../../shared/hosts/retire.ts";
import { release } from "../../../shared/providers/rented.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  retireHost: async ({ operation, server, jobId }) => retire(await server(), { id: jobId, since: operation.started_at }),

  releaseMachine: async ({ server }) => release(await server()),
});
