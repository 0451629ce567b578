// What the step of deleting an instance does.
import { addResult } from "../../../shared/records/operations.ts";
import { USABLE } from "../../../shared/domain/lifecycle.ts";
import { run } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  removeErp: async ({ operation, input, server, jobId }) => {
    const record = await server();
    if (!USABLE.includes(record.state)) {
      await addResult(operation, { host_skipped: true });
      return true;
    }
    return (await run(record, { id: jobId, kind: "remove_erp", instance_id: input.instance_id })).ready;
  },
});
