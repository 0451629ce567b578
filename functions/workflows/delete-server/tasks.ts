// What the steps of deleting a server do.
import { undoneOrDown } from "../../../shared/hosts/index.ts";
import { unlessNotNow } from "../../../shared/providers/http.ts";
import { release } from "../../../shared/providers/rented.ts";
import { log } from "../../../shared/runtime/log.ts";
import { GiveUp } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  retireHost: async ({ server, jobId }) => {
    const present = await server();
    if (present.machine_id === null || present.ip_address === null) return true;
    try {
      return await undoneOrDown(present, { id: jobId, kind: "retire_host" });
    } catch (error) {
      if (!(error instanceof GiveUp)) throw error;
      // Nobody shall have to pay for a machine because it could not be cleared; one that stays is cleared by its next server.
      log.warn("a machine is given back as it is", { server: present.id, error });
      return true;
    }
  },

  releaseMachine: async ({ server }) => {
    const present = await server();
    return unlessNotNow(() => release(present));
  },
});
