// GET /instances/:id/backup-policy
import * as backupPolicy from "../../shared/api/backup-policy.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { policyRef, requirePolicy } from "../../shared/records/policies.ts";
import { toPolicy } from "../../shared/operations/backups/policy-changes.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backupPolicy.get)(async ({ params, caller, read }) => {
  const { instance, policy } = await read({
    instance: instanceRef(caller.account_id, params.id),
    policy: policyRef(caller.account_id, params.id),
  });
  requireInstance(instance);
  return toPolicy(requirePolicy(policy));
});
