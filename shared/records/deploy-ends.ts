// What becomes of deploys and checks of code when their operation ends, or their instance goes. Apart from the rest, because
// every function that begins an operation has it.
import * as z from "zod";
import type { Change } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { find } from "../data/table.ts";
import { DEPLOY_STATUS } from "../domain/lifecycle.ts";
import type { OperationCore } from "./schemas/operation.ts";

/** Ends the deploy of an operation, with the step that failed. */
export function endDeploy(
  change: Change,
  { account_id, input, failed_step, step_code }: OperationCore,
  { succeeded, at }: { succeeded: boolean; at: string },
): void {
  // No image is recorded: where the undo fails, too, nobody knows what the ERP runs with.
  const failed = { failed_step: failed_step ?? step_code ?? null, image: null };
  change.update(keys.deploy(account_id, String(input["deploy_id"])), {
    set: { status: succeeded ? DEPLOY_STATUS.completed : DEPLOY_STATUS.failed, completed_at: at, ...(!succeeded && failed) },
  });
}

const Holder = z.object({ operation_id: z.string() });

/** Returns the slot in which a deploy rehearsed, if it still has that. */
export async function leaveRehearsal(change: Change, { account_id, id, input }: OperationCore): Promise<void> {
  const key = keys.drill(account_id, String(input["server_id"]));
  const holder = await find({ key, schema: Holder });
  if (holder?.operation_id === id) change.remove(key, { equals: { operation_id: id } });
}

/** Ends a check of an instance's code: from then on another one may begin. */
export const endCheck = (change: Change, { account_id, resource }: OperationCore): void =>
  change.remove(keys.codeCheck(account_id, resource.id), { exists: false });

const Deployed = z.object({
  deploy_ids: z.array(z.string()).default([]),
  hook_hash: z.string().nullable().default(null),
  deployed: z.object({ deploy_id: z.string() }).nullable().default(null),
});

/** Removes the code of an instance that is gone, with its deploys and its hook. */
export async function removeCode(change: Change, instanceId: string): Promise<void> {
  const key = keys.code(change.accountId, instanceId);
  const code = await find({ key, schema: Deployed });
  if (code === undefined) return;
  change.remove(key, { exists: false });
  change.remove(keys.push(instanceId), { exists: false });
  if (code.hook_hash !== null) change.remove(keys.deployHook(code.hook_hash), { exists: false });
  for (const id of code.deploy_ids) change.remove(keys.deploy(change.accountId, id), { exists: false });
  const plans = new Set([...code.deploy_ids, ...(code.deployed === null ? [] : [code.deployed.deploy_id])]);
  for (const id of plans) change.remove(keys.deployPlan(change.accountId, id), { exists: false });
}
