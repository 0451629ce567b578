// How operations end, or are taken back: everything that they held is free again, and their resource is where its lifecycle
// leads.
import {
  type OperationEnd,
  afterSuccess,
  isFailure,
  isOpen,
  LIFECYCLE,
  OPERATION,
  type OperatedType,
  type Transition,
} from "../../domain/lifecycle.ts";
import type { OperationError } from "../../platform/task-errors.ts";
import { getAccount } from "../../records/accounts.ts";
import { endBackup } from "../../records/backups.ts";
import { endBulk } from "../../records/bulk.ts";
import { type Change, startChange, now, Overtaken, retryOnConflict } from "../../data/change.ts";
import type { Ending } from "../../records/ending.ts";
import { endCheck, endDeploy, leaveRehearsal, removeCode } from "../../records/deploy-ends.ts";
import { endInstance } from "../../records/instances.ts";
import { keys } from "../../data/keys.ts";
import { logOutcome } from "../../records/events.ts";
import { toOutcome } from "../../records/outcomes.ts";
import { announceRequest, findOperationCore } from "../../records/operations.ts";
import type { OperationCore } from "../../records/schemas/operation.ts";
import {
  rescheduleDrill,
  removePolicyOfDeleted,
  updateProtectionAfterDeletion,
  type Protection,
  protectionAfterBackup,
} from "../backups/protection.ts";
import { NO_REASON, withMessage } from "../../records/reasons.ts";
import { endServer } from "../../records/servers.ts";
import { ConditionFailed } from "../../data/table.ts";

/** How each resource ends: the one that the operation changed is moved or removed by its own module. */
const END: Record<OperatedType, (change: Change, ending: Ending) => Promise<void>> = {
  server: endServer,
  instance: endInstance,
  backup: endBackup,
  account: endBulk,
};

type Outcome = { succeeded: true } | { succeeded: false; error: OperationError };

/** Ends an operation and unlocks its resources; ending it twice has the same effect as once. */
export async function endOperation(operation: OperationCore, outcome: Outcome): Promise<void> {
  if (!isOpen(operation.state)) return;
  await retryOnConflict(() => end(operation, outcome));
}

async function end(operation: OperationCore, outcome: Outcome): Promise<void> {
  const change = startChange(await getAccount(operation.account_id));
  const finished_at = now();
  const to = outcome.succeeded ? OPERATION.succeeded : OPERATION.failed;
  change.move(
    { kind: "operation", record: operation },
    {
      from: operation.state,
      to,
      set: {
        state: to,
        finished_at,
        step: null,
        step_code: null,
        ...(outcome.succeeded ? { progress: 100 } : { error: outcome.error }),
      },
    },
    {
      equals: { state: operation.state },
      // An undo may have removed everything by now, whatever a late task reports; what was committed is not undone.
      ...(outcome.succeeded && !operation.committed && { none: ["undoing"] }),
    },
  );
  change.remove(keys.openOperation(operation.id));
  const { to: destined, back } = destination(operation, outcome.succeeded);
  const error = outcome.succeeded ? null : outcome.error;
  const at = now();
  const protection =
    operation.type === "backup.create" ? await protectionAfterBackup(change, operation, { to: destined, at, error }) : undefined;
  // A deletion that failed counts, too: nobody can restore that backup any more.
  if (operation.type === "backup.delete" && destined !== operation.before) await updateProtectionAfterDeletion(change, operation);
  if (operation.type === "backup.drill" && !outcome.succeeded && !operation.recorded) await rescheduleDrill(change, operation);
  if (operation.type === "instance.deploy") {
    endDeploy(change, operation, { succeeded: outcome.succeeded, at });
    await leaveRehearsal(change, operation);
  }
  await release(change, operation, { to: destined, back, error, at, protection });
  if (operation.state === OPERATION.pending) announceRequest(change, operation);
  logEnd(change, operation, { to, error, finished_at });
  await change.commit();
}

function logEnd(
  change: Change,
  operation: OperationCore,
  { to, error, finished_at }: { to: OperationEnd; error: OperationError | null; finished_at: string },
): void {
  const { id, type, resource, created_at, created_by, request_id } = operation;
  const outcome = toOutcome({ id, type, state: to, error, created_at, finished_at });
  const by = { actor: created_by, requestId: request_id };
  logOutcome(change, by, { type: `${type}.${to}`, operation_id: id, operation: outcome }, resource);
}

/**
 * Each failed try means that the operation was started or confirmed, or its resource renamed, in the meantime, which the next try
 * sees.
 */
const WITHDRAW_TRIES = 5;

/**
 * Withdraws an operation that could not be started, as if it had never been requested; false if it continues after all, because
 * its first task has begun or a repetition of the request has confirmed it.
 */
export async function withdrawOperation(operation: OperationCore, also: (change: Change) => void): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const current = await findOperationCore(operation.account_id, operation.id);
    if (current === undefined) return true;
    if (current.state !== OPERATION.pending || current.confirmed) return false;
    const change = startChange({ id: current.account_id });
    change.removeListed(
      { kind: "operation", record: current, status: OPERATION.pending },
      { equals: { state: OPERATION.pending }, none: ["confirmed"] },
    );
    change.remove(keys.openOperation(current.id));
    for (const concerned of current.concerns) change.remove(keys.operationOf(current.account_id, concerned, current.id));
    change.remove(keys.sealed(current.account_id, current.id)); // nobody will use it
    await release(change, current, { to: current.before ?? "gone", back: true, error: null, withdrawn: true });
    also(change);
    try {
      await change.commit();
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed || error instanceof Overtaken) || attempt >= WITHDRAW_TRIES) throw error;
    }
  }
}

/** Returns where the resource goes, from its row of the lifecycle; `back` if that is where it comes from. */
function destination(operation: OperationCore, succeeded: boolean): { to: string; back: boolean } {
  const row: Transition = LIFECYCLE[operation.type];
  const to = succeeded ? row.to : (operation.failed_state ?? row.failed);
  if (to !== "before") return { to, back: false };
  const before = operation.before ?? row.failed;
  return { to: succeeded ? afterSuccess(operation.type, before) : before, back: true };
}

interface Release {
  /** The state to which the resource goes; `back` if that is where it comes from. */
  to: string;
  back: boolean;
  error: OperationError | null;
  at?: string;
  withdrawn?: boolean;
  /**
   * What the backup means for its instance. A withdrawn one means nothing, and functions that only withdraw do without that code.
   */
  protection?: Protection | undefined;
}

/** Frees everything that the operation held, and ends its resource. */
async function release(
  change: Change,
  operation: OperationCore,
  { to, back, error, at = now(), withdrawn = false, protection }: Release,
): Promise<void> {
  const { account_id: accountId, resource } = operation;
  const whileHeld = { equals: { operation_id: operation.id } };
  for (const { type, id } of operation.holds)
    change.update(
      keys.record(type, accountId, id),
      { set: { ...protection?.set, operation_id: null } },
      { ...whileHeld, ...protection?.where },
      protection?.conditionError,
    );
  if (to === "gone" && resource.type === "instance") {
    await removePolicyOfDeleted(change, resource.id);
    await removeCode(change, resource.id);
  }
  if (operation.type === "instance.check_code") endCheck(change, operation);
  if (operation.uses_backup_id !== null)
    change.update(keys.record("backup", accountId, operation.uses_backup_id), { take: { used_by: new Set([operation.id]) } });
  if (operation.type === "backup.drill" || operation.type === "backup.import")
    change.remove(keys.drill(accountId, String(operation.input["server_id"])), { exists: false });
  await END[resource.type](change, {
    operation,
    to,
    at,
    failure: error?.code ?? null,
    withdrawn,
    reasonAfter: (state, { status_reason, reason }) => {
      if (!back || state !== operation.before) return error !== null && isFailure(state) ? withMessage(error) : NO_REASON;
      if (withdrawn || resource.type !== "server") return { status_reason, reason };
      // A server stays active whatever becomes of the work on its machine: its reason alone says so, until such work succeeds.
      return error === null ? NO_REASON : withMessage(error);
    },
  });
}
