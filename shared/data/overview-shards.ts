// The overview's counts of an account. Every change of the account adds to them, some three for each operation, and DynamoDB serializes the
// transactions on an item. So a change that meets another one on the overview's own item adds to a shard instead, and the sweep adds the shards
// to the item, where versions that do not know shards find everything.
import * as z from "zod";
import { type Key, keys, type Item } from "./keys.ts";
import { ConditionFailed, find, queryAll, transact } from "./table.ts";
import { check, remove, update, type Write } from "./writes.ts";

/** Sixty changes a second are four on each: a fifth of what DynamoDB takes. */
const SHARDS = 16;

/** How often counts have been moved from shards: the same number on the item and on its shards together, unless a move is seen by half. */
const MOVES = "moves";

export const addToOverview = (accountId: string, add: Record<string, number>): Write => ({
  ...update(keys.overview(accountId), { add }, { exists: false }),
  elsewhere: () => addToShard(accountId, add),
});

/** The shard, and that it has something to add. */
function addToShard(accountId: string, add: Record<string, number>): Write[] {
  const shard = Math.floor(Math.random() * SHARDS);
  const elsewhere = (): Write[] => addToShard(accountId, add);
  return [
    update(keys.overviewShard(accountId, shard), { add }, { exists: false }),
    update(keys.filledShard(accountId, shard), { set: { account_id: accountId, shard } }, { exists: false }),
  ].map((write) => ({ ...write, elsewhere }));
}

interface Part {
  key: Key;
  counts: Readonly<Record<string, number>>;
}

const READ_TRIES = 10;

/** The item and its shards, as they were at one time. */
async function partsOf(accountId: string): Promise<Part[]> {
  for (let attempt = 1; ; attempt++) {
    const parts = (await queryAll(keys.overview(accountId).pk, { beginsWith: keys.overviewParts(), consistent: true })).map(
      partOf,
    );
    const moves = (some: readonly Part[]): number => some.reduce((sum, { counts }) => sum + (counts[MOVES] ?? 0), 0);
    const [own, shards] = [parts.filter(isOwn), parts.filter((part) => !isOwn(part))];
    // A Query may see one half of a transaction.
    if (moves(own) === moves(shards) || attempt >= READ_TRIES) return parts;
  }
}

const isOwn = ({ key }: Part): boolean => key.sk === keys.overviewParts();

const Keyed = z.object({ pk: z.string(), sk: z.string() });
const partOf = ({ pk, sk, ...counts }: Item): Part => ({
  key: Keyed.parse({ pk, sk }),
  counts: Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count)])),
});

/** The counts, and the revision among them. */
export const overviewCounts = async (accountId: string): Promise<Record<string, number>> => sumOf(await partsOf(accountId));

function sumOf(parts: readonly Part[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { counts } of parts) for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** For a correction of counts: what shards hold, and the writes that raise the revision and set counts, if nothing has changed since. */
export async function overviewAsRead(
  accountId: string,
): Promise<{ inShards: Record<string, number>; writes: (set?: Item) => Write[] }> {
  const parts = await partsOf(accountId);
  const revisionOf = (sk: string): number | undefined => parts.find(({ key }) => key.sk === sk)?.counts["revision"];
  const asRead = (key: Key) => ({ exists: false, same: { revision: revisionOf(key.sk) } });
  const own = keys.overview(accountId);
  return {
    inShards: sumOf(parts.filter((part) => !isOwn(part))),
    writes: (set = {}) => [
      update(own, { set, add: { revision: 1 } }, asRead(own)),
      ...Array.from({ length: SHARDS }, (_, shard) => keys.overviewShard(accountId, shard)).map((key) => check(key, asRead(key))),
    ],
  };
}

const Filled = z.object({ account_id: z.string(), shard: z.number() });

/** Adds what shards hold to their overviews' own items. What changes meanwhile waits for the next time, and holds up no other account. */
export async function emptyShards(): Promise<void> {
  const errors: unknown[] = [];
  for (const item of await queryAll(keys.filledShards(), { consistent: true })) {
    const { account_id, shard } = Filled.parse(item);
    try {
      await emptyShard(account_id, shard);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "Some overviews could not get what is in their shards");
}

async function emptyShard(accountId: string, shard: number): Promise<void> {
  const key = keys.overviewShard(accountId, shard);
  const found = await find({ key, schema: z.custom<Item>() });
  if (found === undefined) return;
  const { [MOVES]: _, ...counts } = partOf(found).counts;
  const taken = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, -count]));
  await transact([
    update(keys.overview(accountId), { add: { ...counts, [MOVES]: 1 } }, { exists: false }),
    update(key, { add: { ...taken, [MOVES]: 1 } }, { equals: { revision: counts["revision"] } }),
    remove(keys.filledShard(accountId, shard)),
  ]);
}
