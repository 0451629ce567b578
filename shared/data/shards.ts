// Shards of counts. Most changes of an account add to the same few items: its overview, the counts of its lists, and what it uses
// of its quotas. DynamoDB takes some twenty transactions a second on an item. So a change that meets another one there adds to a
// shard of the item instead. Whoever reads the counts adds the shards, and the sweep moves what they hold to the items, where
// versions that do not know shards find everything.
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { concurrently } from "../platform/concurrently.ts";
import { BLOCKS_PER_LEAF, COUNT_ATTRIBUTES } from "./codes.ts";
import { type Item, type Key, keys, keyString, type ListKind } from "./keys.ts";
import { parseEach } from "./parse-each.ts";
import { ConditionFailed, find, queryAll, transact } from "./table.ts";
import { remove, update, type Write } from "./writes.ts";

/** Sixty changes a second are four on each: a fifth of what DynamoDB takes. */
export const SHARDS = 16;

/**
 * Which counts: the overview's, those on the account's own item, or those of a list, which are on an item for each 1,024 records.
 */
export interface Sharded {
  account_id: string;
  of: "overview" | "account" | ListKind;
  /** Lists only: the filter, as in the list's counts. */
  filter?: string | undefined;
}

/** Maps attributes to counts; those of a list are by block. */
type Counts = Readonly<Record<string, number>>;

/**
 * How often something was moved from the shards to these items, and from this shard: equal sums, unless a reader sees half of a
 * move.
 */
const [MOVED_IN, MOVED_OUT] = ["moved_in", "moved_out"] as const;
/** How often something was added to a shard. */
const CHANGES = "changes";
const NO_COUNTS: readonly string[] = ["pk", "sk", MOVED_IN, MOVED_OUT, CHANGES];

function shardKey({ account_id, of, filter = "" }: Sharded, shard: number): Key {
  if (of === "overview") return keys.overviewShard(account_id, shard);
  if (of === "account") return keys.accountShard(account_id, shard);
  return keys.countShard(of, account_id, filter, shard);
}

/** The attribute of a shard that counts a block of a list; the list's own items number their blocks anew. */
export const blockAttribute = (block: number): string => `${COUNT_ATTRIBUTES.count}${block}`;

interface Part {
  key: Key;
  /** The item's attributes. */
  add: Record<string, number>;
  /** The names of these attributes in a shard. */
  names: string[];
}

/** What to add to which items, if not to a shard. */
function buildParts({ account_id, of, filter = "" }: Sharded, counts: Counts): Part[] {
  if (of === "overview" || of === "account")
    return [
      { key: of === "overview" ? keys.overview(account_id) : keys.account(account_id), add: counts, names: Object.keys(counts) },
    ];
  const parts = new Map<number, Part>();
  for (const [name, count] of Object.entries(counts)) {
    const block = Number(name.slice(COUNT_ATTRIBUTES.count.length));
    const leaf = Math.floor(block / BLOCKS_PER_LEAF);
    const key = keys.count(of, account_id, filter, leaf);
    const part = parts.get(leaf) ?? { key, add: {}, names: [] };
    part.add[blockAttribute(block % BLOCKS_PER_LEAF)] = count;
    part.names.push(name);
    parts.set(leaf, part);
  }
  return [...parts.values()];
}

/** Adds to counts: to their items, or to a shard if another change is writing one of these. */
export function addTo(sharded: Sharded, counts: Counts): Write[] {
  const elsewhere = (): Write[] => addToShard(sharded, counts);
  return buildParts(sharded, counts).map(({ key, add }) => ({ ...update(key, { add }, { exists: false }), elsewhere }));
}

/** The shard, and that it has something to move. */
export function addToShard(sharded: Sharded, counts: Counts): Write[] {
  const shard = Math.floor(Math.random() * SHARDS);
  const key = shardKey(sharded, shard);
  const elsewhere = (): Write[] => addToShard(sharded, counts);
  return [
    update(key, { add: { ...counts, [CHANGES]: 1 } }, { exists: false }),
    update(keys.filledShard(key), { set: { ...sharded, shard } }, { exists: false }),
  ].map((write) => ({ ...write, elsewhere }));
}

const READ_TRIES = 10;

/** Counts and all of their shards, as they were at one time: a Query may see half of a transaction. */
export async function readWithShards(read: () => Promise<Item[]>): Promise<Item[]> {
  for (let attempt = 1; ; attempt++) {
    const items = await read();
    const sum = (name: string): number => items.reduce((total, item) => total + Number(item[name] ?? 0), 0);
    if (sum(MOVED_IN) === sum(MOVED_OUT) || attempt >= READ_TRIES) return items;
  }
}

/** The counts of an item. */
export const readCounts = (item: Item): Record<string, number> =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, count]) => (NO_COUNTS.includes(name) ? [] : [[name, Number(count)] as const])),
  );

const Filled = z.object({
  account_id: z.string(),
  of: z.enum(["overview", "account", "server", "instance", "backup", "operation", "alert", "event", "outcome"]),
  filter: z.string().optional(),
  shard: z.number(),
});
type Filled = z.infer<typeof Filled>;

const AT_ONCE = 10;

/** Moves what shards hold to the items. What changes meanwhile waits for the next time, and holds up no other account. */
export async function emptyShards(): Promise<void> {
  const filled = parseEach(Filled, await queryAll(keys.filledShards(), { consistent: true }));
  const groups = Map.groupBy(filled, (each) => keyString(shardKey(each, 0)));
  await concurrently(AT_ONCE, [...groups.values()], async (shards) => {
    // One after another: all move to the same items.
    for (const each of shards) await emptyShard(each);
  });
}

async function emptyShard({ shard, ...sharded }: Filled): Promise<void> {
  const key = shardKey(sharded, shard);
  const item = await find({ key, schema: z.custom<Item>() });
  if (item === undefined) return;
  const parts = buildParts(sharded, readCounts(item));
  try {
    // Each part raises MOVED_OUT, and the next one expects that.
    for (const [index, part] of parts.entries()) {
      const moved = Number(item[MOVED_OUT] ?? 0) + index;
      const asRead = { [CHANGES]: item[CHANGES], [MOVED_OUT]: moved === 0 ? undefined : moved };
      await transact([
        update(part.key, { add: { ...part.add, [MOVED_IN]: 1 } }, { exists: false }),
        update(key, { remove: part.names, add: { [MOVED_OUT]: 1 } }, { same: asRead }),
        ...(part === parts.at(-1) ? [remove(keys.filledShard(key))] : []),
      ]);
    }
  } catch (error) {
    if (!(error instanceof ConditionFailed || error instanceof TransactionCanceledException)) throw error;
  }
}
