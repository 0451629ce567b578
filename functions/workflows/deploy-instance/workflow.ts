// Deploying an instance's code: fetches exactly the commits that the refs are now, checks them, rehearses the deploy on a copy of
// the database, and only then stops the ERP. What the ERP had is kept until it responds with the new code.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { DEPLOY } from "../../../shared/domain/limits.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.deploy",
  access: { keys: ["hosts", "sealing"], configuration: true, storage: "write" },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    server_id: fields.id("server"),
    deploy_id: fields.id("deploy"),
    /** Generated with the request, so that a step that runs twice takes one safety backup. */
    safety_backup_id: fields.id("backup"),
    rehearse: z.boolean(),
    backup_first: z.boolean(),
    update_image: z.boolean().default(false), // of operations from before it existed
    /** True for a rollback that also restores the data. */
    restore_database: z.boolean(),
    data_backup_id: fields.id("backup").optional(),
  }),
  steps: [
    poll("resolveCode", "Looking up the commits", { upToMinutes: JOB_MINUTES.resolve_code }),
    poll("fetchCode", "Fetching and checking the code", { undo: "putBack", upToMinutes: JOB_MINUTES.fetch_code }),
    poll("pullImages", "Getting the newest images", { when: "update_image", upToMinutes: JOB_MINUTES.pull_images }),
    poll("installPackages", "Installing the Python packages", { upToMinutes: JOB_MINUTES.install_packages }),
    poll("awaitPlace", "Waiting until the server is checking no other archive", {
      undo: "leavePlace",
      when: "rehearse",
      upToMinutes: DEPLOY.rehearsalWaitMinutes,
      unlimited: true,
    }),
    poll("rehearse", "Rehearsing the deploy on a copy of the data", {
      when: "rehearse",
      upToMinutes: JOB_MINUTES.rehearse_code,
    }),
    poll("makeSafetyBackup", "Backing up the current data", {
      undo: "closeSafetyBackup",
      when: "backup_first",
      upToMinutes: JOB_MINUTES.make_archive,
    }),
    poll("keepData", "Stopping the ERP and keeping its data", { when: "restore_database", upToMinutes: JOB_MINUTES.keep_data }),
    poll("restoreData", "Restoring the data of that code", {
      when: "restore_database",
      upToMinutes: JOB_MINUTES.restore_archive,
    }),
    poll("updateModules", "Updating the modules while the ERP is stopped", { upToMinutes: JOB_MINUTES.update_modules }),
    poll("awaitHealthy", "Waiting for the ERP to respond", { upToMinutes: JOB_MINUTES.check_health }),
    // This comes before the previous data is removed, so that a failure here can still be undone.
    poll("stopAgain", "Returning the ERP to its previous state", { upToMinutes: JOB_MINUTES.stop_erp }),
    poll("settleCode", "Removing the previous data", { commits: true, upToMinutes: JOB_MINUTES.settle_code }),
  ],
});
