// What each step of clone-instance does, and how it is undone.
import { addResult } from "../../../shared/data/operations.ts";
import { dropSealed, takeSealed } from "../../../shared/data/sealed.ts";
import { archiveRefOf, erpSpecOf } from "../../../shared/hosts/index.ts";
import { isHealthy, isRemoved, runJob } from "../../../shared/hosts/jobs.ts";
import { GiveUp, TryAgain } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  verifyArchive: async (work) =>
    (await runJob(work, { kind: "verify", archive: archiveRefOf(await work.backup()) })) !== undefined,

  installErp: async (work) => {
    // Not started before it has its data and, if asked for, is neutralized; its administrator comes last.
    const erp = erpSpecOf(await work.instance());
    return (await runJob(work, { kind: "install", erp, admin_password: undefined, start: false })) !== undefined;
  },

  restoreArchive: async (work) => {
    const { restore_database: database, restore_filestore: filestore } = work.input;
    const { id: instance_id } = await work.instance();
    const archive = archiveRefOf(await work.backup());
    const job = {
      kind: "restore" as const,
      instance_id,
      restore_id: work.operation.id,
      archive,
      database,
      filestore,
      neutralize: false,
      start: false,
    };
    return (await runJob(work, job)) !== undefined;
  },

  neutralize: async (work) => (await runJob(work, { kind: "neutralize", instance_id: work.input.instance_id })) !== undefined,

  personalize: async (work) => {
    const { account_id, id } = work.operation;
    const admin_password = await takeSealed(account_id, id);
    const erp = erpSpecOf(await work.instance());
    if ((await runJob(work, { kind: "personalize", erp, admin_password })) === undefined) return false;
    await dropSealed(account_id, id);
    return true;
  },

  awaitHealthy: isHealthy,

  verifyClone: async (work) => {
    const verification = await runJob(work, { kind: "inspect", instance_id: work.input.instance_id });
    if (verification === undefined) throw new TryAgain("HOST_JOB_FAILED", "The clone could not be verified in time");
    await addResult(work.operation, { verification });
    const { is_neutralized, active_crons, active_mail_servers, new_database_uuid } = verification;
    if (!new_database_uuid) throw new GiveUp("HOST_JOB_FAILED", "The clone has the database uuid of its source");
    if (work.input.neutralize && !(is_neutralized && active_crons === 0 && active_mail_servers === 0))
      throw new GiveUp("HOST_JOB_FAILED", "The clone could not be neutralized: scheduled jobs or mail servers are still active");
  },

  removeErp: async (work) => {
    await dropSealed(work.operation.account_id, work.operation.id);
    return isRemoved(work);
  },
});
