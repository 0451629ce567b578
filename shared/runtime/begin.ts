// How a handler that changes something opens, and how the operation that a request has created starts, so that no request gets a
// success that is then withdrawn.
//
// The request that wrote the operation withdraws it if the start fails; a retry of that request starts it too. Both claim
// the operation by a condition on its item, so that one of them wins: `withdrawOperation` removes it only while it is pending and
// unconfirmed, and a retry gets its response only once it has confirmed the operation, or a task has started it.
import { ApiError, firstInProgress, unavailable } from "../api/errors.ts";
import { accountRef, requireAccount } from "../records/accounts.ts";
import { callerRef } from "../operations/credentials/admission.ts";
import { confirmOperation, findOperationCore } from "../records/operations.ts";
import { userRef } from "../records/users.ts";
import { withdrawOperation } from "../operations/work/operation-ends.ts";
import type { Records, Ref } from "../data/table.ts";
import { newId } from "../domain/ids.ts";
import { OPERATION, workflowOf } from "../domain/lifecycle.ts";
import { type Change, startChange, operationIn } from "../data/change.ts";
import type { AccountRecord } from "../records/schemas/account.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { OperationCore } from "../records/schemas/operation.ts";
import { log } from "../platform/log.ts";
import type { Read } from "./request-store.ts";
import type { Work } from "./idempotency.ts";
import { startExecution } from "./start.ts";

type Refs = Record<string, Ref<unknown>>;

interface Reading {
  caller: Caller;
  read: Read;
}

type Opened<R extends Refs> = Records<R> & { account: AccountRecord; change: Change };

/** Reads the records of a change, with the account, and starts the change. */
export const beginChange = <const R extends Refs>(reading: Reading, refs: R): Promise<Opened<R>> => open(reading, refs);

/** The same for a change of the caller's own user. */
export async function beginOwnChange(reading: Reading) {
  const { user, ...opened } = await open(reading, { user: userRef(reading.caller.id) });
  if (user === undefined) throw new ApiError("UNAUTHORIZED"); // removed after the session was authenticated
  return { ...opened, user };
}

/** The same for a request for work, which `commit` starts; `operationId` is the new operation's. */
export async function beginWork<const R extends Refs>(reading: Reading, refs: R): Promise<Opened<R> & { operationId: string }> {
  return { ...(await open(reading, refs, WORK)), operationId: newId("operation") };
}

async function open<const R extends Refs>({ caller, read }: Reading, refs: R, work?: Work): Promise<Opened<R>> {
  const refsOfAll = { ...refs, account: accountRef(caller.account_id), author: callerRef(caller) } satisfies Refs;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `read` says of the refs, which have neither of their own
  const typed = (await read(refsOfAll, work)) as unknown as Records<R> & {
    account: AccountRecord | undefined;
    author: { name: string } | undefined;
  };
  const account = requireAccount(typed.account);
  caller.name = typed.author?.name; // for the audit log
  return { ...typed, account, change: startChange(account) };
}

/**
 * Starts the operation that a change created, once the change is written. If the workflow engine is down, nothing is left half
 * done: the change is withdrawn before the client gets its response.
 */
async function startOperation(change: Change, alsoWithdraw: (change: Change) => void): Promise<void> {
  const createdOperation = operationIn(change);
  if (createdOperation === undefined) return;
  const operation = OperationCore.parse(createdOperation);
  try {
    await start(operation);
  } catch (cause) {
    const withdrawn = await withdrawOperation(operation, (withdrawal) => {
      alsoWithdraw(withdrawal);
      change.withdraw(withdrawal);
    });
    if (withdrawn) throw unavailable(cause);
    // The start succeeded although its response was lost, or a retry of the request has started the operation.
  }
}

/** Makes sure that the operation has started for good before a retry of the request gets its response. */
export async function ensureStarted(accountId: string, operationId: string): Promise<void> {
  const operation = await findOperationCore(accountId, operationId);
  if (operation === undefined) throw unavailable(); // withdrawn since the response was read
  if (operation.state !== OPERATION.pending || operation.confirmed) return;
  try {
    await start(operation);
  } catch (cause) {
    throw firstInProgress(cause);
  }
  // This comes only after the start: a confirmed operation is never withdrawn, so it must have been started.
  if (!(await confirmOperation(operation))) throw unavailable();
}

async function start({ id, type, input }: OperationCore): Promise<void> {
  try {
    await startExecution(workflowOf(type), id, input);
  } catch (error) {
    log.error("could not start the workflow", { operation: id, error: error instanceof Error ? error : undefined });
    throw error;
  }
}

const WORK: Work = { resume: ensureStarted, start: startOperation };
