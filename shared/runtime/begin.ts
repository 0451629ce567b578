// Starting the operation that a request has created, so that no request gets a success that is then withdrawn.
//
// The request that wrote the operation withdraws it if the start fails; a retry of that request starts it too. Both claim
// the operation by a condition on its item, so that one of them wins: `withdrawOperation` removes it only while it is pending and
// unconfirmed, and a retry gets its response only once it has confirmed the operation, or a task has started it.
import { ApiError } from "../api/errors.ts";
import { confirmOperation, findOperation, withdrawOperation, workflowOf } from "../data/operations.ts";
import type { Change } from "../data/change.ts";
import type { OperationRecord } from "../data/records.ts";
import { log } from "../platform/log.ts";
import { startExecution } from "./start.ts";

/**
 * Starts the operation that a change created, once the change is written. If the workflow engine is down, nothing is left half done:
 * the change is withdrawn before the client gets its response.
 */
export async function startOperation({ operation, events }: Change, alsoWithdraw: (change: Change) => void): Promise<void> {
  if (operation === undefined) return;
  try {
    await start(operation);
  } catch (cause) {
    const withdrawn = await withdrawOperation(operation, (change) => {
      alsoWithdraw(change);
      for (const event of events) change.drop("event", event, undefined, { exists: false });
    });
    if (withdrawn) throw unavailable(cause);
    // The start succeeded although its response was lost, or a retry of the request has started the operation.
  }
}

/** Makes sure that the operation has started for good before a retry of the request gets its response. */
export async function ensureStarted(accountId: string, operationId: string): Promise<void> {
  const operation = await findOperation(accountId, operationId);
  if (operation === undefined) throw unavailable(); // withdrawn since the response was read
  if (operation.state !== "pending" || operation.confirmed) return;
  try {
    await start(operation);
  } catch (cause) {
    throw unavailable(cause);
  }
  // Only after the start: a confirmed operation is never withdrawn, so it must have been started.
  if (!(await confirmOperation(operation))) throw unavailable();
}

async function start({ id, type, input }: OperationRecord): Promise<void> {
  try {
    await startExecution(workflowOf(type), id, input);
  } catch (error) {
    log.error("could not start the workflow", { operation: id, error: error instanceof Error ? error : undefined });
    throw error;
  }
}

const RETRY_SECONDS = 5;
const unavailable = (cause?: unknown) =>
  new ApiError("SERVICE_UNAVAILABLE", undefined, { retryAfter: RETRY_SECONDS, ...(cause !== undefined && { cause }) });
