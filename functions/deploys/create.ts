// POST /instances/:id/deploys
import * as deploys from "../../shared/api/deploys.ts";
import { noBackupToRollBack } from "../../shared/api/errors.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { find } from "../../shared/data/table.ts";
import { beginDeploy } from "../../shared/operations/code/begin-code-work.ts";
import { forecastDeploy } from "../../shared/operations/forecasts/deploy-forecast.ts";
import { planRollback } from "../../shared/operations/code/rollbacks.ts";
import { backupRef, requireRestorable } from "../../shared/records/backups.ts";
import { codeRef, emptyCode } from "../../shared/records/code.ts";
import { toDeploy } from "../../shared/records/deploys.ts";
import { instanceRef, requireAllowed, requireInstance, requireServerUsable } from "../../shared/records/instances.ts";
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
    const { modules: select, rehearse, backup_first, update_image, note = null, rollback_to, restore_database = false } = body;
    requireAllowed(instance, "deploy");
    requireServerUsable(change, instance);
    const rollback =
      rollback_to === undefined ? undefined : await planRollback(instance, code, { rollback_to, restore_database });
    const backup = rollback?.backupId === undefined ? undefined : await find(backupRef(account_id, rollback.backupId));
    if (backup !== undefined) requireRestorable(backup);
    else if (restore_database) throw noBackupToRollBack(instance.state); // it was deleted
    const choices = { select, rehearse, backup_first, update_image, note, rollback, backup };
    const { deploy } = beginDeploy({ change, by, operationId }, { instance, code }, choices);
    return commit(change, toDeploy(deploy), () => forecastDeploy(caller, instance, code, { ...body, rollback, backup }));
  }),
);
