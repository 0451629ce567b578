// Deletes an instance; its backups are kept. If the server is not active, only the record is removed, and the operation says so.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.delete",
  access: { keys: ["hosts", "sealing"] },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), instance_id: fields.id("instance") }),
  steps: [poll("removeErp", "Removing the ERP from the server", { upToMinutes: JOB_MINUTES.remove_erp })],
});
