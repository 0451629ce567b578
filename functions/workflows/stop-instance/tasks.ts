// What the step of stop-instance does, and how it is undone.
import { failInto } from "../../../shared/data/operations.ts";
import { runJob } from "../../../shared/hosts/jobs.ts";
import { GiveUp } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  stopErp: async (work) => (await runJob(work, { kind: "stop", instance_id: work.input.instance_id })) !== undefined,

  /** What would not stop shall run; if it does not run either, it has failed. */
  startAgain: async (work) => {
    try {
      return (await runJob(work, { kind: "start", instance_id: work.input.instance_id })) !== undefined;
    } catch (error) {
      if (!(error instanceof GiveUp)) throw error;
      await failInto(work.operation, "failed");
      return true;
    }
  },
});
