// Creates a new instance from a backup's data, with its own identity, neutralized by default.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.clone",
  access: { keys: ["hosts", "sealing"], configuration: true, storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    backup_id: fields.id("backup"),
    restore_database: z.boolean(),
    restore_filestore: z.boolean(),
    neutralize: z.boolean(),
    reset_users: z.boolean(),
    keep_uuid: z.boolean().default(false), // of operations from before it existed
    bring_code: z.boolean().default(false), // likewise
  }),
  steps: [
    poll("verifyArchive", "Verifying the backup", { upToMinutes: JOB_MINUTES.verify_archive }),
    poll("installErp", "Installing the ERP", { undo: "removeErp", upToMinutes: JOB_MINUTES.install_erp }),
    // The code comes before the data, whose modules are then found.
    poll("bringCode", "Bringing the backup's code", { when: "bring_code", upToMinutes: JOB_MINUTES.bring_code }),
    poll("restoreArchive", "Restoring the backup", { upToMinutes: JOB_MINUTES.restore_archive }),
    poll("neutralize", "Turning off scheduled jobs, mail and payments", {
      when: "neutralize",
      upToMinutes: JOB_MINUTES.neutralize,
    }),
    poll("personalize", "Giving the new instance its own identity", { upToMinutes: JOB_MINUTES.personalize }),
    // The ERP starts only now: an instance that still has the original's name, jobs and mail servers must not run.
    poll("startErp", "Starting the ERP", { upToMinutes: JOB_MINUTES.start_erp }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: JOB_MINUTES.check_health }),
    poll("verifyClone", "Verifying the new instance", { upToMinutes: JOB_MINUTES.verify_clone }),
  ],
});
