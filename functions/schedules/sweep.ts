// Every five minutes: starts operations that were recorded but never started, rescues those whose execution is dead, compares the
// machines with our labels at the providers with the table, and stops webhooks that have failed for days.
import { findOperation, removeOpenMarker, recordCheck, openOperations } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { serverRef } from "../../shared/records/servers.ts";
import { disableAllFailing } from "../../shared/records/webhooks.ts";
import { emptyShards } from "../../shared/data/shards.ts";
import { find } from "../../shared/data/table.ts";
import { isKnownOperation, isOpen, LIFECYCLE, OPERATION, workflowOf } from "../../shared/domain/lifecycle.ts";
import { providers } from "../../shared/providers/index.ts";
import type { LabeledMachine, Provider } from "../../shared/providers/provider.ts";
import { concurrentlyLogged, inParts } from "../../shared/runtime/concurrently-logged.ts";
import { findExecution } from "../../shared/runtime/executions.ts";
import { log } from "../../shared/platform/log.ts";
import { runPaced } from "../../shared/runtime/paced.ts";
import { publish } from "../../shared/platform/publish-metric.ts";
import { rescue } from "../../shared/runtime/rescue.ts";
import { startExecution } from "../../shared/runtime/start.ts";
import { rescueName } from "../../shared/domain/workflow.ts";

/** Younger ones are just being started. */
const START_SECONDS = 60;
/** Younger machines may belong to an operation that has not recorded them yet. */
const ORPHAN_MINUTES = 30;
const AT_ONCE = 10;
/**
 * A check takes up to two DescribeExecution calls. AWS allows 10 a second (15 in some regions), after a burst of 250, for all
 * callers of the account: this uses at most 100 at once and 8 a second. The next sweep first checks what is left when time is up,
 * a minute before it starts.
 */
const PACE = { burst: 50, perSecond: 4, seconds: 240, atOnce: AT_ONCE };

export const handler = (): Promise<void> =>
  inParts({ operations: checkOperations, machines: compareMachines, counts: emptyShards, webhooks: disableAllFailing });

/** A time that cannot be read counts as old: otherwise nobody would ever look. */
const olderThan = (createdAt: string, seconds: number): boolean => !(Date.parse(createdAt) >= Date.now() - seconds * 1000);

type Open = Awaited<ReturnType<typeof openOperations>>[number];

async function checkOperations(): Promise<void> {
  const open = await openOperations();
  const dueForCheck = open.filter(({ createdAt }) => olderThan(createdAt, START_SECONDS));
  const unchecked = await runPaced(dueForCheck, PACE, checkOperation, ({ accountId, id }) => ({
    account: accountId,
    operation: id,
  }));
  if (unchecked > 0)
    log.warn("the sweep could not check every open operation in one run", { open: dueForCheck.length, left: unchecked });
}

async function checkOperation({ accountId, id }: Open): Promise<void> {
  const operation = await findOperation(accountId, id);
  if (operation !== undefined && !isKnownOperation(operation)) {
    await recordCheck(id);
    log.warn("left an operation to the newer version that began it", { operation: id, account: accountId, type: operation.type });
    return;
  }
  if (operation === undefined || !isOpen(operation.state)) return removeOpenMarker(id);
  await recordCheck(id);
  const [first, second] = [id, rescueName(id)];
  const execution = await findExecution(workflowOf(operation.type), first);
  if (execution?.running) return;
  if (execution === undefined && operation.state === OPERATION.pending) {
    log.warn("starting an operation that was recorded but never started", { operation: id, account: accountId });
    return startExecution(workflowOf(operation.type), first, operation.input);
  }
  const rescuer = await findExecution(workflowOf(operation.type), second);
  if (rescuer?.running) return;
  // An operation ends before its execution does, so only a read after the execution's end is reliable.
  const current = await findOperation(accountId, id);
  if (current === undefined) return;
  if (rescuer !== undefined) return rescue(current, { name: second, error: rescuer.error });
  return rescue(current, { name: first, error: execution?.error ?? VANISHED });
}
const VANISHED = { Error: "Unknown", Cause: "The execution does not exist" };

const compareMachines = async (): Promise<void> =>
  concurrentlyLogged(AT_ONCE, await providers(), compare, ({ code }) => ({ provider: code }));

async function compare(provider: Provider): Promise<void> {
  const machines = await provider.listMachines();
  const old = machines.filter(({ created_at }) => olderThan(created_at, ORPHAN_MINUTES * 60));
  let orphans = 0;
  const count = async (machine: LabeledMachine): Promise<void> => {
    if (await isOrphan(provider, machine)) orphans += 1;
  };
  await concurrentlyLogged(AT_ONCE, old, count, ({ account_id, server_id }) => ({ account: account_id, server: server_id }));
  publish("OrphanMachines", orphans);
}

/**
 * A machine without a record. It is deleted if the table has the operation that created it, which proves that it is not in use:
 * the creation failed, its server was deleted, or it exists twice. Otherwise the table lacks something, and a person has to
 * check.
 */
async function isOrphan(provider: Provider, machine: LabeledMachine): Promise<boolean> {
  const { account_id, server_id, machine_id, operation_id } = machine;
  const [server, creation] = await Promise.all([find(serverRef(account_id, server_id)), findOperation(account_id, operation_id)]);
  // A failed creation has released its machine, or was about to.
  const used = server === undefined || server.state === LIFECYCLE["server.create"].failed ? null : server.machine_id;
  if (used === machine_id) return false;
  const working = server && (await findHolder(server));
  if ([creation, working].some((operation) => operation !== undefined && isOpen(operation.state))) return false;
  const removed = creation !== undefined;
  log.error("the provider has a machine without a record", { provider: provider.code, removed, machine });
  if (!removed) return true;
  if (used === null) await provider.releaseMachine({ server_id, account_id, machine_id });
  else await provider.releaseOthers({ server_id, account_id, machine_id: used });
  return true;
}

const findHolder = async ({ account_id, operation_id }: ServerRecord): Promise<OperationRecord | undefined> =>
  operation_id === null ? undefined : findOperation(account_id, operation_id);
