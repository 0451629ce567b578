// Backing up: dump the database, then the files, upload the archive, and call it completed only once it has been checked.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.create",
  access: { keys: ["hosts"], storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    backup_id: fields.id("backup"),
  }),
  steps: [
    poll("makeArchive", "Archiving the database and files", { undo: "deleteArchive", upToMinutes: JOB_MINUTES.make_archive }),
    step("recordArchive", "Verifying the stored archive"),
  ],
});
