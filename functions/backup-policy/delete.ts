// DELETE /instances/:id/backup-policy
import * as backupPolicy from "../../shared/api/backup-policy.ts";
import { waitingBackup } from "../../shared/operations/backups/begin-backup.ts";
import { POLICY_FIELDS } from "../../shared/api/backup-policy.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { policyRef, policyVersion, requirePolicy, removePolicy } from "../../shared/records/policies.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backupPolicy.delete)(async ({ params, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, ...records } = await beginChange(
      { caller, read },
      { instance: instanceRef(caller.account_id, params.id), policy: policyRef(caller.account_id, params.id) },
    );
    const instance = requireInstance(records.instance);
    const policy = requirePolicy(records.policy);
    match(change, policyVersion(policy));
    removePolicy(change, { by, instance, policy, waiting: await waitingBackup(policy) });
    const changes = changesBetween(policy, {}, POLICY_FIELDS);
    logEvent(change, by, { type: "backup_policy.delete", changes }, { type: "instance", id: instance.id, name: instance.name });
    return commit(change, { id: instance.id, deleted: true });
  }),
);
