// Importing an uploaded archive: its parts become the archive, a server examines it, and only then it is called a completed
// backup.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.import",
  access: { keys: ["hosts"], configuration: true, storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    backup_id: fields.id("backup"),
    server_id: fields.id("server"),
    /** The storage's ID of the multipart upload. */
    store_id: z.string(),
    size_bytes: z.number(),
    sha256: z.string(),
  }),
  steps: [
    step("joinParts", "Joining the uploaded parts", { undo: "deleteArchive" }),
    poll("examineArchive", "Restoring to a throwaway database to examine the archive", {
      undo: "removeExamined",
      upToMinutes: JOB_MINUTES.import_archive,
    }),
    step("recordImport", "Recording what is in the archive"),
  ],
});
