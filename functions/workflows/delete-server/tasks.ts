// What the step of deleting a server does.
import { providerOf } from "../../../shared/providers/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  releaseMachine: async ({ server }) => {
    const { id: server_id, machine_id, ...rest } = await server();
    const { gone } = await providerOf(rest).releaseMachine({ server_id, machine_id });
    return gone;
  },
});
