// GET /operations/:id
import { setTimeout as sleep } from "node:timers/promises";
import { api } from "../../shared/api/index.ts";
import { getOperation, isOpen, toOperation } from "../../shared/data/operations.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";

/** How often the table is asked meanwhile: a quarter of a second is soon enough for a person, and 80 reads at most. */
const ASK_AGAIN_MS = 250;

export const handler = handle(api.operations.get)(async ({ params, query, caller }) => {
  const until = Date.now() + query.wait * 1000;
  let operation = await getOperation(caller.account_id, params.id);
  if (operation.created_by.id !== caller.id) requirePermission(caller, `${operation.resource.type}s:read`);
  while (isOpen(operation) && Date.now() < until) {
    await sleep(Math.min(ASK_AGAIN_MS, until - Date.now()));
    operation = await getOperation(caller.account_id, params.id);
  }
  return toOperation(operation);
});
