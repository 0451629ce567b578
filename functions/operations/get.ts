// GET /operations/:id
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../shared/api/errors.ts";
import * as operations from "../../shared/api/operations.ts";
import { endWait } from "../../shared/operations/admission.ts";
import { getOperation, permissionsToRead, toOperation } from "../../shared/records/operations.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import type { Caller } from "../../shared/records/schemas/caller.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { pauseBeforePoll } from "../../shared/domain/limits.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";
import { log } from "../../shared/platform/log.ts";

export const handler = handle(operations.get)(async ({ params, query, caller }) => {
  const seconds = caller.wait === undefined ? 0 : query.wait; // without a slot there is no wait
  const operation = await waitForEnd(params.id, caller, seconds).catch(async (error: unknown) => {
    // If the table is down, the slot is left to expire: a write that fails slowly would outlast the function.
    if (error instanceof ApiError) await releaseWait(caller);
    throw error;
  });
  await releaseWait(caller);
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

/** The response matters more than the slot, which expires on its own. */
const releaseWait = (caller: Caller): Promise<void> =>
  endWait(caller).catch((error: unknown) => {
    log.warn("could not release the slot of a waiting request", { error: error instanceof Error ? error : undefined });
  });
