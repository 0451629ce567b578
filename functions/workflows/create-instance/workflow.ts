// Creates an instance: installs the ERP on the server and waits until it responds.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.create",
  access: { keys: ["hosts", "sealing"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), instance_id: fields.id("instance") }),
  steps: [
    poll("installErp", "Installing the ERP", { undo: "removeErp", upToMinutes: JOB_MINUTES.install_erp }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: JOB_MINUTES.check_health }),
  ],
});
