// Bulk actions in the table. What the request fixed is written with the operation: the action, and the selection in parts. Each
// resource has an item of its own from its turn on, so that its outcome costs one small write, and two runs that meet overwrite
// nothing.
import type { BulkResult, OperationItem } from "../api/operations.ts";
import { notControllable, tooManyBulks } from "../api/errors.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { queryAll, updateOne } from "../data/table.ts";
import { isOpen, ITEM, type ItemStatus, OPERATION, type ResourceType } from "../domain/lifecycle.ts";
import { BULK, HISTORY_DAYS } from "../domain/limits.ts";
import type { Ending } from "./ending.ts";
import { type Author, logEvent } from "./events.ts";
import { findOperation, reserveOperation } from "./operations.ts";
import { BulkPart, BulkRecord, BulkRow, type BulkTarget } from "./schemas/bulk.ts";
import type { OperationRecord } from "./schemas/operation.ts";
import { DAY_SECONDS } from "../domain/durations.ts";
import { ttlAfter } from "../data/ttl.ts";

/** Targets of one item: 35 KB with the longest names. */
const PART = 100;

interface NewBulk extends BulkRecord {
  id: string;
  accountName: string;
  targets: readonly BulkTarget[];
}

/** Begins a bulk action with the change. */
export function reserveBulk(change: Change, by: Author, { id, accountName, targets, ...bulk }: NewBulk): OperationRecord {
  const { accountId } = change;
  const ttl = ttlAfter(HISTORY_DAYS * DAY_SECONDS, Date.parse(change.at));
  change.update(keys.bulkActions(accountId), { add: { count: 1 } }, { exists: false, below: { count: BULK.open } }, () =>
    tooManyBulks(BULK.open),
  );
  change.put(keys.bulkAction(accountId, id), { ...bulk, ttl });
  for (let from = 0; from < targets.length; from += PART)
    change.put(keys.bulkPart(accountId, id, from / PART), { targets: targets.slice(from, from + PART), ttl });
  const { action, type, parameters } = bulk;
  const total = targets.length;
  return reserveOperation(change, by, {
    id,
    type: "bulk.run",
    resource: { type: "account", id: accountId, name: accountName },
    result: {
      bulk: { action, type, parameters, total, waiting: total, running: 0, succeeded: 0, failed: 0, cancelled: 0 },
      control: "run",
    },
  });
}

/** A bulk action has ended, or was withdrawn: the account may begin another one. */
export async function endBulk(change: Change, { operation, withdrawn }: Ending): Promise<void> {
  const { account_id, id } = operation;
  change.update(keys.bulkActions(account_id), { add: { count: -1 } });
  if (withdrawn) for (const key of await keysOfBulk(account_id, id)) change.remove(key);
}

async function keysOfBulk(accountId: string, id: string) {
  const items = await queryAll(keys.bulkItems(accountId, id), { consistent: true });
  return items.map((item) => ({ pk: String(item["pk"]), sk: String(item["sk"]) }));
}

/** A resource of a bulk action, by its index in the selection. */
export interface BulkItem extends BulkTarget, BulkRow {
  index: number;
}

const WAITING: BulkRow = { status: ITEM.waiting, operation_id: null, error: null };

/** A bulk action with its resources, in the order of the selection; undefined if there is none. */
export async function findBulk(
  accountId: string,
  id: string,
  { consistent = false }: { consistent?: boolean } = {},
): Promise<{ bulk: BulkRecord; items: BulkItem[] } | undefined> {
  const stored = await queryAll(keys.bulkItems(accountId, id), { consistent });
  const [main, ...others] = stored; // its key is the first
  if (main === undefined) return undefined;
  const rows = new Map<number, BulkRow>();
  const targets: BulkTarget[] = [];
  for (const item of others) {
    const index = keys.indexOfBulkRow(String(item["sk"]));
    if (index === undefined) targets.push(...BulkPart.parse(item).targets);
    else rows.set(index, BulkRow.parse(item));
  }
  return {
    bulk: BulkRecord.parse(main),
    items: targets.map((target, index) => ({ index, ...target, ...(rows.get(index) ?? WAITING) })),
  };
}

/** Writes what has become of a resource, unless another run of the same task has written something else since; false then. */
export async function moveBulkItem(
  { account_id, id, created_at }: OperationRecord,
  item: BulkItem,
  to: Partial<BulkRow>,
): Promise<boolean> {
  const ttl = ttlAfter(HISTORY_DAYS * DAY_SECONDS, Date.parse(created_at));
  const { status } = item;
  const { done, item: current } = await updateOne(
    keys.bulkRow(account_id, id, item.index),
    { set: { status, ...to, ttl } },
    { exists: false, ...(status === ITEM.waiting ? { unchanged: { status } } : { equals: { status } }) },
  );
  Object.assign(item, current === undefined ? {} : BulkRow.parse(current));
  return done;
}

/** How many resources have come how far. */
export function countItems(items: readonly BulkRow[]): Record<ItemStatus, number> {
  const counts: Record<ItemStatus, number> = { waiting: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const { status } of items) if (Object.hasOwn(counts, status)) counts[status] += 1;
  return counts;
}

const RECORD_TRIES = 5;

/** Shows how far a bulk action is, unless it has ended. */
export async function recordProgress(operation: OperationRecord, bulk: BulkResult): Promise<void> {
  const { account_id, id } = operation;
  let current: OperationRecord | undefined = operation;
  for (let attempt = 1; current !== undefined && attempt <= RECORD_TRIES; attempt++) {
    const { result } = current;
    const ended = bulk.succeeded + bulk.failed + bulk.cancelled;
    const progress = Math.min(99, Math.max(5, Math.floor((100 * ended) / bulk.total)));
    const { done } = await updateOne(
      keys.record("operation", account_id, id),
      { set: { result: { ...result, bulk }, progress } },
      { equals: { state: OPERATION.running, result } },
    );
    if (done) return;
    current = await findOperation(account_id, id); // somebody has paused it meanwhile, or it has ended
    if (current === undefined || !isOpen(current.state)) return;
  }
}

const CONTROLS = { pause: "pause", resume: "run", cancel: "cancel" } as const;

/** Pauses a bulk action, resumes it, or cancels what has not begun; the operation as it is then. */
export function controlBulk(
  change: Change,
  by: Author,
  operation: OperationRecord,
  action: keyof typeof CONTROLS,
): OperationRecord {
  const { result, state, resource } = operation;
  if (result?.bulk === undefined || !isOpen(state) || (result.control === "cancel" && action !== "cancel"))
    throw notControllable(state);
  const controlled = { ...operation, result: { ...result, control: CONTROLS[action] } };
  change.update(
    keys.record("operation", change.accountId, operation.id),
    { set: { result: controlled.result } },
    { equals: { state, result } },
    () => new Overtaken("The operation has changed at the same time; try again", operation.id),
  );
  logEvent(change, by, `bulk.${action}`, { ...resource, name: resource.name ?? null });
  return controlled;
}

/** What is shown of a resource. After the end of the operation nothing waits any more, however it ended. */
export const toOperationItem = (
  type: ResourceType,
  { id, name, status, operation_id, error }: BulkItem,
  open: boolean,
): OperationItem => ({
  resource: { type, id, name },
  status: !open && status === ITEM.waiting ? ITEM.cancelled : status,
  operation_id,
  error,
});
