// Lists of operations that are filtered by type, actor or server: the entries of an account are read whole, and then the records
// of the page.
import { idOfShort, timeOfShort } from "../domain/ids.ts";
import { codeOfOperation, codeOfStatus, ENTRY_ATTRIBUTES } from "../data/codes.ts";
import { type Key, keys, keyString, type Item } from "../data/keys.ts";
import { readChildren } from "../data/child-lists.ts";
import { actorIn, endOf } from "../data/operation-entries.ts";
import { isCreatedIn, type Listed, type PageQuery, slicePage } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import { OperationRecord } from "./schemas/operation.ts";
import { capTotal } from "../data/search.ts";
import { queryAll, readAll } from "../data/table.ts";

const { type: TYPE, actor: ACTOR, status: STATUS, about: ABOUT, created_after_id: LATE } = ENTRY_ATTRIBUTES;

interface Filters {
  status?: string | undefined;
  type?: string | undefined;
  actor?: string | undefined;
  server_id?: string | undefined;
}

/** What operations on a server are about: the server, and the instances that are on it now. */
export async function aboutServer(accountId: string, serverId: string): Promise<(about: unknown) => boolean> {
  const instances = await readChildren("instance", accountId, serverId);
  const ends = new Set([serverId, ...instances.map((item) => String(item["id"]))].map((id) => endOf(id).toString("hex")));
  return (about) => about instanceof Uint8Array && ends.has(Buffer.from(about).toString("hex"));
}

/** A page of the operations of a type, of an actor, or on a server. */
export async function findOperations(accountId: string, filters: Filters, page: PageQuery): Promise<Listed<OperationRecord>> {
  const criteria: [string, string | Uint8Array | undefined][] = [
    [TYPE, filters.type && codeOfOperation(filters.type)],
    [ACTOR, filters.actor && actorIn(filters.actor)],
    [STATUS, filters.status && codeOfStatus(filters.status)],
  ];
  const isMeant = (item: Item): boolean => criteria.every(([name, value]) => value === undefined || isSame(item[name], value));
  const isInTime = isCreatedIn(page);
  const [entries, isAbout] = await Promise.all([
    queryAll(keys.entries("operation", accountId)),
    filters.server_id === undefined ? () => true : aboutServer(accountId, filters.server_id),
  ]);
  const matches = entries.flatMap((item) => {
    if (item[TYPE] === undefined || !isMeant(item) || !isAbout(item[ABOUT])) return [];
    const short = String(item["sk"]);
    const created_at = new Date(timeOfShort(short) + Number(item[LATE] ?? 0)).toISOString();
    return isInTime({ created_at }) ? [{ value: short, sortKey: `${created_at}\n${short}` }] : [];
  });
  const { items, meta } = slicePage(matches, page, JSON.stringify(["operation", filters]));
  const recordKeys: Key[] = items.map((short) => keys.record("operation", accountId, idOfShort("operation", short)));
  const read = await readAll(recordKeys, { consistent: false });
  const records = recordKeys.flatMap((key): Item[] => {
    const record = read.get(keyString(key));
    return record === undefined ? [] : [record]; // it may have been removed since
  });
  return { items: parseEach(OperationRecord, records), meta: capTotal(meta) };
}

const isSame = (stored: unknown, expected: string | Uint8Array): boolean =>
  typeof expected === "string" ? stored === expected : stored instanceof Uint8Array && Buffer.compare(stored, expected) === 0;
