// Deleting a backup and its archive.
import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.delete",
  access: { storage: "write" },
  input: z.object({ account_id: id("account"), operation_id: id("operation"), backup_id: id("backup") }),
  steps: [step("deleteArchive", "Deleting the archive")],
});
