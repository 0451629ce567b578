// What the step of a bulk action does: it begins the action on some resources at a time, and records how each ends.
//
// Each call of the step works for some minutes, and knows everything from the table: another call may begin where it was killed,
// or run beside it. A request has the same idempotency key each time; one that deletes recognizes its own operation by the
// request ID, which is the bulk action's.
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, mainProblem } from "../../../shared/api/errors.ts";
import { listChildren, newestChildren } from "../../../shared/data/child-lists.ts";
import { returnSlot, tryAcquireSlot } from "../../../shared/data/slots.ts";
import { keys, keyString } from "../../../shared/data/keys.ts";
import { readAll } from "../../../shared/data/table.ts";
import { HOUR_MS, MINUTE_MS } from "../../../shared/domain/durations.ts";
import { isOpen, ITEM, ITEM_STATUSES, type ItemStatus, LIFECYCLE, OPERATION } from "../../../shared/domain/lifecycle.ts";
import { BULK, LISTED_MAX } from "../../../shared/domain/limits.ts";
import { recognizeProblem } from "../../../shared/domain/problems.ts";
import { because, inEnglish, type Reason } from "../../../shared/domain/reasons.ts";
import { currentPermissions } from "../../../shared/operations/credentials/admission.ts";
import { concurrently } from "../../../shared/platform/concurrently.ts";
import { log } from "../../../shared/platform/log.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import { type BulkItem, countItems, findBulk, moveBulkItem, recordProgress } from "../../../shared/records/bulk.ts";
import { findOperation } from "../../../shared/records/operations.ts";
import { BackupRecord } from "../../../shared/records/schemas/backup.ts";
import type { BulkRecord, BulkRow } from "../../../shared/records/schemas/bulk.ts";
import { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import type { Caller } from "../../../shared/records/schemas/caller.ts";
import type { InProcessResponse } from "../../../shared/runtime/in-process.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import { actionOf, deletingBackup, operationBegun } from "./calls.ts";
import workflow from "./workflow.ts";

/** How long one call works: less than the five minutes that it may take. The next one begins within a minute. */
const CALL_SECONDS = 200;
const ROUND_MS = 1_000;
/** The pause before a resource that another operation holds is tried again. */
const AGAIN_MS = 10_000;
/** Tries to delete one backup in one call. */
const DELETION_TRIES = 3;
const WRITES_AT_ONCE = 10;
/** Among so many of a resource's newest operations is the one that this bulk action began, if it began one. */
const LOOK_BACK = 20;

/** One call of the step. */
interface Run {
  operation: OperationRecord;
  bulk: BulkRecord;
  items: BulkItem[];
  action: ReturnType<typeof actionOf>;
  /** The times, by item index, at which resources that are held are tried again, or the backups of deleted ones. */
  againAt: Map<number, number>;
  /** How often this call has tried to delete a backup. */
  tries: Map<string, number>;
}

export const handler = tasks(workflow, {
  runItems: async ({ operation }) => {
    const bulkAction = await findBulk(operation.account_id, operation.id, { consistent: true });
    if (bulkAction === undefined) throw new Error(`The bulk action ${operation.id} has no items`);
    const run: Run = { operation, ...bulkAction, action: actionOf(bulkAction.bulk), againAt: new Map(), tries: new Map() };
    const until = Date.now() + CALL_SECONDS * 1000;
    while (Date.now() < until) {
      const progress = await runRound(run);
      if (progress === "ended") return true;
      if (progress === "idle") return false;
      if (progress === "busy") await sleep(ROUND_MS);
    }
    return false;
  },
});

/**
 * Looks at what runs, and begins what may; `begun` if there may be more to begin at once, `idle` if there is nothing to wait for
 * soon.
 */
async function runRound(run: Run): Promise<"ended" | "begun" | "busy" | "idle"> {
  const operation = await findOperation(run.operation.account_id, run.operation.id);
  if (operation === undefined || !isOpen(operation.state)) return "ended";
  run.operation = operation;
  for (const item of withStatus(run, ITEM.running)) await followItem(run, item);
  const control = operation.result?.control;
  if (control === "cancel") await cancelRest(run, because("bulk_cancelled"));
  else if (hasFailedTooOften(run)) await cancelRest(run, because("bulk_stopped", { count: withStatus(run, ITEM.failed).length }));
  else if (isExpired(operation)) await cancelRest(run, because("bulk_expired", { hours: BULK.hours }));
  const begunCount = control === "pause" ? 0 : await beginItems(run);
  await recordCounts(run);
  if (withStatus(run, ITEM.waiting).length + withStatus(run, ITEM.running).length === 0) {
    if (control === "cancel") throw new GiveUp("CANCELLED", because("bulk_cancelled"));
    return "ended";
  }
  if (begunCount > 0) return "begun";
  const canBegin = control !== "pause" && withStatus(run, ITEM.waiting).some(({ index }) => !run.againAt.has(index));
  return canBegin || withStatus(run, ITEM.running).length > 0 ? "busy" : "idle";
}

const isExpired = ({ created_at }: OperationRecord): boolean => Date.now() - Date.parse(created_at) >= BULK.hours * HOUR_MS;

const withStatus = ({ items }: Run, status: ItemStatus): BulkItem[] => items.filter((item) => item.status === status);

async function recordCounts({ operation, bulk: { action, type, parameters }, items }: Run): Promise<void> {
  const counts = countItems(items);
  const recorded = operation.result?.bulk;
  if (recorded !== undefined && ITEM_STATUSES.every((status) => recorded[status] === counts[status])) return;
  await recordProgress(operation, { action, type, parameters, total: items.length, ...counts });
}

const errorOf = (code: string, reason: Reason): BulkRow["error"] => ({ code, message: inEnglish(reason), reason });

const cancelRest = (run: Run, reason: Reason): Promise<void> =>
  concurrently(WRITES_AT_ONCE, withStatus(run, ITEM.waiting), (item) => cancelItem(run, item, errorOf("CANCELLED", reason)));

/** What has begun goes on, also if the call that began it was killed before it noted that. */
async function cancelItem({ operation, action }: Run, item: BulkItem, error: BulkRow["error"]): Promise<void> {
  const list = { kind: "operation", accountId: operation.account_id, schema: OperationRecord } as const;
  const newest = action.begins ? await newestChildren(list, item.id, LOOK_BACK) : [];
  const startedOperation = newest.find((each) => each.request_id === operation.id && isOn(each, item));
  if (startedOperation === undefined) await moveBulkItem(operation, item, { status: ITEM.cancelled, error });
  else await moveBulkItem(operation, item, { status: ITEM.running, operation_id: startedOperation.id, error: null });
}

const hasFailedTooOften = ({ items, bulk: { stop_after_failures = Infinity } }: Run): boolean =>
  countItems(items).failed >= stop_after_failures;

/** Begins the action on as many resources as may run at once; how many. */
async function beginItems(run: Run): Promise<number> {
  let begunCount = 0;
  for (const item of withStatus(run, ITEM.waiting)) {
    if (hasFailedTooOften(run)) break;
    // No server has work with the backups of what is deleted, and those that are held are only waited for.
    const running = withStatus(run, ITEM.running).filter(({ backups_held_since }) => backups_held_since === undefined);
    if (running.length >= BULK.atOnce || begunCount >= BULK.atOnce) break;
    if ((run.againAt.get(item.index) ?? 0) > Date.now()) continue;
    const onServer =
      item.server_id === null
        ? []
        : running.filter(({ server_id, stage }) => server_id === item.server_id && stage === undefined);
    if (onServer.length >= (run.action.perServer ?? BULK.perServer)) continue;
    run.againAt.delete(item.index);
    if (!(await begin(run, item))) break;
    if (item.status !== ITEM.waiting) begunCount += 1;
  }
  return begunCount;
}

const DELETED = "deleted";

/** Lets the account's bulk actions delete something now; what gives that back if nothing is, and undefined if they may not. */
async function reserveDeletion(accountId: string): Promise<(() => Promise<void>) | undefined> {
  const key = keys.bulkDeletions(accountId);
  const at = Date.now();
  const wait = await tryAcquireSlot(key, { name: DELETED, slots: BULK.deletionsPerMinute, windowMs: MINUTE_MS, at });
  return wait === undefined ? () => returnSlot(key, at, DELETED) : undefined;
}

/** The starter as a caller, with what they may do now; undefined if they may no longer do this. */
async function permittedCaller({ bulk: { caller }, action }: Run): Promise<Caller | undefined> {
  const permissions = await currentPermissions(caller);
  return action.permissions.every((each) => permissions.includes(each)) ? { ...caller, permissions } : undefined;
}

/** False if the account may delete nothing more now. */
async function begin(run: Run, item: BulkItem): Promise<boolean> {
  const { operation, bulk, action } = run;
  const caller = await permittedCaller(run);
  if (caller === undefined) {
    await cancelItem(run, item, errorOf("FORBIDDEN", because("starter_lost_permission")));
    return true;
  }
  const giveBack = action.paced ? await reserveDeletion(operation.account_id) : async () => undefined;
  if (giveBack === undefined) return false;
  const response = await callOrError(() => action.call(requestFor(run, caller, item.id), bulk.parameters));
  if ("data" in response) {
    const operation_id = action.begins ? operationBegun(response.data) : null;
    await moveBulkItem(operation, item, { status: action.begins ? ITEM.running : ITEM.succeeded, operation_id, error: null });
  } else {
    await giveBack();
    await settleItem(run, item, response.error);
  }
  return true;
}

/** What becomes of a resource on which nothing was begun. */
async function settleItem(run: Run, item: BulkItem, error: ResponseError): Promise<void> {
  const { operation, action } = run;
  const { code, details } = error;
  if (code === "NOT_FOUND" && action.removes) return afterDeletion(run, item);
  const startedOperation = code === "OPERATION_IN_PROGRESS" ? await ownOperation(run, details?.["operation_id"]) : undefined;
  if (startedOperation === undefined) return failOrWait(run, item, error);
  if (!isOn(startedOperation, item)) return waitForTurn(run, item);
  await moveBulkItem(operation, item, { status: ITEM.running, operation_id: startedOperation.id, error: null });
}

type ResponseError = Extract<InProcessResponse, { error: unknown }>["error"];

/** Builds a request with no more permissions than readers of the items need: its error is stored in its caller's words. */
const requestFor = ({ operation, bulk, action }: Run, caller: Caller, id: string) => ({
  caller: {
    ...caller,
    permissions: caller.permissions.filter((each) => each === `${bulk.type}s:read` || action.permissions.includes(each)),
  },
  requestId: operation.id,
  id,
  idempotencyKey: `bulk:${operation.id}:${id}`,
});

/** Errors before the handler, of a record that is gone, are responses like any other. */
async function callOrError(call: () => Promise<InProcessResponse>): Promise<InProcessResponse> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error: { code: error.code, message: error.message } };
  } finally {
    log.setKeys({ request_id: undefined, endpoint: undefined, credential: undefined, ip_address: undefined });
  }
}

/** The operation that is in the way, if this bulk action began it: on the same resource in an earlier try, or on another. */
async function ownOperation({ operation: { id, account_id } }: Run, holder: unknown): Promise<OperationRecord | undefined> {
  const holdingOperation = typeof holder === "string" ? await findOperation(account_id, holder) : undefined;
  return holdingOperation?.request_id === id ? holdingOperation : undefined;
}

const isOn = ({ resource, holds }: OperationRecord, { id }: BulkItem): boolean =>
  [resource, ...holds].some((each) => each.id === id);

/** What only this bulk action itself keeps waiting is not held: if others have held it before, its hour begins anew. */
async function waitForTurn({ operation, againAt }: Run, item: BulkItem): Promise<void> {
  againAt.set(item.index, Date.now() + AGAIN_MS);
  if (item.held_since !== undefined) await moveBulkItem(operation, item, { held_since: new Date().toISOString() });
}

/** What passes, or what others may end. */
const PASSING: ReadonlySet<string> = new Set([
  "OPERATION_IN_PROGRESS",
  "IDEMPOTENCY_IN_PROGRESS",
  "PRECONDITION_FAILED",
  "CONFLICT",
  "SERVICE_UNAVAILABLE",
]);

const isHeldTooLong = (since: string): boolean => Date.now() - Date.parse(since) >= BULK.heldMinutes * MINUTE_MS;

async function failOrWait({ operation, againAt }: Run, item: BulkItem, response: ResponseError): Promise<void> {
  const { code } = response;
  const { message, recognizable } = mainProblem(response);
  const error = { code, message, reason: recognizeProblem(recognizable) };
  const held_since = item.held_since ?? new Date().toISOString();
  if (!PASSING.has(code) || isHeldTooLong(held_since)) {
    await moveBulkItem(operation, item, { status: ITEM.failed, error });
    return;
  }
  againAt.set(item.index, Date.now() + AGAIN_MS);
  if (item.held_since === undefined) await moveBulkItem(operation, item, { held_since, error });
}

/** What has become of the action on a resource that it had begun on. */
async function followItem(run: Run, item: BulkItem): Promise<void> {
  if (item.stage === "backups") return deleteBackups(run, item);
  const itemOperation = item.operation_id === null ? undefined : await findOperation(run.operation.account_id, item.operation_id);
  if (itemOperation !== undefined && isOpen(itemOperation.state)) return;
  if (itemOperation?.state === OPERATION.succeeded) return run.action.paced ? afterDeletion(run, item) : succeedItem(run, item);
  const error = itemOperation?.error ?? errorOf("INTERNAL_ERROR", because("internal_error"));
  await moveBulkItem(run.operation, item, { status: ITEM.failed, error: error && { ...error, reason: error.reason ?? null } });
}

async function succeedItem({ operation }: Run, item: BulkItem): Promise<void> {
  await moveBulkItem(operation, item, { status: ITEM.succeeded, error: null });
}

async function afterDeletion(run: Run, item: BulkItem): Promise<void> {
  const { type, parameters } = run.bulk;
  if (type !== "instance" || parameters["with_backups"] !== true) return succeedItem(run, item);
  await moveBulkItem(run.operation, item, { status: ITEM.running, stage: "backups", error: null });
}

/** Deletes the backups of a deleted instance, at the pace of deletions. */
async function deleteBackups(run: Run, item: BulkItem): Promise<void> {
  const { operation, againAt } = run;
  if ((againAt.get(item.index) ?? 0) > Date.now()) return;
  const caller = await permittedCaller(run);
  const count: Record<DeletionOutcome, number> = { begun: 0, paced: 0, held: 0, left: 0 };
  for (const backup of await backupsOf(operation.account_id, item.id))
    count[await tryDeleting(run, caller, backup, count.paced === 0)] += 1;
  if (count.held + count.paced > 0) againAt.set(item.index, Date.now() + AGAIN_MS);
  if (count.begun + count.paced > 0) return;
  if (count.held > 0) {
    // Their hour begins when all others are gone, which have a pace of their own.
    const held_since = item.backups_held_since ?? new Date().toISOString();
    if (item.backups_held_since === undefined) await moveBulkItem(operation, item, { backups_held_since: held_since });
    if (!isHeldTooLong(held_since)) return;
  }
  const remainingCount = count.held + count.left;
  if (remainingCount === 0) return succeedItem(run, item);
  const [status, error] =
    caller === undefined
      ? [ITEM.cancelled, errorOf("FORBIDDEN", because("starter_lost_permission"))]
      : [ITEM.failed, errorOf("INVALID_STATE", because("backups_left", { count: remainingCount }))];
  await moveBulkItem(operation, item, { status, error });
}

/** `paced`: the account may delete nothing more now; `left`: the backup stays. */
type DeletionOutcome = "begun" | "paced" | "held" | "left";

async function tryDeleting(
  run: Run,
  caller: Caller | undefined,
  backup: BackupRecord,
  mayDelete: boolean,
): Promise<DeletionOutcome> {
  const { operation, tries } = run;
  const tried = tries.get(backup.id) ?? 0;
  if (backup.state === LIFECYCLE["backup.delete"].through) return "begun";
  if (backup.locked || tried >= DELETION_TRIES || caller === undefined || isExpired(operation)) return "left";
  const giveBack = mayDelete ? await reserveDeletion(operation.account_id) : undefined;
  if (giveBack === undefined) return "paced";
  const response = await callOrError(() => deletingBackup(requestFor(run, caller, backup.id), {}));
  if ("data" in response) {
    tries.set(backup.id, tried + 1);
    return "begun";
  }
  await giveBack();
  if (response.error.code === "NOT_FOUND") return "begun"; // somebody else has deleted it: the next list lacks it
  if (PASSING.has(response.error.code)) return "held";
  tries.set(backup.id, DELETION_TRIES);
  return "left";
}

/** Returns an instance's backups as they are now: the list may still show some that are gone. */
async function backupsOf(accountId: string, instanceId: string): Promise<BackupRecord[]> {
  const list = { kind: "backup", accountId, schema: BackupRecord } as const;
  const { items } = await listChildren({ ...list, parentId: instanceId }, { per_page: LISTED_MAX });
  const current = await readAll(items.map(({ id }) => keys.record("backup", accountId, id)));
  return items.flatMap(({ id }) => {
    const item = current.get(keyString(keys.record("backup", accountId, id)));
    return item === undefined ? [] : [BackupRecord.parse(item)];
  });
}
