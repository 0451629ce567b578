// What becomes of pushes, as the schedule moves them: a check of the instance's code, then a deploy if a ref has another commit
// than the deployed one. Each makes one change, which needs the push as it was read; a newer one is seen a minute later.
import { ApiError } from "../../api/errors.ts";
import type { OperationOutcome } from "../../api/events.ts";
import { type Change, now, Overtaken, startChange } from "../../data/change.ts";
import type { Where } from "../../data/expressions.ts";
import { keys } from "../../data/keys.ts";
import { read } from "../../data/table.ts";
import { newId } from "../../domain/ids.ts";
import { isOpen, OPERATION } from "../../domain/lifecycle.ts";
import { PUSH } from "../../domain/limits.ts";
import { getAccount } from "../../records/accounts.ts";
import { codeRef, isCommitOf } from "../../records/code.ts";
import type { PushRecord } from "../../records/deploy-hooks.ts";
import { logOutcome } from "../../records/events.ts";
import { toOutcome } from "../../records/outcomes.ts";
import { instanceRef, requireAllowed, requireServerUsable } from "../../records/instances.ts";
import { findOperation, findOperationCore } from "../../records/operations.ts";
import type { CodeRecord } from "../../records/schemas/code.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { OperationRecord } from "../../records/schemas/operation.ts";
import { beginCheck, beginDeploy } from "./begin-code-work.ts";
import { MINUTE_MS } from "../../domain/durations.ts";

/** The author of what pushes lead to. */
const HOOK = { actor: { type: "hook", id: "hook", name: "Deploy hook" }, requestId: "deploy-hook" } as const;

interface Subject {
  push: PushRecord;
  instance: InstanceRecord;
  code: CodeRecord;
}

/** Does for a push what there is to do now, and returns the operation that this has begun. */
export async function runPush(push: PushRecord): Promise<OperationRecord | undefined> {
  const { account_id, instance_id, check_id } = push;
  const check = check_id === null ? undefined : await findOperationCore(account_id, check_id);
  if (check !== undefined && isOpen(check.state)) return undefined;
  // These are read after the check, whose commits are on the code before it ends.
  const { instance, code } = await read({
    instance: instanceRef(account_id, instance_id),
    code: codeRef(account_id, instance_id),
  });
  if (instance === undefined || code?.auto_deploy !== "push" || code.hook_hash === null) return removePush(push);
  const subject = { push, instance, code };
  const isChecked = check?.state === OPERATION.succeeded;
  if (isChecked && hasNewCommit(code)) return holdIfBusy(subject, deploy);
  if (push.checked_push !== push.pushed_at) return holdIfBusy(subject, checkAgain);
  const outcome = isChecked ? await findProblem(push) : undefined; // a check that failed says so itself
  return outcome === undefined ? removePush(push) : dropPush(push, instance, outcome);
}

/** Whether a ref was another commit than the deployed one when it was checked. */
const hasNewCommit = ({ repositories, checked, deployed }: CodeRecord): boolean =>
  repositories.some((repository) => {
    const { url, path } = repository;
    const newest = checked.find(isCommitOf(repository))?.commit;
    const deployedCommit = deployed?.commits.find((each) => each.url === url && each.path === path)?.commit;
    return newest !== undefined && newest !== deployedCommit;
  });

/** What the check of a push has found first, as its outcome. */
async function findProblem({ account_id, check_id }: PushRecord): Promise<OperationOutcome | undefined> {
  const check = check_id === null ? undefined : await findOperation(account_id, check_id);
  const [problem] = check?.result?.code?.problems ?? [];
  if (check === undefined || problem === undefined) return undefined;
  const { code, message, reason } = problem;
  return toOutcome({ ...check, finished_at: check.finished_at ?? now(), error: { code, message, reason } });
}

const asRead = ({ pushed_at, check_id, held_since }: PushRecord): Where => ({
  equals: { pushed_at },
  unchanged: { check_id, held_since },
});
const overtaken =
  ({ instance_id }: PushRecord) =>
  () =>
    new Overtaken("Another push came at the same time", instance_id);

const endPush = (change: Change, push: PushRecord): void =>
  change.remove(keys.push(push.instance_id), asRead(push), overtaken(push));

async function removePush(push: PushRecord): Promise<undefined> {
  const change = startChange({ id: push.account_id });
  endPush(change, push);
  await change.commit();
}

async function checkAgain({ push, instance }: Subject): Promise<OperationRecord> {
  const change = startChange(await getAccount(push.account_id));
  const operation = beginCheck({ change, by: HOOK, operationId: newId("operation") }, instance);
  const set = { check_id: operation.id, checked_push: push.pushed_at, held_since: null };
  change.update(keys.push(push.instance_id), { set }, asRead(push), overtaken(push));
  await change.commit();
  return operation;
}

/** It finds the newest commits itself, so that all pushes until now are done with it. */
async function deploy({ push, instance, code }: Subject): Promise<OperationRecord> {
  const change = startChange(await getAccount(push.account_id));
  requireAllowed(instance, "deploy");
  requireServerUsable(change, instance);
  const { operation } = beginDeploy(
    { change, by: HOOK, operationId: newId("operation") },
    { instance, code },
    { select: "changed", rehearse: true, backup_first: true, update_image: false, note: null },
  );
  endPush(change, push);
  await change.commit();
  return operation;
}

async function holdIfBusy(
  subject: Subject,
  work: (subject: Subject) => Promise<OperationRecord>,
): Promise<OperationRecord | undefined> {
  try {
    return await work(subject);
  } catch (error) {
    if (error instanceof Overtaken || !(error instanceof ApiError) || error.status >= 500) throw error;
    await holdPush(subject);
    return undefined;
  }
}

/** Tries it again later, but not for ever. The time of a deploy that is in progress does not count. */
async function holdPush({ push, instance }: Subject): Promise<void> {
  const { account_id, instance_id, held_since } = push;
  const { operation_id } = instance;
  const holder = operation_id === null ? undefined : await findOperationCore(account_id, operation_id);
  const since = holder?.type === "instance.deploy" ? null : (held_since ?? now());
  if (since !== null && Date.parse(since) + PUSH.triedMinutes * MINUTE_MS <= Date.now()) return dropPush(push, instance);
  if (since === held_since) return;
  const change = startChange({ id: account_id });
  change.update(keys.push(instance_id), { set: { held_since: since } }, asRead(push), overtaken(push));
  await change.commit();
}

async function dropPush(push: PushRecord, { id, name }: InstanceRecord, operation?: OperationOutcome): Promise<undefined> {
  const change = startChange(await getAccount(push.account_id));
  endPush(change, push);
  logOutcome(
    change,
    HOOK,
    { type: "code.push_dropped", ...(operation !== undefined && { operation }) },
    { type: "instance", id, name },
  );
  await change.commit();
}
