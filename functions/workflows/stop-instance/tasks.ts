// What the step of stopping an instance does.
import { abandonedState } from "../../../shared/domain/lifecycle.ts";
import { setFailedState } from "../../../shared/records/operations.ts";
import { run, runUndo } from "../../../shared/hosts/index.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  stopErp: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "stop_erp", instance_id: input.instance_id })).ready,

  startAgain: async ({ operation, input, server, jobId, stepJobs, triedEnough }) => {
    const job = { id: jobId, kind: "start_erp", instance_id: input.instance_id, ends: stepJobs } as const;
    try {
      const progress = await runUndo(await server(), job);
      if (progress !== "down") return progress.ready;
    } catch (error) {
      if (!(error instanceof GiveUp && triedEnough)) throw error;
    }
    // It neither stopped nor runs: users who check the instance should see that.
    await setFailedState(operation, abandonedState(operation.type));
    return true;
  },
});
