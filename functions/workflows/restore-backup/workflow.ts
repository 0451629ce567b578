// Restores a backup: looks at the archive, builds its data next to the current data while the ERP runs, which verifies the
// archive as it is read, stops the ERP, takes a safety backup and swaps. The old data is kept until the ERP responds. The safety
// backup has everything written before the ERP stopped.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "backup.restore",
  access: { keys: ["hosts", "sealing"], configuration: true, storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    backup_id: fields.id("backup"),
    /** Generated with the request, so that a step that runs twice takes one safety backup. */
    safety_backup_id: fields.id("backup"),
    restore_database: z.boolean(),
    restore_filestore: z.boolean(),
    neutralize: z.boolean(),
    backup_first: z.boolean(),
  }),
  steps: [
    poll("verifyArchive", "Verifying the backup", { upToMinutes: JOB_MINUTES.verify_archive }),
    poll("buildRestore", "Restoring next to the current data", { undo: "putBack", upToMinutes: JOB_MINUTES.build_restore }),
    poll("pauseErp", "Stopping the ERP", { when: "backup_first", upToMinutes: JOB_MINUTES.pause_erp }),
    poll("makeSafetyBackup", "Backing up the current data", {
      undo: "closeSafetyBackup",
      when: "backup_first",
      upToMinutes: JOB_MINUTES.make_archive,
    }),
    poll("swapRestore", "Switching to the restored data and starting the ERP", { upToMinutes: JOB_MINUTES.swap_restore }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: JOB_MINUTES.check_health }),
    // This comes before the old data is removed, so that a failure here can still be undone.
    poll("stopAgain", "Returning the ERP to its previous state", { upToMinutes: JOB_MINUTES.stop_erp }),
    poll("dropOld", "Removing the replaced data", { commits: true, upToMinutes: JOB_MINUTES.drop_old }),
  ],
});
