// Deleting an instance; its backups stay. On a server that is not active only the record goes, and the operation says so.
import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  name: "delete-instance",
  operation: "instance.delete",
  input: z.object({ account_id: id("account"), operation_id: id("operation"), instance_id: id("instance") }),
  steps: [poll("removeErp", "Removing the ERP from the server", { upToMinutes: 15 })],
});
