// Operations: started with the change that needs them, and ended with what their end means for the resource.
import * as z from "zod";
import type { Operation, OperationResult } from "../api/operations.ts";
import type { FieldChange } from "../api/events.ts";
import type { Permission } from "../api/permissions.ts";
import {
  isOpen,
  LIFECYCLE,
  OPEN_STATUSES,
  OPERATION,
  type OperatedType,
  type OperationType,
  RESOURCE_TYPES,
  type ResourceType,
  type State,
  statusOf,
  type Transition,
} from "../domain/lifecycle.ts";
import { reasonIn } from "../domain/reasons.ts";
import { createGetter, listByIds, createRequirement, createRef } from "../data/by-id.ts";
import { type Change, startChange, now } from "../data/change.ts";
import { toActor, type Author, logEvent } from "./events.ts";
import { announceEvent } from "./outbox.ts";
import { keys, type Item } from "../data/keys.ts";
import { listPage } from "../data/lists.ts";
import { About, aboutIn, instanceOf } from "../data/operation-entries.ts";
import { listChildrenWithLinks } from "../data/child-lists.ts";
import type { ByIds, Listed, PageQuery } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import { OperationCore, OperationRecord } from "./schemas/operation.ts";
import { aboutServer, findOperations } from "./operation-search.ts";
import { withReasons } from "./reasons.ts";
import { find, queryAll, removeOne, updateOne } from "../data/table.ts";
import { check } from "../data/writes.ts";

const operationRef = createRef("operation", OperationRecord);
const operationCoreRef = createRef("operation", OperationCore);
export const getOperation = createGetter("operation", operationRef, createRequirement("operation"));

export const findOperation = (accountId: string, id: string): Promise<OperationRecord | undefined> =>
  find(operationRef(accountId, id));

/** The same without what is only shown. */
export const findOperationCore = (accountId: string, id: string): Promise<OperationCore | undefined> =>
  find(operationCoreRef(accountId, id));

export async function listOperations(
  accountId: string,
  {
    ids,
    status,
    resource_id,
    type,
    actor,
    server_id,
    ...page
  }: PageQuery & ByIds & Partial<Record<"status" | "resource_id" | "type" | "actor" | "server_id", string | undefined>>,
): Promise<Listed<OperationRecord>> {
  const list = { kind: "operation", accountId, schema: OperationRecord } as const;
  if (ids !== undefined) return listByIds(list, ids);
  if (resource_id === undefined)
    return (type ?? actor ?? server_id) === undefined
      ? listPage({ ...list, status }, page)
      : findOperations(accountId, { status, type, actor, server_id }, page);
  const isAbout = server_id === undefined ? () => true : await aboutServer(accountId, server_id);
  const keep = (item: Item): boolean => {
    const operation = Filtered.safeParse(item).data;
    return (
      operation !== undefined &&
      operation.state === (status ?? operation.state) &&
      operation.type === (type ?? operation.type) &&
      operation.created_by.id === (actor ?? operation.created_by.id) &&
      isAbout(aboutIn(operation))
    );
  };
  const isFiltered = (status ?? type ?? actor ?? server_id) !== undefined;
  const name = [status, type, actor, ...(server_id === undefined ? [] : [server_id])].map((each) => each ?? "").join("|");
  return listChildrenWithLinks(list, resource_id, page, { keep: isFiltered ? keep : undefined, name });
}

const Filtered = About.extend({ state: z.string(), type: z.string(), created_by: z.object({ id: z.string() }) });

/**
 * What it takes to read an operation that somebody else started: a bulk action is read as what it selects. For a resource that
 * only a newer version knows, the permissions of all that this one knows, as the list of operations needs.
 */
export function permissionsToRead({ resource, result }: Pick<OperationRecord, "resource" | "result">): Permission[] {
  const type = result?.bulk?.type ?? resource.type;
  const matchingTypes = RESOURCE_TYPES.filter((each) => each === type);
  return (matchingTypes.length > 0 ? matchingTypes : RESOURCE_TYPES).map((each) => `${each}s:read` as const);
}

export function toOperation({ state, error, result, ...record }: OperationRecord): Operation {
  return {
    ...record,
    status: state,
    instance_id: instanceOf(record),
    error: error && { ...error, reason: error.reason ?? reasonIn(error.message) },
    result: result && { ...result, ...(result.drill && { drill: withReasons(result.drill) }) },
  };
}

/** An operation that a change begins, and for whom. */
export interface Beginning {
  change: Change;
  by: Author;
  operationId: string;
}

interface NewOperation {
  id: string;
  type: OperationType;
  /** What the operation changes; `name` is for the audit log. */
  resource: { type: OperatedType; id: string; name: string };
  /** IDs and flags of the workflow's input, in addition to those of the account, the operation and the resource. */
  input?: Record<string, unknown>;
  before?: State;
  holds?: OperationRecord["holds"];
  usesBackupId?: string;
  /** What else it is about: an instance whose backup is cloned or deleted. */
  concerns?: readonly string[];
  result?: OperationResult;
  /** Fields of the resource that the same change sets, with what they were. */
  replaced?: OperationCore["replaced"];
  /** The same for the audit log, with what the operation itself changes. */
  changes?: FieldChange[];
}

/** A resource as what an operation changes, with the state that it had before. */
export const changing = (
  type: ResourceType,
  { id, name, state }: { id: string; name: string; state: State },
): Pick<NewOperation, "resource" | "before"> => ({ resource: { type, id, name }, before: state });

/**
 * Begins an operation with the change, and says so in the audit log: it is started once the change is written, or by the
 * sweep if that start gets lost.
 */
export function reserveOperation(change: Change, by: Author, draft: NewOperation): OperationRecord {
  const { id, type, resource } = draft;
  const operation: OperationRecord = {
    id,
    account_id: change.accountId,
    number: change.number("operation", id),
    type,
    state: OPERATION.pending,
    progress: 0,
    step: null,
    step_code: null,
    resource,
    result: draft.result ?? null,
    error: null,
    request_id: by.requestId,
    created_by: toActor(by),
    created_at: change.at,
    started_at: null,
    finished_at: null,
    input: { ...draft.input, [`${resource.type}_id`]: resource.id, account_id: change.accountId, operation_id: id },
    before: draft.before ?? null,
    holds: draft.holds ?? [],
    uses_backup_id: draft.usesBackupId ?? null,
    concerns: concernedBy(draft),
    ...(draft.replaced !== undefined && { replaced: draft.replaced }),
    event_id: logEvent(change, by, { type, changes: draft.changes, operation_id: id }, resource).id,
  };
  change.add("operation", operation, { status: operation.state, parentId: resource.id });
  for (const concerned of operation.concerns) linkOperation(change, concerned, operation);
  change.put(keys.openOperation(id), { account_id: change.accountId, operation_id: id, created_at: operation.created_at });
  return operation;
}

/** Puts an operation on the list of another resource, too. */
export function linkOperation(change: Change, concerned: string, { id, number }: { id: string; number: string }): void {
  change.put(keys.operationOf(change.accountId, concerned, id), {
    link_to: id,
    number,
    list_parent: keys.listByParent("operation", change.accountId, concerned),
  });
}

/** What an operation holds or reads shows it, too. */
function concernedBy({ resource, holds = [], usesBackupId, concerns = [] }: NewOperation): string[] {
  const all = new Set([...holds.map(({ id }) => id), ...(usesBackupId === undefined ? [] : [usesBackupId]), ...concerns]);
  all.delete(resource.id);
  return [...all];
}

/** How far an operation is: the step that runs, and the percentage. */
export type ShownProgress = Pick<OperationRecord, "step" | "step_code" | "progress">;

/** Marks the operation as running; false if it has ended, so that an execution started too late does nothing. */
export async function beginOperation(operation: OperationRecord, progress: ShownProgress): Promise<boolean> {
  const { account_id: accountId, resource, type } = operation;
  if (operation.state !== OPERATION.pending) return operation.state === OPERATION.running;
  const change = startChange({ id: accountId });
  const status = { from: OPERATION.pending, to: OPERATION.running };
  const set = { ...progress, state: status.to, started_at: now() };
  change.move({ kind: "operation", record: operation }, { ...status, set }, { equals: { state: status.from } });
  announceRequest(change, operation);
  const { through, begun }: Transition = LIFECYCLE[type];
  if (begun !== undefined && resource.type !== "account") {
    const moved = await find({ key: keys.record(resource.type, accountId, resource.id), schema: Moved });
    if (moved?.state === through)
      change.move(
        { kind: resource.type, record: moved },
        { from: statusOf(resource.type, through), to: statusOf(resource.type, begun), set: { state: begun } },
        { equals: { state: through } },
      );
  }
  await change.commit();
  return true;
}

/** From here on the operation cannot be withdrawn, so the event of its request goes to the outbox. */
export function announceRequest(change: Change, { event_id, type }: OperationCore): void {
  if (event_id !== undefined) announceEvent(change, "event", { id: event_id, type });
}

const Moved = z.object({ id: z.string(), number: z.string(), state: z.string() });

/** The current step and the progress. */
export async function showProgress(
  { account_id, id }: OperationRecord,
  progress: ShownProgress & { undoing?: true; failed_step?: string },
): Promise<void> {
  await updateOne(keys.record("operation", account_id, id), { set: progress }, { equals: { state: OPERATION.running } });
}

/** From here on, late writes of the operation's steps fail. */
export async function markUndoing({ account_id, id }: OperationRecord): Promise<void> {
  await updateOne(keys.record("operation", account_id, id), { set: { undoing: true } }, {});
}

/**
 * A condition of what a step writes: the operation runs and is not being undone. A task that the state machine has given up may
 * continue for minutes, and nothing would undo what it writes then.
 */
export const requireRunning = (change: Change, { account_id, id }: OperationRecord): void =>
  change.write(check(keys.record("operation", account_id, id), { equals: { state: OPERATION.running }, none: ["undoing"] }));

const RESULT_TRIES = 5;
const WithResult = z.object({ state: OperationCore.shape.state, result: z.custom<OperationRecord["result"]>() });

/**
 * Adds to the operation's result while it is open. Two tasks that add at the same time both count: the second one adds to what
 * the first wrote.
 */
export async function addResult(operation: OperationRecord, added: OperationResult): Promise<void> {
  const key = keys.record("operation", operation.account_id, operation.id);
  let { result } = operation;
  for (let attempt = 1; attempt <= RESULT_TRIES; attempt++) {
    const where = { oneOf: { state: OPEN_STATUSES }, equals: { result } };
    const { done, item } = await updateOne(key, { set: { result: { ...result, ...added } } }, where);
    if (done || item === undefined) return;
    const current = WithResult.parse(item);
    if (!isOpen(current.state)) return;
    ({ result } = current);
  }
  throw new Error(`Too many writes to the result of ${operation.id} at the same time`);
}

/** The modules that a start found half installed, and those that the image lacks, while the operation holds the instance. */
export async function recordModules(
  { account_id, id: operation_id }: OperationRecord,
  instanceId: string,
  modules: { unfinished_modules: string[]; missing_modules?: string[] | null },
): Promise<void> {
  const key = keys.record("instance", account_id, instanceId);
  await updateOne(key, { set: modules }, { equals: { operation_id } });
}

/** Keeps what the instance shows of its data's modules, before a start with other data changes that. */
export async function recordModulesBefore(
  operation: OperationRecord,
  { unfinished_modules, missing_modules }: InstanceRecord,
): Promise<void> {
  if (operation.modules_before !== undefined) return;
  const key = keys.record("operation", operation.account_id, operation.id);
  await updateOne(key, { set: { modules_before: { unfinished_modules, missing_modules } } }, { none: ["modules_before"] });
}

/** Sets where the resource goes if the operation fails, when that differs from the lifecycle. */
export async function setFailedState(operation: OperationRecord, state: State | undefined): Promise<void> {
  if (state === undefined) return;
  await updateOne(keys.record("operation", operation.account_id, operation.id), { set: { failed_state: state } }, {});
}

/** Counts a try of an undo that failed, once, also if two tasks saw it fail. */
export async function countFailedUndo(operation: OperationRecord): Promise<void> {
  const failed_undos = operation.failed_undos ?? 0;
  const key = keys.record("operation", operation.account_id, operation.id);
  const asRead = failed_undos === 0 ? { none: ["failed_undos"] } : { equals: { failed_undos } };
  await updateOne(key, { set: { failed_undos: failed_undos + 1 } }, asRead);
}

/**
 * From here on the operation is a success: what it replaced may be gone the next moment. False if it has ended, or is being
 * undone.
 */
export async function commitOperation({ account_id, id }: OperationRecord): Promise<boolean> {
  const still = { equals: { state: OPERATION.running }, none: ["undoing"] };
  const { done } = await updateOne(keys.record("operation", account_id, id), { set: { committed: true } }, still);
  return done;
}

/**
 * Confirms that a retry of the request may get its response: from then on the operation cannot be withdrawn. False if it already
 * was.
 */
export async function confirmOperation({ account_id, id }: OperationCore): Promise<boolean> {
  const { done } = await updateOne(keys.record("operation", account_id, id), { set: { confirmed: true } }, {});
  return done;
}

const OpenOperation = z.object({
  account_id: z.string(),
  operation_id: z.string(),
  created_at: z.string(),
  /** The time when the sweep last checked it. */
  looked_at: z.string().optional(),
});

/** Unfinished operations of all accounts, least recently checked by the sweep first. */
export async function openOperations(): Promise<{ accountId: string; id: string; createdAt: string }[]> {
  const items = await queryAll(keys.open(), { consistent: true });
  return parseEach(OpenOperation, items)
    .toSorted((a, b) => ((a.looked_at ?? a.created_at) < (b.looked_at ?? b.created_at) ? -1 : 1))
    .map((open) => ({ accountId: open.account_id, id: open.operation_id, createdAt: open.created_at }));
}

/** Records a check only if the operation is still marked: one that has just ended is not to come back. */
export async function recordCheck(id: string): Promise<void> {
  await updateOne(keys.openOperation(id), { set: { looked_at: now() } }, {});
}

/** A marker whose operation is gone or ended marks nothing. */
export const removeOpenMarker = (id: string): Promise<void> => removeOne(keys.openOperation(id));
