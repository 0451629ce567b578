// Rescues an operation whose execution died: starts a second execution that only undoes; if that dies too, notifies the
// operators.
import * as z from "zod";
import { returnDomain } from "../operations/work/domain-moves.ts";
import { instanceRef } from "../records/instances.ts";
import { storeWorkLog } from "../records/work-logs.ts";
import { setFailedState, findOperation, markUndoing } from "../records/operations.ts";
import { endOperation } from "../operations/work/operation-ends.ts";
import type { OperationRecord } from "../records/schemas/operation.ts";
import { removeSealed } from "../data/sealed.ts";
import { failSafetyBackup } from "../operations/backups/safety-backups.ts";
import { find } from "../data/table.ts";
import { abandonedState, isKnownOperation, isOpen, workflowOf } from "../domain/lifecycle.ts";
import { because } from "../domain/reasons.ts";
import { rescueName } from "../domain/workflow.ts";
import { log } from "../platform/log.ts";
import { publish } from "../platform/publish-metric.ts";
import { readLogOf } from "./read-log.ts";
import { startExecution } from "./start.ts";
import { type CaughtError, operationError, toOperationError } from "../platform/task-errors.ts";

export interface DeadExecution {
  /** The state in which the execution died. */
  name: string;
  error: Required<CaughtError>;
}

/** Doing it twice has the same effect as once; nothing happens to an operation that has ended. */
export async function rescue(operation: OperationRecord, { name, error }: DeadExecution): Promise<void> {
  const fields = { operation: operation.id, account: operation.account_id, execution: name };
  if (!isKnownOperation(operation)) {
    log.warn("an execution failed whose operation only a newer version knows", { ...fields, type: operation.type });
    return;
  }
  if (!isOpen(operation.state)) {
    log.info("an execution failed after its operation had ended", fields);
    return;
  }
  if (name === rescueName(operation.id)) return abandon(operation, error);
  log.warn("an execution failed; undoing its changes", { ...fields, cause: error });
  await startExecution(workflowOf(operation.type), rescueName(operation.id), { ...operation.input, undo_only: true, error });
}

/** The undo failed too. The resource is unlocked, so that its owner can at least delete it. */
async function abandon(operation: OperationRecord, error: CaughtError): Promise<void> {
  await keepLog(operation);
  if (operation.committed) {
    log.error("what a committed operation replaced could not be removed", {
      operation: operation.id,
      account: operation.account_id,
      cause: error,
    });
    return endOperation(operation, { succeeded: true });
  }
  log.error("the undo failed; an operator must look into it", {
    operation: operation.id,
    account: operation.account_id,
    resource: operation.resource,
    cause: error,
  });
  publish("UndoFailed", 1);
  await markUndoing(operation);
  await freeReservations(operation);
  await setFailedState(operation, abandonedState(operation.type));
  const current = await findOperation(operation.account_id, operation.id);
  if (current !== undefined) {
    const { message, reason } = toOperationError(error);
    const cause = reason ?? message;
    await endOperation(current, {
      succeeded: false,
      error: operationError("INTERNAL_ERROR", because("undo_failed", { why: cause })),
    });
  }
  // This comes after the end: a repeat keeps the log again, and its password must not be in there.
  await removeSealed(operation.account_id, operation.id);
}

/**
 * Keeps the log like the end of an execution (tasks.ts), but by the function that may sign in to machines. It holds up nothing.
 */
async function keepLog(operation: OperationRecord): Promise<void> {
  try {
    const text = await readLogOf(operation);
    if (text !== "") await storeWorkLog(operation, text);
  } catch (cause) {
    log.info("could not keep the log of an operation", { operation: operation.id, cause });
  }
}

const Reserved = z.object({
  instance_id: z.string().optional(),
  safety_backup_id: z.string().optional(),
  old_domain: z.string().optional(),
  new_domain: z.string().optional(),
});

/** Releases what only this operation locks, and nothing could release once it has ended. */
async function freeReservations({ account_id, input }: OperationRecord): Promise<void> {
  const { instance_id, safety_backup_id, old_domain, new_domain } = Reserved.parse(input);
  if (safety_backup_id !== undefined) await failSafetyBackup(account_id, safety_backup_id);
  if (instance_id === undefined || old_domain === undefined || new_domain === undefined) return;
  const instance = await find(instanceRef(account_id, instance_id));
  if (instance !== undefined) await returnDomain(instance, { old: old_domain, new: new_domain });
}
