// Deleting a backup and its archive.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.delete",
  access: { storage: "write" },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), backup_id: fields.id("backup") }),
  steps: [step("deleteArchive", "Deleting the archive")],
});
