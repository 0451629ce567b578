// An execution died in another way than by finishing (timeout, abort, a failed undo, a bug): a second one only undoes, and frees
// the resource. If that dies too, a person is told, and the resource says why.
import * as z from "zod";
import { endOperation, failInto, findOperation, isOpen } from "../../shared/data/operations.ts";
import { log } from "../../shared/runtime/log.ts";
import { count } from "../../shared/runtime/metrics.ts";
import { startExecution } from "../../shared/runtime/start.ts";
import { ABORTED } from "../../shared/runtime/task-errors.ts";
import { rescueName } from "../../shared/workflow.ts";

/** "Step Functions Execution Status Change", as EventBridge sends it. */
const StatusChange = z.object({
  detail: z.object({
    name: z.string(),
    status: z.enum(["FAILED", "TIMED_OUT", "ABORTED"]),
    input: z.string(),
    error: z.string().nullish(),
    cause: z.string().nullish(),
  }),
});
const Ids = z.looseObject({ account_id: z.string(), operation_id: z.string() });

const WITHOUT_ERROR = { FAILED: "Failed", TIMED_OUT: "States.Timeout", ABORTED };

export async function handler(event: unknown): Promise<void> {
  const { name, status, input, error, cause } = StatusChange.parse(event).detail;
  const { account_id, operation_id } = Ids.parse(JSON.parse(input));
  log.resetKeys();
  log.appendKeys({ account: account_id, operation: operation_id, execution: name });
  const operation = await findOperation(account_id, operation_id);
  if (operation === undefined || !isOpen(operation)) return; // taken back, or ended before it died
  if (name === rescueName(operation_id)) {
    log.error("undoing failed: a person is needed", { status, error, cause });
    count("UndoFailed", 1);
    await failInto(operation, FAILED_STATES[operation.resource.type]);
    const message = "Undoing what was done failed; the operators of the service have been told";
    await endOperation(
      { ...operation, failed_state: FAILED_STATES[operation.resource.type] },
      { succeeded: false, error: { code: "INTERNAL_ERROR", message } },
    );
    return;
  }
  log.error("execution died: undoing what it did", { status, error, cause });
  const caught = { Error: error ?? WITHOUT_ERROR[status], Cause: cause ?? "" };
  await startExecution(operation.workflow, rescueName(operation_id), { ...operation.input, undo_only: true, error: caught });
}

/** States from which a resource can be deleted, and that say why. */
const FAILED_STATES = { server: "delete_failed", instance: "failed", backup: "failed" } as const;
