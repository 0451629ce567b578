// PUT /instances/:id/backup-policy
import * as backupPolicy from "../../shared/api/backup-policy.ts";
import { isFirstRunning, waitingBackup } from "../../shared/operations/backups/begin-backup.ts";
import { POLICY_FIELDS } from "../../shared/api/backup-policy.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { forecastPolicy } from "../../shared/operations/forecasts/policy-forecast.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { policyRef, policyVersion } from "../../shared/records/policies.ts";
import { setPolicy, toPolicy } from "../../shared/operations/backups/policy-changes.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backupPolicy.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, policy, ...records } = await beginChange(
      { caller, read },
      { instance: instanceRef(caller.account_id, params.id), policy: policyRef(caller.account_id, params.id) },
    );
    const instance = requireInstance(records.instance);
    match(change, policy && policyVersion(policy));
    const [waiting, firstIsRunning] = await Promise.all([waitingBackup(policy), isFirstRunning(instance)]);
    const set = setPolicy(change, { by, instance, policy, waiting, firstIsRunning }, body);
    const changes = changesBetween(policy ?? {}, set, POLICY_FIELDS);
    logEvent(change, by, { type: "backup_policy.update", changes }, { type: "instance", id: instance.id, name: instance.name });
    return commit(change, toPolicy(set), () => forecastPolicy(caller, instance, set, waiting));
  }),
);
