// Every minute: starts the backups and restore drills that policies have due, removes what their rules no longer keep, and finds out which instances are
// overdue. It reads only the policies for which there is something to do.
import { ApiError } from "../../shared/api/errors.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { waitingBackup } from "../../shared/data/backups.ts";
import { now, Overtaken } from "../../shared/data/change.ts";
import { instanceRef, requireAllowed } from "../../shared/data/instances.ts";
import { keyString } from "../../shared/data/keys.ts";
import { duePolicies, startOf } from "../../shared/data/policies.ts";
import {
  applyRetention,
  becomeOverdue,
  beginDueDrill,
  beginRun,
  dueRun,
  holdRun,
  isHeldTooLong,
  postponeDrill,
  skipRun,
  type Subject,
  waitForPlace,
  waitsUntil,
} from "../../shared/data/policy-runs.ts";
import { type DueRun, InstanceRecord, type OperationRecord, type PolicyRecord, ServerRecord } from "../../shared/data/records.ts";
import { NoPlace, requireUsable, serverRef } from "../../shared/data/servers.ts";
import { ConditionFailed, readAll } from "../../shared/data/table.ts";
import { workflowOf } from "../../shared/domain/lifecycle.ts";
import { SCHEDULED_AT_ONCE } from "../../shared/domain/limits.ts";
import { log } from "../../shared/platform/log.ts";
import { publish } from "../../shared/platform/metrics.ts";
import { concurrently } from "../../shared/runtime/concurrently.ts";
import { startExecution } from "../../shared/runtime/start.ts";

/** Accounts at once. The policies of one account come one after the other: each run writes the account's counters. */
const ACCOUNTS_AT_ONCE = 20;
/** The next run of this function continues with what is left then. */
const SECONDS_MAX = 50;

export const handler = async (): Promise<void> => {
  const began = Date.now();
  const due = await duePolicies(now());
  let overdue = 0;
  await concurrently(ACCOUNTS_AT_ONCE, [...Map.groupBy(due, ({ account_id }) => account_id)], async ([accountId, policies]) => {
    overdue += await runAccount(accountId, policies, () => Date.now() - began > SECONDS_MAX * 1000);
  });
  if (overdue > 0) publish("BackupsOverdue", overdue);
};

/** How many of the account's instances have become overdue. */
async function runAccount(accountId: string, policies: readonly PolicyRecord[], isLate: () => boolean): Promise<number> {
  const refs = policies.flatMap(({ instance_id, server_id }) => [
    instanceRef(accountId, instance_id).key,
    serverRef(accountId, server_id).key,
  ]);
  const [account, items] = await Promise.all([getAccount(accountId), readAll(refs)]);
  const servers = new Map<string, ServerRecord | undefined>();
  let overdue = 0;
  const all = policies.map((policy) => async (): Promise<void> => {
    if (isLate()) return;
    const found = items.get(keyString(instanceRef(accountId, policy.instance_id).key));
    if (found === undefined) return; // deleted since; its policy is gone with it
    const instance = InstanceRecord.parse(found);
    const server = servers.get(policy.server_id) ?? serverIn(items, accountId, policy.server_id);
    servers.set(policy.server_id, server);
    if (await run({ account, instance, policy }, server).catch(ignoreOvertaken)) overdue += 1;
  });
  await concurrently(1, all, (each) => each());
  return overdue;
}

function serverIn(items: ReadonlyMap<string, Record<string, unknown>>, accountId: string, id: string): ServerRecord | undefined {
  const item = items.get(keyString(serverRef(accountId, id).key));
  return item && ServerRecord.parse(item);
}

/** Another function, or a person, has moved the policy: whatever there is to do now, the next minute sees. */
function ignoreOvertaken(error: unknown): false {
  if (!(error instanceof Overtaken || error instanceof ConditionFailed)) throw error;
  log.info("a backup policy was moved in the meantime", { reason: error.message });
  return false;
}

/** Does for a policy what there is to do now; true if its instance has become overdue. */
async function run(subject: Subject, server: ServerRecord | undefined): Promise<boolean> {
  const at = now();
  const due = dueRun(subject.policy, at);
  const moved = due === undefined ? subject.policy : await move(subject, server, due, at);
  const policy = await drill({ ...subject, policy: moved }, at);
  if (policy.retain) await applyRetention({ ...subject, policy }, start);
  else if (policy.overdue_at !== null && policy.overdue_at <= at) {
    const after = await becomeOverdue({ ...subject, policy }, at);
    return after?.overdue_at === null && subject.instance.protection_status !== "overdue";
  }
  return false;
}

/** Starts a due run, or keeps it, or gives it up; the policy as it is then. */
async function move(subject: Subject, server: ServerRecord | undefined, due: DueRun, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  const next = startOf(policy);
  if (policy.due !== null && next !== undefined && next <= at)
    return skipRun(subject, due, "The next run was due before this one could start", at);
  if (isHeldTooLong(due, at)) return skipRun(subject, due, heldReason(subject, server) ?? "It could not start for an hour", at);
  if (server !== undefined && server.scheduled_backups >= SCHEDULED_AT_ONCE) return wait(subject, due, at);
  try {
    if (server === undefined) throw new Error(`Server ${policy.server_id} does not exist`);
    requireUsable(server);
    const { policy: saved, operation } = await beginRun(subject, due, await waitingBackup(policy), at);
    server.scheduled_backups += 1;
    await start(operation);
    return saved;
  } catch (error) {
    if (error instanceof NoPlace) return wait(subject, due, at);
    if (error instanceof Overtaken || !(error instanceof ApiError)) throw error;
    return due.held_since === null ? holdRun(subject, due, at) : policy;
  }
}

/** Why the run cannot start now; undefined if it could. */
function heldReason({ instance }: Subject, server: ServerRecord | undefined): string | undefined {
  try {
    requireAllowed(instance, "backup");
    if (server !== undefined) requireUsable(server);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
}

async function wait(subject: Subject, due: DueRun, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  if (due.backup_id === null) return waitForPlace(subject, due, at);
  if (policy.next_run_at !== null && waitsUntil(due, policy.next_run_at) <= at)
    return skipRun(subject, due, "The server had no place for another scheduled backup until an hour before the next run", at);
  return policy;
}

/** Begins the restore drill that is due, or tries again later; the policy as it is then. */
async function drill(subject: Subject, at: string): Promise<PolicyRecord> {
  const { policy } = subject;
  if (policy.drill_at === null || policy.drill_at > at) return policy;
  try {
    const begun = await beginDueDrill(subject, at);
    if (begun === undefined) return await postponeDrill(subject, at);
    await start(begun.operation);
    return begun.policy;
  } catch (error) {
    if (error instanceof Overtaken || !(error instanceof ApiError)) throw error;
    return postponeDrill(subject, at);
  }
}

async function start(operation: OperationRecord): Promise<void> {
  try {
    await startExecution(workflowOf(operation.type), operation.id, operation.input);
  } catch (error) {
    // The sweep starts it.
    log.error("could not start a scheduled operation", {
      operation: operation.id,
      error: error instanceof Error ? error : undefined,
    });
  }
}
