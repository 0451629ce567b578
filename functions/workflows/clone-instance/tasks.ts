// What the steps of cloning an instance do.
import { toBroughtCode } from "../../../shared/hosts/brought-code.ts";
import { findBackupCode, withoutSecrets, withInstanceCredentials } from "../../../shared/records/backup-code.ts";
import { recordCopiedCode } from "../../../shared/records/deployed-code.ts";
import { addResult } from "../../../shared/records/operations.ts";
import { recordNeutralized } from "../../../shared/records/instances.ts";
import { removeSealed, readSealed } from "../../../shared/data/sealed.ts";
import { because } from "../../../shared/domain/reasons.ts";
import { addMissingModules, isHealthy, run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import { requireStoredArchive } from "../../../shared/storage/stored-archive.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  verifyArchive: async ({ backup, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "verify_archive", archive: requireStoredArchive(await backup()) })).ready,

  installErp: async ({ operation, input, instance, server, jobId }) =>
    (
      await run(await server(), {
        id: jobId,
        kind: "install_erp",
        instance: await instance(),
        database: input.restore_database ? "none" : "fresh",
        admin_password: await readSealed(operation.account_id, operation.id),
        start: false,
      })
    ).ready,

  bringCode: async ({ operation, input, instance, backup, server, jobId }) => {
    const backupCode = await findBackupCode(await backup());
    if (backupCode === undefined) return true;
    const stored = await withInstanceCredentials(backupCode);
    const code = input.neutralize ? { ...stored, code: withoutSecrets(stored.code) } : stored;
    const brought = await toBroughtCode(code);
    const { instance_id } = input;
    const job = { id: jobId, kind: "bring_code", instance_id, code_id: operation.id, code: brought } as const;
    if (!(await run(await server(), job)).ready) return false;
    await recordCopiedCode(operation, await instance(), code);
    return true;
  },

  restoreArchive: async ({ operation, input, backup, server, jobId }) => {
    const restored = await run(await server(), {
      id: jobId,
      kind: "restore_archive",
      instance_id: input.instance_id,
      restore_id: operation.id,
      archive: requireStoredArchive(await backup()),
      restore_database: input.restore_database,
      restore_filestore: input.restore_filestore,
      neutralize: false, // a separate step, so that users see it
    });
    if (restored.ready) await addMissingModules(operation, restored.result?.modules ?? null);
    return restored.ready;
  },

  neutralize: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "neutralize", instance_id: input.instance_id })).ready,

  personalize: async ({ operation, input, instance, server, jobId }) => {
    const { id, domain, admin_email } = await instance();
    const { ready } = await run(await server(), {
      id: jobId,
      kind: "personalize",
      instance_id: id,
      domain,
      admin_email,
      admin_password: await readSealed(operation.account_id, operation.id),
      reset_users: input.reset_users,
      keep_uuid: input.keep_uuid,
    });
    if (ready) await removeSealed(operation.account_id, operation.id);
    return ready;
  },

  startErp: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "start_erp", instance_id: input.instance_id })).ready,

  awaitHealthy: async ({ operation, input, server, jobId }) =>
    isHealthy(await server(), { operation, instance: { id: input.instance_id }, jobId }),

  verifyClone: async ({ operation, input, instance, server, jobId }) => {
    const clone = await instance();
    const progress = await run(await server(), { id: jobId, kind: "verify_clone", instance_id: clone.id });
    if (!progress.ready) return false;
    const verification = progress.result;
    const { is_neutralized, active_crons, active_mail_servers, new_database_uuid, base_url } = verification;
    await addResult(operation, { verification });
    if (input.neutralize && !(is_neutralized && active_crons === 0 && active_mail_servers === 0))
      throw new GiveUp("HOST_JOB_FAILED", because("still_active"));
    if (new_database_uuid === input.keep_uuid || base_url !== `https://${clone.domain}`)
      throw new GiveUp("HOST_JOB_FAILED", because("no_own_identity"));
    await recordNeutralized(clone, operation, is_neutralized);
    return true;
  },

  removeErp: async ({ input, server, jobId, stepJobs }) =>
    undoUnlessDown(await server(), { id: jobId, kind: "remove_erp", instance_id: input.instance_id, ends: stepJobs }),
});
