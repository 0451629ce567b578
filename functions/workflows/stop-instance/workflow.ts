// Stops a running instance; if it does not stop, it keeps running.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.stop",
  access: { keys: ["hosts", "sealing"] },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), instance_id: fields.id("instance") }),
  steps: [poll("stopErp", "Stopping the ERP", { undo: "startAgain", upToMinutes: JOB_MINUTES.stop_erp })],
});
