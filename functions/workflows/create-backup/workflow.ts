// Backing up: dump the database, then the files, upload the archive, and call it completed only once it has been checked.
import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.create",
  access: { keys: ["hosts"], storage: "write" },
  input: z.object({
    account_id: id("account"),
    operation_id: id("operation"),
    instance_id: id("instance"),
    backup_id: id("backup"),
  }),
  steps: [
    poll("makeArchive", "Archiving the database and files", { undo: "deleteArchive", upToMinutes: JOB_MINUTES.make_archive }),
    step("recordArchive", "Verifying the stored archive"),
  ],
});
