// What the steps of deleting a server do.
import { retireMachine } from "../../../shared/hosts/retire.ts";
import { release } from "../../../shared/providers/rented.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  retireHost: async ({ operation, server, jobId }) => retireMachine(await server(), { id: jobId, since: operation.started_at }),

  releaseMachine: async ({ server }) => release(await server()),
});
