// POST /instances/:id/deploys
import * as deploys from "../../shared/api/deploys.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { newId } from "../../shared/domain/ids.ts";
import { forecastDeploy } from "../../shared/operations/deploy-forecast.ts";
import { planRollback } from "../../shared/operations/rollbacks.ts";
import { getBackup, requireRestorable, retainBackup } from "../../shared/records/backups.ts";
import { codeRef, emptyCode } from "../../shared/records/code.ts";
import { reserveDeploy, toDeploy } from "../../shared/records/deploys.ts";
import {
  instanceRef,
  moveInstance,
  requireAllowed,
  requireInstance,
  requireServerUsable,
} from "../../shared/records/instances.ts";
import { changing, reserveOperation } from "../../shared/records/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(deploys.create)(async ({ params, body, caller, by, read, commit }) =>
  retryOnConflict(async () => {
    const { account_id } = caller;
    const { change, operationId, ...records } = await beginWork(
      { caller, read },
      { instance: instanceRef(account_id, params.id), code: codeRef(account_id, params.id) },
    );
    const instance = requireInstance(records.instance);
    const code = records.code ?? emptyCode(instance);
    const { modules: select, rehearse, backup_first, note = null, rollback_to, restore_database = false } = body;
    requireAllowed(instance, "deploy");
    requireServerUsable(change, instance);
    const rollback =
      rollback_to === undefined ? undefined : await planRollback(instance, code, { rollback_to, restore_database });
    const backup = rollback?.backupId === undefined ? undefined : await getBackup(account_id, rollback.backupId);
    if (backup !== undefined) requireRestorable(backup);
    moveInstance(change, instance, { type: "instance.deploy", operationId });
    if (backup !== undefined) retainBackup(change, backup.id, operationId);
    const deploy = reserveDeploy(change, by, code, { operationId, select, note, rollback });
    const safety_backup_id = newId("backup");
    reserveOperation(change, by, {
      id: operationId,
      type: "instance.deploy",
      ...changing("instance", instance),
      input: {
        server_id: instance.server_id,
        deploy_id: deploy.id,
        safety_backup_id,
        rehearse,
        backup_first,
        restore_database,
        ...(backup !== undefined && { data_backup_id: backup.id }),
      },
      ...(backup !== undefined && { usesBackupId: backup.id }),
      concerns: backup_first ? [safety_backup_id] : [],
      result: { deploy_id: deploy.id },
    });
    return commit(change, toDeploy(deploy), () => forecastDeploy(caller, instance, code, { ...body, rollback, backup }));
  }),
);
