// The overview's counts of an account: the sum of its own item and of its shards (`shards.ts`).
import * as z from "zod";
import { type Item, type Key, keys } from "./keys.ts";
import { readCounts, readWithShards, SHARDS } from "./shards.ts";
import { queryAll } from "./table.ts";
import { check, update, type Write } from "./writes.ts";

interface Part {
  key: Key;
  counts: Readonly<Record<string, number>>;
}

/** The item and its shards. */
async function readParts(accountId: string): Promise<Part[]> {
  const { pk } = keys.overview(accountId);
  const items = await readWithShards(() => queryAll(pk, { beginsWith: keys.overviewParts(), consistent: true }));
  return items.map((item) => ({ key: Keyed.parse(item), counts: readCounts(item) }));
}

const Keyed = z.object({ pk: z.string(), sk: z.string() });

/** The counts, and the revision among them. */
export const overviewCounts = async (accountId: string): Promise<Record<string, number>> => addUp(await readParts(accountId));

function addUp(parts: readonly Part[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { counts } of parts) for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/**
 * Reads what a correction of counts needs: what shards hold, and the writes that raise the revision and set counts, if nothing
 * has changed since.
 */
export async function overviewAsRead(
  accountId: string,
): Promise<{ inShards: Record<string, number>; writes: (set?: Item) => Write[] }> {
  const parts = await readParts(accountId);
  const overviewKey = keys.overview(accountId);
  const findRevision = (sk: string): number | undefined => parts.find(({ key }) => key.sk === sk)?.counts["revision"];
  const asRead = (key: Key) => ({ exists: false, same: { revision: findRevision(key.sk) } });
  return {
    inShards: addUp(parts.filter(({ key }) => key.sk !== overviewKey.sk)),
    writes: (set = {}) => [
      update(overviewKey, { set, add: { revision: 1 } }, asRead(overviewKey)),
      ...Array.from({ length: SHARDS }, (_, shard) => keys.overviewShard(accountId, shard)).map((key) => check(key, asRead(key))),
    ],
  };
}
