// GET /operations/:id
import { setTimeout as sleep } from "node:timers/promises";
import * as operations from "../../shared/api/operations.ts";
import { getOperation, permissionsToRead, toOperation } from "../../shared/records/operations.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import type { Caller } from "../../shared/records/schemas/caller.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { pauseBeforePoll } from "../../shared/domain/limits.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";
import { withWaitSlot } from "../../shared/runtime/waiting.ts";

export const handler = handle(operations.get)(async ({ params, query, caller }) => {
  const operation = await withWaitSlot(caller, query.wait, (seconds) => waitForEnd(params.id, caller, seconds));
  return toOperation(operation);
});

/** The operation when it has ended, or as it is after so many seconds. */
async function waitForEnd(id: string, caller: Caller, seconds: number): Promise<OperationRecord> {
  const until = Date.now() + seconds * 1000;
  let operation = await getOperation(caller.account_id, id);
  if (operation.created_by.id !== caller.id)
    for (const permission of permissionsToRead(operation)) requirePermission(caller, permission);
  for (let polls = 1; isOpen(operation.state) && Date.now() < until; polls++) {
    await sleep(Math.min(pauseBeforePoll(polls), until - Date.now()));
    operation = await getOperation(caller.account_id, id);
  }
  return operation;
}
