// Restoring: verify the archive, take a safety backup, put the data beside the old and swap; the old stays until the ERP answers.
import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { poll, workflow } from "../../../shared/workflow.ts";

export default workflow({
  name: "restore-backup",
  operation: "backup.restore",
  input: z.object({
    account_id: id("account"),
    operation_id: id("operation"),
    instance_id: id("instance"),
    backup_id: id("backup"),
    /** Minted with the request, so that a step that runs twice takes one safety backup. */
    safety_backup_id: id("backup"),
    restore_database: z.boolean(),
    restore_filestore: z.boolean(),
    neutralize: z.boolean(),
    backup_first: z.boolean(),
  }),
  steps: [
    poll("verifyArchive", "Verifying the backup", { upToMinutes: 60 }),
    poll("makeSafetyBackup", "Backing up the present data", {
      undo: "closeSafetyBackup",
      when: "backup_first",
      upToMinutes: 120,
    }),
    poll("restoreArchive", "Restoring the backup", { undo: "putBack", upToMinutes: 120 }),
    poll("awaitHealthy", "Waiting for the ERP to answer", { upToMinutes: 10 }),
    // Before the old data goes, so that a failure here can still be undone.
    poll("stopAgain", "Leaving the ERP as it was found", { upToMinutes: 10 }),
    poll("dropOld", "Removing the data that was replaced", { commits: true, upToMinutes: 15 }),
  ],
});
