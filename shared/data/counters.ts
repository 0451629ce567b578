// What one change counts: on the account's own item what it uses of the quotas and the numbers of its new records, and for each
// list how many records it has. However much is counted, each item gets one write.
import { overQuota, quotaChanged } from "../api/errors.ts";
import { OPEN_STATUSES } from "../domain/lifecycle.ts";
import { DEFAULT_QUOTAS, type QuotaKind } from "../domain/limits.ts";
import type { Where } from "./expressions.ts";
import { keys, type Item, type ListKind, type Revised } from "./keys.ts";
import { findBlock, markPlace, formatNumber } from "./numbers.ts";
import { addTo, addToShard, blockAttribute, type Sharded } from "./shards.ts";
import { isConditionOnly, keyOfWrite, update, type Write } from "./writes.ts";

/** An account's numbers: what it may have of each kind, and how many records of each list there have been. */
export type Counted = { id: string } & Record<`limit_${QuotaKind}`, number> & Record<`made_${ListKind}`, number>;

/** How much there must be room for, of each kind. */
type Needs = ReadonlyMap<QuotaKind, number>;

/** The counters of the account, and what else a change sets on its item. */
export function accountCounters(account: Counted | { id: string }) {
  const added = new Map<string, number>();
  const fields: Item = {};
  const needs = new Map<QuotaKind, number>();
  const same: Item = {};
  let changedError: ((current: Item | undefined) => Error | undefined) | undefined;
  const add = (counter: string, by: number): void => void added.set(counter, (added.get(counter) ?? 0) + by);

  return {
    /** The number that a new record of this kind gets. */
    number: (kind: ListKind, id: string): string => {
      if (!("made_event" in account)) throw new Error("A change that creates records needs the account's record");
      const counter = `made_${kind}` as const;
      const number = account[counter] + (added.get(counter) ?? 0);
      add(counter, 1);
      return formatNumber(number, id);
    },
    /** Counts against a quota; the write fails if that exceeds it, unless it is not `limited`. */
    use: (kind: QuotaKind, by: number, { limited = true } = {}): void => {
      if (by !== 0) add(`used_${kind}`, by);
      if (by > 0 && limited) needs.set(kind, (needs.get(kind) ?? 0) + by);
    },
    /** The write fails unless the quota has some room. */
    requireRoom: (kind: QuotaKind): void => void needs.set(kind, needs.get(kind) ?? 1),
    set: (values: Item, unchanged: Item = {}, conditionError?: (current: Item | undefined) => Error | undefined): void => {
      Object.assign(fields, values);
      Object.assign(same, unchanged);
      changedError = conditionError;
    },
    writes: (): Write[] => {
      if (added.size === 0 && Object.keys(fields).length === 0) return [];
      const add = Object.fromEntries(added);
      // A quota may get to know minutes later what an operation used that has ended, and numbers need not be unique (`lists.ts`).
      const isFree = Object.keys(fields).length + needs.size === 0;
      const itemUpdate = { set: fields, add };
      const { below, limits } = withinQuotas(account, needs);
      const where = {
        below,
        unchanged: { ...same, ...limits },
      };
      const write = update(
        keys.account(account.id),
        itemUpdate,
        where,
        (current) => changedError?.(current) ?? quotaError(needs, current),
      );
      const elsewhere = (): Write[] => addToShard({ of: "account", account_id: account.id }, add);
      return [isFree ? { ...write, elsewhere } : write];
    },
  };
}

/**
 * DynamoDB compares attributes, but does not calculate: where more than one is needed, the limit must be the one that was read.
 */
function withinQuotas(account: Counted | { id: string }, needs: Needs) {
  const below: NonNullable<Where["below"]> = {};
  const limits: Item = {};
  for (const [kind, amount] of needs) {
    if (amount === 1) below[`used_${kind}`] = { attribute: `limit_${kind}`, otherwise: DEFAULT_QUOTAS[kind] };
    else if (!("made_event" in account)) throw new Error("A change that uses more of a quota needs the account's record");
    else {
      const limit = account[`limit_${kind}`];
      below[`used_${kind}`] = limit - amount + 1;
      limits[`limit_${kind}`] = limit;
    }
  }
  return { below, limits };
}

function quotaError(needs: Needs, account: Item | undefined): Error {
  const readValue = (attribute: string, otherwise: number) => Number(account?.[attribute] ?? otherwise);
  for (const [kind, amount] of needs) {
    const limit = readValue(`limit_${kind}`, DEFAULT_QUOTAS[kind]);
    if (readValue(`used_${kind}`, 0) + amount > limit) return overQuota(kind, limit);
  }
  return quotaChanged();
}

/** The counts of an account's lists, whole and by status, and its overview. */
export function listCounts(accountId: string) {
  const counts = new Map<string, { list: Sharded; add: Map<string, number> }>();
  const totals = new Map<string, number>();
  const marks: Write[] = [];
  let revised = false;
  return {
    revise: (): void => void (revised = true),
    countShown: (name: ShownCount, by: number): void => void totals.set(name, (totals.get(name) ?? 0) + by),
    countOpenAlerts: (type: string, by: number): void =>
      void totals.set(alertTotal(type), (totals.get(alertTotal(type)) ?? 0) + by),
    moveDisk: (from: number | null, to: number | null): void => {
      const add = (step: number, by: number) => void totals.set(diskTotal(step), (totals.get(diskTotal(step)) ?? 0) + by);
      if (from !== null) add(from, -1);
      if (to !== null) add(to, 1);
    },
    count: (kind: ListKind, number: string, by: number, filters: readonly (string | undefined)[]): void => {
      const block = blockAttribute(findBlock(number));
      for (const filter of filters.filter((each) => each !== undefined)) {
        const list = { account_id: accountId, of: kind, filter };
        const entry = counts.get(`${kind}#${filter}`) ?? { list, add: new Map<string, number>() };
        entry.add.set(block, (entry.add.get(block) ?? 0) + by);
        counts.set(`${kind}#${filter}`, entry);
        if (isShown(kind, filter)) totals.set(`${kind}#${filter}`, (totals.get(`${kind}#${filter}`) ?? 0) + by);
      }
    },
    /** The first record of a block says when it begins; others with its number do not. */
    mark: (kind: ListKind, number: string, at: string): void => {
      const mark = markPlace(number);
      if (mark !== undefined)
        marks.push(
          update(keys.marks(kind, accountId, mark.leaf), { fill: { [mark.attribute]: Date.parse(at) } }, { exists: false }),
        );
    },
    /** `written` is what else the change writes. */
    writes: (written: readonly Write[] = []): Write[] => [
      ...[...counts.values()].flatMap(({ list, add }) => addTo(list, Object.fromEntries(add))),
      ...marks,
      ...(revised || counts.size > 0 || totals.size > 0
        ? addTo({ of: "overview", account_id: accountId }, changed(totals, revisedBy(accountId, written)))
        : []),
    ],
  };
}

/** The overview shows what there is now, not what has been: of the operations those that are open. */
const isShown = (kind: ListKind, filter: string): boolean =>
  filter !== "all" &&
  kind !== "alert" && // counted by the kind of their resource
  kind !== "event" &&
  kind !== "outcome" &&
  (kind !== "operation" || OPEN_STATUSES.some((status) => status === filter));

/** What the overview counts besides statuses, under these names: instances with a newer image, and servers to reboot. */
export type ShownCount = "update_available" | "needs_reboot";

/** How many servers are below a step of free disk space. */
export const diskTotal = (step: number): string => `low_disk#${step}`;

/** How many alerts of a kind of resource are open. */
export const alertTotal = (type: string): string => `open_alerts#${type}`;

/** The kinds of record that a change writes; `others` if it is none of these. */
function revisedBy(accountId: string, written: readonly Write[]): Set<Revised | "others"> {
  const kinds = written
    .filter((write) => !isConditionOnly(write))
    .map((write) => keys.revised(accountId, keyOfWrite(write)))
    .filter((kind) => kind !== undefined);
  return new Set(kinds.length === 0 ? ["others"] : kinds);
}

export const revisionAttribute = (kind: Revised | "others"): string => `revision#${kind}`;

const changed = (totals: ReadonlyMap<string, number>, revised: ReadonlySet<Revised | "others">): Record<string, number> => ({
  revision: 1,
  ...Object.fromEntries([...revised].map((kind) => [revisionAttribute(kind), 1])),
  ...Object.fromEntries([...totals].filter(([, by]) => by !== 0)),
});
