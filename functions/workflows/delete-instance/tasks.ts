// What the step of delete-instance does.
import { addResult } from "../../../shared/data/operations.ts";
import { USABLE } from "../../../shared/domain/lifecycle.ts";
import { isRemoved } from "../../../shared/hosts/jobs.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  removeErp: async (work) => {
    const server = await work.server();
    if (USABLE.includes(server.state)) return isRemoved(work);
    await addResult(work.operation, { host_skipped: true });
    return true;
  },
});
