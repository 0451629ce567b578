// One change to an account: writes that happen together or not at all, with their counts, event and operation.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ApiError, operationInProgress, valueTaken } from "../api/errors.ts";
import type { Labels } from "../api/fields.ts";
import type { ResourceType } from "../domain/lifecycle.ts";
import type { QuotaKind } from "../domain/limits.ts";
import { accountCounters, type Counted, listCounts, type ShownCount } from "./counters.ts";
import type { Update, Where } from "./expressions.ts";
import { type SearchFields, entryWrites, type LabelChange } from "./entries.ts";
import {
  actorFilter,
  keys,
  type Key,
  type ListKind,
  type ListMembership,
  placement,
  protectionFilter,
  type Item,
} from "./keys.ts";
import { ConditionFailed, hasFailedOn, transact } from "./table.ts";
import { conditionOnly, put, remove, update, type Write } from "./writes.ts";
import { addedOperation, removedOperation, movedOperation } from "./operation-entries.ts";
import { type Version, withVersion } from "./versions.ts";

/** Who makes the change and on which account; workflows change without a caller and count nothing new. */
export interface Change {
  readonly accountId: string;
  /**
   * The time when the change began and its new records were created. Numbers are taken then, so that both have the same order.
   */
  readonly at: string;
  /** The number that a new record of this kind gets. */
  number: (kind: ListKind, id: string) => string;
  /** Counts more, or less, against the account's quota; with `limited: false` also beyond it. */
  use: (kind: QuotaKind, by: number, options?: { limited?: boolean }) => void;
  /** Rejects the change unless the account's quota has some room. */
  requireRoom: (kind: QuotaKind) => void;
  /** Changes the account's own item, in the one write that also moves its counters, if what it was decided by is unchanged. */
  setOnAccount: (set: Item, unchanged?: Item, conditionError?: (current: Item | undefined) => Error | undefined) => void;
  /** Adds a listed record; `number` must be in it. */
  add: (kind: ListKind, record: Item & { id: string; number: string; created_at: string }, membership: ListMembership) => void;
  /** Moves a record from one status of its list to another. */
  move: (
    listed: { kind: ListKind; record: { id: string; number: string } },
    update: { from: string; to: string } & Update,
    where: Where,
    conditionError?: Write["conditionError"],
  ) => void;
  /** What a record's item gets with another protection status; counts the move between the lists. */
  moveProtection: (record: { id: string; number: string }, status: { from: string; to: string }) => Item;
  /** What a record is found by from now on. */
  setSearchFields: (kind: ListKind, id: string, fields: SearchFields, labels?: LabelChange) => void;
  /** What a record is filtered by from now on; both are parts of it, as it was and as it will be. */
  setFilterFields: (kind: ResourceType, id: string, from: Item, to: Item) => void;
  /** Sets when an instance was last backed up. */
  setBackupTime: (instanceId: string, at: string | null) => void;
  /** Counts a server by the step of free disk space that it is below, in percent; null if it is below none, or is gone. */
  moveDisk: (from: number | null, to: number | null) => void;
  /** Counts what the overview shows. */
  countShown: (name: ShownCount, by: number) => void;
  /** Counts the open alerts of a kind of resource. */
  countOpenAlerts: (type: string, by: number) => void;
  /** Says in the account's revision that something has changed, which `add`, `move` and `removeListed` do by themselves. */
  revise: () => void;
  /** Takes a record off its lists. */
  removeListed: (
    listed: {
      kind: ListKind;
      record: { id: string; number: string; protection_status?: string; actor?: { id: string } | undefined; labels?: Labels };
      status: string | undefined;
    },
    where: Where,
    conditionError?: Write["conditionError"],
  ) => void;
  update: (key: Key, update: Update, where?: Where, conditionError?: Write["conditionError"]) => void;
  put: (key: Key, item: Item, conditionError?: Write["conditionError"]) => void;
  remove: (key: Key, where?: Where, conditionError?: Write["conditionError"]) => void;
  /** Makes a value unique; `field` is what the conflict names. */
  claim: (key: Key, field: string, ownerId: string) => void;
  write: (write: Write) => void;
  /** Writes nothing at all unless a record still is as it was read. */
  requireUnchanged: (version: Version) => void;
  /** Written before everything else, so that its error is the one that the client gets. */
  writeFirst: (write: Write) => void;
  /** The records that it adds to lists. */
  readonly added: readonly Added[];
  /** Puts back what the change takes away besides what its operation holds, if the operation is withdrawn. */
  ifWithdrawn: (putBack: (withdrawal: Change) => void) => void;
  /**
   * Takes back with another change what neither the end of the operation nor the operation itself does: the events, and what was
   * to be put back.
   */
  withdraw: (withdrawal: Change) => void;
  writes: () => Write[];
  commit: () => Promise<void>;
  /**
   * Throws what `commit` would throw now, and writes nothing: the same conditions on the same items, decided by DynamoDB as well.
   */
  rehearse: () => Promise<void>;
}

interface Added {
  kind: ListKind;
  record: Item & { id: string; number: string };
  membership: ListMembership;
}

/** `account` gives the numbers of new records; changes that make none need only its id. */
export function startChange(account: Counted | { id: string }): Change {
  const writes: Write[] = [];
  const versions: Version[] = [];
  const counters = accountCounters(account);
  const lists = listCounts(account.id);
  const entries = entryWrites(account.id);
  const added: Added[] = [];
  const putBacks: ((withdrawal: Change) => void)[] = [];

  const change: Change = {
    accountId: account.id,
    at: now(),
    added,
    ifWithdrawn: (putBack) => void putBacks.push(putBack),
    withdraw: (withdrawal) => {
      for (const putBack of putBacks) putBack(withdrawal);
      for (const { kind, record, membership } of added)
        if (kind === "event" || kind === "outcome")
          withdrawal.removeListed(
            {
              kind,
              record: { ...record, actor: membership.actorId === undefined ? undefined : { id: membership.actorId } },
              status: membership.status,
            },
            { exists: false },
          );
    },
    number: counters.number,
    use: counters.use,
    requireRoom: counters.requireRoom,
    setOnAccount: counters.set,
    ...listChanges(account.id, { writes, added, lists, entries }),
    moveDisk: lists.moveDisk,
    countShown: lists.countShown,
    countOpenAlerts: lists.countOpenAlerts,
    revise: lists.revise,
    update: (key, itemUpdate, where, conditionError) => void writes.push(update(key, itemUpdate, where, conditionError)),
    put: (key, item, conditionError) => void writes.push(put(key, item, conditionError)),
    remove: (key, where, conditionError) => void writes.push(remove(key, where, conditionError)),
    claim: (key, field, ownerId) =>
      void writes.push(put(key, { owner_id: ownerId }, (current) => valueTaken(field, current?.["owner_id"]))),
    write: (write) => void writes.push(write),
    writeFirst: (write) => void writes.unshift(write),
    requireUnchanged: (version) => void versions.push(version),
    writes: () => versions.reduce(withVersion, [...writes, ...counters.writes(), ...lists.writes(writes), ...entries.writes()]),
    commit: () => transact(change.writes()),
    rehearse: () => transact(change.writes().flatMap(conditionOnly)),
  };
  return change;
}

interface Parts {
  writes: Write[];
  added: Added[];
  lists: ReturnType<typeof listCounts>;
  entries: ReturnType<typeof entryWrites>;
}

/** What adds records to their lists, moves them and takes them off, with the counts and the search entries. */
const listChanges = (
  accountId: string,
  { writes, added, lists, entries }: Parts,
): Pick<
  Change,
  "add" | "moveProtection" | "move" | "setSearchFields" | "setFilterFields" | "setBackupTime" | "removeListed"
> => ({
  add: (kind, record, membership) => {
    const { status, protection, actorId } = membership;
    added.push({ kind, record, membership });
    writes.push(
      put(keys.record(kind, accountId, record.id), {
        ...record,
        ...placement(kind, accountId, record.number, membership),
      }),
    );
    lists.count(kind, record.number, 1, [
      "all",
      status,
      protection && protectionFilter(protection),
      actorId && actorFilter(actorId),
    ]);
    lists.mark(kind, record.number, record.created_at);
    entries.add(kind, record, { status, protection });
    if (kind === "operation") writes.push(addedOperation(accountId, record, status));
  },
  moveProtection: ({ id, number }, { from, to }) => {
    if (from === to) return {};
    entries.change("instance", id, { protection: to });
    lists.count("instance", number, -1, [protectionFilter(from)]);
    lists.count("instance", number, 1, [protectionFilter(to)]);
    return { protection_status: to, list_protection: keys.listByProtection("instance", accountId, to) };
  },
  move: ({ kind, record }, { from, to, ...itemUpdate }, where, conditionError) => {
    const set = from === to ? itemUpdate.set : { ...itemUpdate.set, list_status: keys.listByStatus(kind, accountId, to) };
    writes.push(
      update(
        keys.record(kind, accountId, record.id),
        { ...itemUpdate, ...(set !== undefined && { set }) },
        where,
        conditionError,
      ),
    );
    if (from === to) return;
    lists.count(kind, record.number, -1, [from]);
    lists.count(kind, record.number, 1, [to]);
    entries.change(kind, record.id, { status: to });
    if (kind === "operation") writes.push(movedOperation(accountId, record.id, to));
  },
  setSearchFields: entries.change,
  setFilterFields: entries.setFilterFields,
  setBackupTime: entries.setBackupTime,
  removeListed: ({ kind, record, status }, where, conditionError) => {
    writes.push(remove(keys.record(kind, accountId, record.id), where, conditionError));
    const { number, protection_status: protection, actor } = record;
    lists.count(kind, number, -1, ["all", status, protection && protectionFilter(protection), actor && actorFilter(actor.id)]);
    entries.removeListed(kind, record);
    if (kind === "operation") writes.push(removedOperation(accountId, record.id));
  },
});

/** Another change to the same record came first. A retry with the current record may succeed. */
export class Overtaken extends ApiError {
  override name = "Overtaken";
  constructor(message: string, resourceId: string) {
    super("CONFLICT", message, { details: { resource: resourceId } });
  }
}

/** The condition of a write that changes labels: others than those that were read are in other items. */
export const withLabels = (labels: LabelChange | undefined): Where =>
  labels === undefined ? {} : { unchanged: { labels: labels.from } };

/** The error if it did not hold. */
export const labelConflict = (current: Item | undefined, id: string, labels: LabelChange | undefined): Error | undefined =>
  labels === undefined || current?.["labels"] === undefined || isDeepStrictEqual(current["labels"], labels.from)
    ? undefined
    : new Overtaken("Another request changed the labels at the same time; check them and try again if you need to", id);

/** What a request makes of a record's labels, if it names them. */
export const labelChange = (from: Labels, to: Labels | undefined): LabelChange | undefined => to && { from, to };

/** One of the conflicting changes succeeds each time; 20 tries, full jitter of up to 100 ms: about a second of waiting. */
const OVERTAKEN_TRIES = 20;

/** Makes a change again, from its reading on, until it is not overtaken. */
export async function retryOnConflict<T>(make: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof Overtaken) || attempt >= OVERTAKEN_TRIES) throw error;
      await sleep(Math.random() * 100);
    }
  }
}

/**
 * Commits; false if a condition failed that names no error of its own, because another request or run came first. With a key,
 * only the condition on that item may fail.
 */
export async function tryCommit(change: Change, key?: Key): Promise<boolean> {
  try {
    await change.commit();
    return true;
  } catch (error) {
    if (key === undefined ? error instanceof ConditionFailed : hasFailedOn(key, error)) return false;
    throw error;
  }
}

/** Why a write failed that needed a resource to be free. */
export const heldError = (current: Item | undefined): Error | undefined =>
  typeof current?.["operation_id"] === "string" ? operationInProgress(current["operation_id"]) : undefined;

export const now = (): string => new Date().toISOString();

/** The record of the operation that a change begins. */
export const operationIn = ({ added }: Change): { id: string } | undefined =>
  added.find(({ kind }) => kind === "operation")?.record;
