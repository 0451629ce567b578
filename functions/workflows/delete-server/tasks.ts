// What the step of delete-server does.
import { providerOf } from "../../../shared/providers/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  releaseMachine: async (work) => {
    const server = await work.server();
    const { gone } = await providerOf(server).releaseMachine({ server_id: server.id, machine_id: server.machine_id });
    return gone;
  },
});
