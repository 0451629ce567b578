// Operations: begun with the change that needs them, and ended with what their end means for the resource.
import * as z from "zod";
import type { WorkflowName } from "../api/endpoint.ts";
import { notFound, type OperationErrorCode } from "../api/errors.ts";
import type { Operation, OperationResult, OperationType } from "../api/operations.ts";
import { isId } from "../domain/ids.ts";
import { afterRestore, LIFECYCLE, type ResourceType, SERVER_PHASES, type State, type Transition } from "../domain/lifecycle.ts";
import { actorOf, type Author, type Change, changeOf, logEvent, now } from "./change.ts";
import { keys } from "./keys.ts";
import { type Listed, listOfParentWithLinks, listPage, type PageQuery } from "./lists.ts";
import { BackupRecord, InstanceRecord, OperationRecord, ServerRecord } from "./records.ts";
import { check, ConditionFailed, find, type Item, queryAll, removeOne, type Ref, updateOne } from "./table.ts";

export const operationRef = (accountId: string, id: string): Ref<OperationRecord> => ({
  key: keys.record("operation", accountId, id),
  schema: OperationRecord,
});

export async function getOperation(accountId: string, id: string): Promise<OperationRecord> {
  const record = isId("operation", id) ? await find(operationRef(accountId, id)) : undefined;
  if (record === undefined) throw notFound("operation");
  return record;
}

export const findOperation = (accountId: string, id: string): Promise<OperationRecord | undefined> =>
  find(operationRef(accountId, id));

export function listOperations(
  accountId: string,
  { status, resource_id, ...page }: PageQuery & { status?: string | undefined; resource_id?: string | undefined },
): Promise<Listed<OperationRecord>> {
  const list = { kind: "operation", accountId, schema: OperationRecord } as const;
  return resource_id === undefined ? listPage({ ...list, status }, page) : listOfParentWithLinks(list, resource_id, page);
}

export function toOperation({ state, ...record }: OperationRecord): Operation {
  return { ...record, status: state };
}

export interface NewOperation {
  id: string;
  type: OperationType;
  /** What the operation changes; `name` is for the audit log. */
  resource: { type: ResourceType; id: string; name: string };
  /** IDs and flags of the workflow's input, in addition to those of the account, the operation and the resource. */
  input?: Record<string, unknown>;
  before?: State;
  holds?: OperationRecord["holds"];
  usesBackupId?: string;
  /** What else it is about: an instance whose backup is cloned or deleted. */
  concerns?: readonly string[];
  result?: OperationResult;
  /** Fields of the resource that the same change sets, with what they were. */
  replaced?: Record<string, string>;
}

/** Each kind of work has a workflow of the same words: `server.create` is done by `create-server`. */
export const workflowOf = (type: OperationType): WorkflowName => WORKFLOWS[type];
const WORKFLOWS = {
  "server.create": "create-server",
  "server.delete": "delete-server",
  "instance.create": "create-instance",
  "instance.update": "update-instance",
  "instance.clone": "clone-instance",
  "instance.start": "start-instance",
  "instance.stop": "stop-instance",
  "instance.restart": "restart-instance",
  "instance.delete": "delete-instance",
  "backup.create": "create-backup",
  "backup.delete": "delete-backup",
  "backup.restore": "restore-backup",
} as const satisfies { [T in OperationType]: T extends `${infer R}.${infer V}` ? `${V}-${R}` : never };

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
    state: "pending",
    progress: 0,
    step: null,
    resource: { type: resource.type, id: resource.id },
    result: draft.result ?? null,
    error: null,
    request_id: by.requestId,
    created_by: actorOf(by),
    created_at: now(),
    started_at: null,
    finished_at: null,
    input: { ...draft.input, [`${resource.type}_id`]: resource.id, account_id: change.accountId, operation_id: id },
    before: draft.before ?? null,
    holds: draft.holds ?? [],
    uses_backup_id: draft.usesBackupId ?? null,
    concerns: concernedBy(draft),
    ...(draft.replaced !== undefined && { replaced: draft.replaced }),
  };
  change.add("operation", operation, { status: operation.state, parentId: resource.id });
  for (const concerned of operation.concerns)
    change.put(keys.operationOf(change.accountId, concerned, id), {
      link_to: id,
      number: operation.number,
      list_parent: keys.listByParent("operation", change.accountId, concerned),
    });
  change.put(keys.openOperation(id), { account_id: change.accountId, operation_id: id, created_at: operation.created_at });
  logEvent(change, by, type, resource);
  change.operation = operation;
  return operation;
}

/** What an operation holds or reads shows it, too. */
function concernedBy({ resource, holds = [], usesBackupId, concerns = [] }: NewOperation): string[] {
  const all = new Set([...holds.map(({ id }) => id), ...(usesBackupId === undefined ? [] : [usesBackupId]), ...concerns]);
  all.delete(resource.id);
  return [...all];
}

/** Marks the operation as running; false if it has ended, so that an execution started too late does nothing. */
export async function beginOperation(operation: OperationRecord): Promise<boolean> {
  if (operation.state !== "pending") return operation.state === "running";
  const change = changeOf({ id: operation.account_id });
  change.move(
    "operation",
    operation,
    { from: "pending", to: "running" },
    { set: { state: "running", started_at: now() } },
    { equals: { state: "pending" } },
  );
  if (operation.type === "backup.create") {
    const backup = await find<BackupRecord>({
      key: keys.record("backup", operation.account_id, operation.resource.id),
      schema: BackupRecord,
    });
    if (backup?.state === "pending")
      change.move(
        "backup",
        backup,
        { from: "pending", to: "running" },
        { set: { state: "running" } },
        { equals: { state: "pending" } },
      );
  }
  await change.commit();
  return true;
}

/** The current step and the progress. */
export async function showProgress(
  { account_id, id }: OperationRecord,
  shown: { step: string; progress: number; undoing?: true },
): Promise<void> {
  await updateOne(keys.record("operation", account_id, id), { set: shown }, { equals: { state: "running" } });
}

/** From here on, late writes of the operation's steps fail. */
export async function stopSteps({ account_id, id }: OperationRecord): Promise<void> {
  await updateOne(keys.record("operation", account_id, id), { set: { undoing: true } }, {});
}

/**
 * A condition of what a step writes: the operation runs and is not being undone. A task that the state machine has given up may
 * continue for minutes, and nothing would undo what it writes then.
 */
export const requireRunning = (change: Change, { account_id, id }: OperationRecord): void =>
  change.write(check(keys.record("operation", account_id, id), { equals: { state: "running" }, none: ["undoing"] }));

/** Adds to what the operation found out or made. */
export async function addResult(operation: OperationRecord, result: OperationResult): Promise<void> {
  const key = keys.record("operation", operation.account_id, operation.id);
  await updateOne(key, { set: { result: { ...operation.result, ...result } } }, { oneOf: { state: ["pending", "running"] } });
}

/** Sets where the resource goes if the operation fails, when that differs from the lifecycle. */
export async function failInto(operation: OperationRecord, state: State): Promise<void> {
  await updateOne(keys.record("operation", operation.account_id, operation.id), { set: { failed_state: state } }, {});
}

/** Counts a try of an undo that failed, once, also if two tasks saw it fail. */
export async function countFailedUndo(operation: OperationRecord): Promise<void> {
  const failed_undos = operation.failed_undos ?? 0;
  const key = keys.record("operation", operation.account_id, operation.id);
  const seen = failed_undos === 0 ? { none: ["failed_undos"] } : { equals: { failed_undos } };
  await updateOne(key, { set: { failed_undos: failed_undos + 1 } }, seen);
}

/** From here on the work is a success: what it replaced may be gone the next moment. */
export async function commitOperation(operation: OperationRecord): Promise<void> {
  const key = keys.record("operation", operation.account_id, operation.id);
  await updateOne(key, { set: { committed: true } }, { equals: { state: "running" } });
}

export type Outcome = { succeeded: true } | { succeeded: false; error: { code: OperationErrorCode; message: string } };

/** Ends an operation and frees what it held; ending it twice is ending it once. */
export async function endOperation(operation: OperationRecord, outcome: Outcome): Promise<void> {
  if (!isOpen(operation)) return;
  const change = changeOf({ id: operation.account_id });
  const finished_at = now();
  const to = outcome.succeeded ? "succeeded" : "failed";
  change.move(
    "operation",
    operation,
    { from: operation.state, to },
    { set: { state: to, finished_at, step: null, ...(outcome.succeeded ? { progress: 100 } : { error: outcome.error }) } },
    {
      equals: { state: operation.state },
      // An undo may have removed everything by now, whatever a late task reports; what was committed is not undone.
      ...(outcome.succeeded && !operation.committed && { none: ["undoing"] }),
    },
  );
  change.remove(keys.openOperation(operation.id));
  const { to: destined, back } = destination(operation, outcome.succeeded);
  const installed = outcome.succeeded && INSTALLING.includes(operation.type);
  await settle(change, operation, destined, {
    reason: outcome.succeeded ? null : outcome.error.message,
    back,
    ...(installed && { alsoSet: { installed } }),
  });
  await change.commit();
}

/** After their success there is an ERP where there was none. */
const INSTALLING: readonly OperationType[] = ["instance.create", "instance.clone"];

export const isOpen = (operation: OperationRecord): boolean => operation.state === "pending" || operation.state === "running";

/** Confirms that a retry of the request may get its response: from then on the operation cannot be withdrawn. False if it already was. */
export async function confirmOperation({ account_id, id }: OperationRecord): Promise<boolean> {
  const { done } = await updateOne(keys.record("operation", account_id, id), { set: { confirmed: true } }, {});
  return done;
}

/** Each failed try means that the operation was started or confirmed in the meantime, which the next try sees. */
const WITHDRAW_TRIES = 3;

/**
 * Withdraws an operation that could not be started, as if it had never been requested; false if it continues after all, because its
 * first task has begun or a repetition of the request has confirmed it.
 */
export async function withdrawOperation(operation: OperationRecord, also: (change: Change) => void): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const present = await findOperation(operation.account_id, operation.id);
    if (present === undefined) return true;
    if (present.state !== "pending" || present.confirmed) return false;
    const change = changeOf({ id: present.account_id });
    change.drop("operation", present, "pending", { equals: { state: "pending" }, none: ["confirmed"] });
    change.remove(keys.openOperation(present.id));
    for (const concerned of present.concerns) change.remove(keys.operationOf(present.account_id, concerned, present.id));
    change.remove(keys.sealed(present.account_id, present.id)); // no longer needed
    await settle(change, present, present.before ?? "gone", { reason: null, back: true, alsoSet: present.replaced ?? {} });
    if (present.type === "instance.update") change.remove(keys.domain(present.account_id, String(present.input["new_domain"])));
    also(change);
    try {
      await change.commit();
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed) || attempt >= WITHDRAW_TRIES) throw error;
    }
  }
}

/** The state in which the resource ends, or that it is gone; the schema of its record knows which states it has. */
type Destination = string;

/** Where the resource goes, from its row of the lifecycle; `back` if that is where it comes from. */
function destination(operation: OperationRecord, succeeded: boolean): { to: Destination; back: boolean } {
  const row: Transition = LIFECYCLE[operation.type];
  const to = succeeded ? row.to : (operation.failed_state ?? row.failed);
  if (to !== "before") return { to, back: false };
  const before = operation.before ?? row.failed;
  return { to: succeeded && operation.type === "backup.restore" ? afterRestore(before) : before, back: true };
}

interface Settlement {
  reason: string | null;
  /** The resource is again as it was, and so is the reason for the state that it was in. */
  back: boolean;
  /** Other fields of the resource. */
  alsoSet?: Item;
}

/** Moves the resource where it goes and frees everything that the operation held. */
async function settle(
  change: Change,
  operation: OperationRecord,
  to: Destination,
  { reason, back, alsoSet = {} }: Settlement,
): Promise<void> {
  const { account_id: accountId, resource } = operation;
  const mine = { equals: { operation_id: operation.id } };
  for (const { type, id } of operation.holds) {
    change.update(keys.record(type, accountId, id), { set: { operation_id: null, updated_at: now() } }, mine);
  }
  if (operation.uses_backup_id !== null)
    change.update(keys.record("backup", accountId, operation.uses_backup_id), { take: { used_by: new Set([operation.id]) } });
  const key = keys.record(resource.type, accountId, resource.id);
  const freed = { ...alsoSet, operation_id: null, updated_at: now() };
  const reasonAfter = (state: string, present: string | null): string | null =>
    back && state === operation.before ? present : reasonIn(state, reason);
  switch (resource.type) {
    case "server": {
      const server = await find({ key, schema: ServerRecord });
      if (server?.operation_id !== operation.id) return;
      const from = SERVER_PHASES[server.state];
      if (to === "gone") {
        change.drop("server", server, from, mine);
        change.remove(keys.serverName(accountId, server.name));
        change.remove(keys.watchedServer(server.id), { exists: false });
        change.use("server", -1);
        return;
      }
      const state = ServerRecord.shape.state.parse(to);
      change.move(
        "server",
        server,
        { from, to: SERVER_PHASES[state] },
        { set: { ...freed, state, status_reason: reasonAfter(state, server.status_reason) } },
        mine,
      );
      return;
    }
    case "instance": {
      const instance = await find({ key, schema: InstanceRecord });
      if (instance?.operation_id !== operation.id) return;
      if (to === "gone") {
        change.drop("instance", instance, instance.state, mine);
        change.remove(keys.domain(accountId, instance.domain));
        change.remove(keys.databaseName(accountId, instance.server_id, instance.database_name));
        change.update(keys.record("server", accountId, instance.server_id), { add: { instances: -1 } });
        change.use("instance", -1);
        return;
      }
      const state = InstanceRecord.shape.state.parse(to);
      const status_reason = reasonAfter(state, instance.status_reason);
      change.move("instance", instance, { from: instance.state, to: state }, { set: { ...freed, state, status_reason } }, mine);
      return;
    }
    case "backup": {
      const backup = await find({ key, schema: BackupRecord });
      if (backup?.operation_id !== operation.id) return;
      if (to === "gone") {
        change.drop("backup", backup, backup.state, mine);
        if (backup.expires_at !== null) change.remove(keys.expiringBackup(backup.expires_at, backup.id), { exists: false });
        return;
      }
      const state = BackupRecord.shape.state.parse(to);
      const completed = state === "completed" ? { completed_at: backup.completed_at ?? now() } : {};
      const set = { operation_id: null, state, status_reason: reasonAfter(state, backup.status_reason), ...completed };
      change.move("backup", backup, { from: backup.state, to: state }, { set }, mine);
      return;
    }
    default:
      throw new Error(`No such kind of resource: ${String(resource.type satisfies never)}`);
  }
}

/** Only a state that indicates a failure keeps a reason. */
const reasonIn = (state: string, reason: string | null): string | null => (state.endsWith("failed") ? reason : null);

const OpenOperation = z.object({
  account_id: z.string(),
  operation_id: z.string(),
  created_at: z.string(),
  /** When the sweep last checked it. */
  looked_at: z.string().optional(),
});

/** Unfinished operations of all accounts, least recently checked by the sweep first. */
export async function openOperations(): Promise<{ accountId: string; id: string; createdAt: string }[]> {
  const items = await queryAll(keys.open(), { consistent: true });
  return items
    .map((item) => OpenOperation.parse(item))
    .toSorted((a, b) => ((a.looked_at ?? a.created_at) < (b.looked_at ?? b.created_at) ? -1 : 1))
    .map((open) => ({ accountId: open.account_id, id: open.operation_id, createdAt: open.created_at }));
}

/** Only if it is still marked: an operation that has just ended is not to come back. */
export async function noteLooked(id: string): Promise<void> {
  await updateOne(keys.openOperation(id), { set: { looked_at: now() } }, {});
}

/** A marker whose operation is gone or ended marks nothing. */
export const forgetOpen = (id: string): Promise<void> => removeOne(keys.openOperation(id));
