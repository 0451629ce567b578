// Drilling a backup: its archive is restored into a throwaway database and file tree, checked, and removed again. What the checks
// find is the result of a drill that succeeds; the drill itself fails only if it could not be held.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.drill",
  access: { keys: ["hosts", "sealing"], configuration: true, storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    backup_id: fields.id("backup"),
    server_id: fields.id("server"),
  }),
  steps: [
    poll("verifyArchive", "Verifying the backup", { upToMinutes: JOB_MINUTES.verify_archive }),
    poll("drillArchive", "Restoring to a throwaway database and checking it", {
      undo: "removeDrill",
      upToMinutes: JOB_MINUTES.drill_archive,
    }),
    step("recordDrill", "Recording the result"),
  ],
});
