// Creates a new instance from a backup's data, with its own identity, neutralized by default.
import * as z from "zod";
import { id } from "../../../shared/api/fields.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.clone",
  access: { keys: ["hosts", "sealing"], configuration: true, storage: "write" },
  input: z.object({
    account_id: id("account"),
    operation_id: id("operation"),
    instance_id: id("instance"),
    backup_id: id("backup"),
    restore_database: z.boolean(),
    restore_filestore: z.boolean(),
    neutralize: z.boolean(),
    reset_users: z.boolean(),
  }),
  steps: [
    poll("verifyArchive", "Verifying the backup", { upToMinutes: 60 }),
    poll("installErp", "Installing the ERP", { undo: "removeErp", upToMinutes: 30 }),
    poll("restoreArchive", "Restoring the backup", { upToMinutes: 120 }),
    poll("neutralize", "Turning off scheduled jobs, mail and payments", {
      when: "neutralize",
      upToMinutes: 15,
    }),
    poll("personalize", "Giving the clone its own identity", { upToMinutes: 15 }),
    // Only now: what still has the original's name, jobs and mail servers must not run.
    poll("startErp", "Starting the ERP", { upToMinutes: 10 }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: 10 }),
    poll("verifyClone", "Verifying the clone", { upToMinutes: 10 }),
  ],
});
