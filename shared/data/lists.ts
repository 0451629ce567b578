// Lists of any length, newest first: any page in two reads, with the exact total.
//
// Every record gets a number when it is created. The indexes sort by it. Next to each list, counts hold how many of its
// records have a number in each block of 32. They give the total and the block in which page N starts, and one Query from
// there returns the page. Numbers need not be dense or unique: concurrent requests may take the same one, deleted records
// leave gaps, and the counts know how many are left. The ID after the number makes the position in the index unique.
import { invalid } from "../api/errors.ts";
import { listQuery, type ListMeta } from "../api/fields.ts";
import { type Key, keys, type ListKind } from "./keys.ts";
import { type Item, query, queryAll, readAll } from "./table.ts";
import { keyString } from "./keys.ts";
import * as z from "zod";

/** Records in a block: what a page may have to skip over. Small, because each costs capacity to read. */
const BLOCK = 32;
/** Blocks in an item of counts: a write costs a unit per KB of it, so that it must stay small however long the list. */
const BLOCKS_PER_LEAF = 32;

export const numberOf = (made: number, id: string): string => `${String(made).padStart(10, "0")}#${id}`;
const madeOf = (number: string): number => Number(number.split("#", 1)[0]);

/** The item and attribute in which a number is counted. */
export function countPlace(number: string): { leaf: number; attribute: string } {
  const block = Math.floor(madeOf(number) / BLOCK);
  return { leaf: Math.floor(block / BLOCKS_PER_LEAF), attribute: `b${block % BLOCKS_PER_LEAF}` };
}

const Base = listQuery({});
export type PageQuery = z.output<typeof Base>;

export interface Listed<T> {
  items: T[];
  meta: ListMeta;
}

/** What a list is of: all records of a kind, or those with a status, or with a protection status. */
interface ListOf<T> {
  kind: ListKind;
  accountId: string;
  status: string | undefined;
  protection?: string | undefined;
  schema: z.ZodType<T>;
}

export async function listPage<T>(list: ListOf<T>, page: PageQuery): Promise<Listed<T>> {
  const { kind, schema } = list;
  const { index, attribute, partition, filter, name } = sourceOf(list);
  const blocks = await readBlocks(kind, list.accountId, filter);
  const total = blocks.reduce((sum, block) => sum + block.count, 0);
  const start =
    page.cursor === undefined
      ? placeOf(blocks, ((page.page ?? 1) - 1) * page.per_page)
      : { before: decode(page.cursor, name), skip: 0 };
  if (start === undefined) return { items: [], meta: metaOf(page, total, null) };
  const { items } = await query({
    IndexName: index,
    KeyConditionExpression: "#list = :list AND #number < :before",
    ExpressionAttributeNames: { "#list": attribute, "#number": "number" },
    ExpressionAttributeValues: { ":list": partition, ":before": start.before },
    ScanIndexForward: false,
    Limit: start.skip + page.per_page + 1, // one extra shows whether there is a next page
  });
  const { items: shown, meta } = pageOf(items.slice(start.skip), page, total, name);
  return { items: shown.map((item) => schema.parse(item)), meta };
}

/** The counts of the records with a protection status. */
export const protectionFilter = (protection: string): string => `protection#${protection}`;

/** Where a list is: its index with the partition, and its counts; `name` is what its cursors say. */
function sourceOf({ kind, accountId, status, protection }: Omit<ListOf<unknown>, "schema">) {
  if (protection !== undefined)
    return {
      index: "byProtection",
      attribute: "list_protection",
      partition: keys.listByProtection(kind, accountId, protection),
      filter: protectionFilter(protection),
      name: `${kind}:${protectionFilter(protection)}`,
    };
  if (status !== undefined)
    return {
      index: "byStatus",
      attribute: "list_status",
      partition: keys.listByStatus(kind, accountId, status),
      filter: status,
      name: `${kind}:${status}`,
    };
  return { index: "byNumber", attribute: "list", partition: keys.list(kind, accountId), filter: "all", name: `${kind}:` };
}

/**
 * A list scoped to a parent (the instances of a server): small, so it is read whole and counted by the Query itself.
 * `isEmpty` describes the parent's whole list, whatever the filter.
 */
export async function listOfParent<T>(
  { kind, accountId, schema }: Omit<ListOf<T>, "status">,
  parentId: string,
  page: PageQuery,
  keep: (record: T) => boolean = () => true,
): Promise<Listed<T> & { isEmpty: boolean }> {
  const items = await itemsOfParent(kind, accountId, parentId);
  const kept = items.filter((item) => keep(schema.parse(item)));
  const { items: shown, meta } = partOf(kept, page, `${kind}:${parentId}`);
  return { items: shown.map((item) => schema.parse(item)), meta, isEmpty: items.length === 0 };
}

const Link = z.object({ link_to: z.string() });

/** The same of records of which some are only linked to: those of the page are read in one call more. */
export async function listOfParentWithLinks<T>(
  { kind, accountId, schema }: Omit<ListOf<T>, "status">,
  parentId: string,
  page: PageQuery,
): Promise<Listed<T>> {
  const { items, meta } = partOf(await itemsOfParent(kind, accountId, parentId), page, `${kind}:${parentId}`);
  const keyOf = (item: Item): Key | undefined => {
    const link = Link.safeParse(item).data;
    return link && keys.record(kind, accountId, link.link_to);
  };
  const linked = await readAll(
    items.flatMap((item) => keyOf(item) ?? []),
    { consistent: false },
  );
  const records = items.flatMap((item) => {
    const key = keyOf(item);
    return (key === undefined ? item : linked.get(keyString(key))) ?? []; // a link whose record is not there yet, or no longer
  });
  return { items: records.map((record) => schema.parse(record)), meta };
}

/** The newest records of a parent's list, without those that it only links to: one Query. */
export async function newestOfParent<T>(
  { kind, accountId, schema }: Omit<ListOf<T>, "status">,
  parentId: string,
  limit: number,
): Promise<T[]> {
  const { items } = await query({ ...ofParent(kind, accountId, parentId), Limit: limit });
  return items.filter((item) => !Link.safeParse(item).success).map((item) => schema.parse(item));
}

const ofParent = (kind: ListKind, accountId: string, parentId: string) => ({
  IndexName: "byParent",
  KeyConditionExpression: "#parent = :parent",
  ExpressionAttributeNames: { "#parent": "list_parent" },
  ExpressionAttributeValues: { ":parent": keys.listByParent(kind, accountId, parentId) },
  ScanIndexForward: false,
});

async function itemsOfParent(kind: ListKind, accountId: string, parentId: string): Promise<Item[]> {
  const items: Item[] = [];
  let more: Item | undefined;
  do {
    const result = await query({
      ...ofParent(kind, accountId, parentId),
      ...(more !== undefined && { ExclusiveStartKey: more }),
    });
    items.push(...result.items);
    more = result.more;
  } while (more !== undefined);
  return items;
}

/** A page of a list that was read whole. */
function partOf(items: readonly Item[], page: PageQuery, name: string): Listed<Item> {
  const before = page.cursor === undefined ? undefined : decode(page.cursor, name);
  const rest =
    before === undefined
      ? items.slice(((page.page ?? 1) - 1) * page.per_page)
      : items.filter((item) => String(item["number"]) < before);
  return pageOf(rest, page, items.length, name);
}

/** A list that has at most a hundred records, read whole in one call by its caller: newest first. */
export function smallPage<T extends { id: string }>(records: readonly T[], page: PageQuery, name: string): Listed<T> {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const before = page.cursor === undefined ? undefined : decode(page.cursor, name);
  const rest =
    before === undefined ? sorted.slice(((page.page ?? 1) - 1) * page.per_page) : sorted.filter((record) => record.id < before);
  const items = rest.slice(0, page.per_page);
  const last = items.at(-1);
  return { items, meta: metaOf(page, sorted.length, last && rest.length > page.per_page ? encode(name, last.id) : null) };
}

function pageOf(items: readonly Item[], page: PageQuery, total: number, name: string): Listed<Item> {
  const kept = items.slice(0, page.per_page);
  const last = kept.at(-1);
  const cursor = last !== undefined && items.length > page.per_page ? encode(name, String(last["number"])) : null;
  return { items: kept, meta: metaOf(page, total, cursor) };
}

const metaOf = (page: PageQuery, total: number, next_cursor: string | null): ListMeta => ({
  page: page.page ?? 1,
  per_page: page.per_page,
  total,
  next_cursor,
});

interface Block {
  /** Where the block ends: numbers below this are in it or older. */
  before: string;
  count: number;
}

/** The counts of a list's blocks, newest block first. */
async function readBlocks(kind: ListKind, accountId: string, filter: string): Promise<Block[]> {
  const prefix = keys.countsOf(filter);
  const leaves = await queryAll(keys.counts(kind, accountId), { beginsWith: prefix });
  const blocks = leaves.flatMap((leaf) => {
    const first = Number(String(leaf["sk"]).slice(prefix.length)) * BLOCKS_PER_LEAF;
    return Array.from({ length: BLOCKS_PER_LEAF }, (_, i) => ({
      before: numberOf((first + i + 1) * BLOCK, ""),
      count: Number(leaf[`b${i}`] ?? 0),
    })).filter((block) => block.count > 0);
  });
  return blocks.toReversed();
}

/** The block in which the record at `offset` is, and how many newer ones of that block to skip; undefined past the end. */
function placeOf(blocks: readonly Block[], offset: number): { before: string; skip: number } | undefined {
  let passed = 0;
  for (const block of blocks) {
    if (offset < passed + block.count) return { before: block.before, skip: offset - passed };
    passed += block.count;
  }
  return undefined;
}

/** A cursor contains its list, so that other lists reject it. */
const Cursor = z.tuple([z.string(), z.string().min(1)]);
const encode = (name: string, place: string): string => Buffer.from(JSON.stringify([name, place])).toString("base64url");
function decode(cursor: string, name: string): string {
  const parsed = Cursor.safeParse(parseJson(Buffer.from(cursor, "base64url").toString()));
  if (!parsed.success || parsed.data[0] !== name)
    throw invalid({ field: "cursor", reason: "is not a valid cursor for this list" });
  return parsed.data[1];
}
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not a cursor of ours; the caller reports it
  }
}
