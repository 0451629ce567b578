// Starting a stopped instance.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.start",
  access: { keys: ["hosts", "sealing"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), instance_id: fields.id("instance") }),
  steps: [
    poll("startErp", "Starting the ERP", { upToMinutes: JOB_MINUTES.start_erp }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: JOB_MINUTES.check_health }),
  ],
});
