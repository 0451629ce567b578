// Lists of any length: any page in two reads, with the exact total.
//
// Every record gets a number when it is created. The indexes sort by it. Next to each list, counts hold how many of its
// records have a number in each block of 32. They give the total and the block in which page N starts, and one Query from
// there returns the page. Numbers need not be dense or unique: concurrent requests may take the same one, deleted records
// leave gaps, and the counts know how many are left. The ID after the number makes the position in the index unique.
//
// Marks say when the first record of a block was created. A list of a time therefore reads the few records around its two ends,
// and counts the blocks between them.
import type * as z from "zod";
import { BLOCK, BLOCKS_PER_LEAF, COUNT_ATTRIBUTES } from "./codes.ts";
import { actorFilter, type EventKind, keys, type ListKind, protectionFilter, type Item } from "./keys.ts";
import { listChildren } from "./child-lists.ts";
import { formatNumber } from "./numbers.ts";
import { decode, isCreatedIn, type Listed, buildPage, type PageQuery, slicePage } from "./pages.ts";
import { parseEach, parseOrSkip } from "./parse-each.ts";
import { readWithShards } from "./shards.ts";
import { query, queryAll } from "./table.ts";

/** What a list is of: all records of a kind, or those with a status (events: a type), a protection status, or an actor. */
interface ListOf<T> {
  kind: ListKind;
  accountId: string;
  status?: string | undefined;
  protection?: string | undefined;
  actor?: string | undefined;
  schema: z.ZodType<T>;
}

export async function listPage<T>(list: ListOf<T>, page: PageQuery): Promise<Listed<T>> {
  const { schema } = list;
  const source = chooseSource(list);
  const isRanged = page.created_after !== undefined || page.created_before !== undefined;
  const blocks = await readBlocks(list, source.filter, isRanged);
  const parts = isRanged ? await partsBetween(source, blocks, page) : [{ from: 0, to: Infinity }];
  const name = [source.name, page.order === "asc" ? "asc" : "", page.created_after ?? "", page.created_before ?? ""].join("|");
  const total = parts.reduce((sum, part) => sum + ("items" in part ? part.items.length : countIn(blocks, part)), 0);
  const items = await readParts(source, { blocks, parts: page.order === "asc" ? parts : parts.toReversed() }, page, name);
  const { items: onPage, meta } = buildPage(items, page, total, name);
  return { items: parseEach(schema, onPage), meta };
}

/** A list's partition of an index, and its counts; `name` is what its cursors say. */
interface Source {
  index: string;
  attribute: string;
  partition: string;
  filter: string;
  name: string;
}

function chooseSource({ kind, accountId, status, protection, actor }: Omit<ListOf<unknown>, "schema">): Source {
  const of = (index: string, attribute: string, partition: string, filter: string): Source => ({
    index,
    attribute,
    partition,
    filter,
    name: `${kind}:${filter}`,
  });
  if (actor !== undefined)
    return of("byProtection", "list_protection", keys.listByActor(kind, accountId, actor), actorFilter(actor));
  if (protection !== undefined)
    return of(
      "byProtection",
      "list_protection",
      keys.listByProtection(kind, accountId, protection),
      protectionFilter(protection),
    );
  if (status !== undefined) return of("byStatus", "list_status", keys.listByStatus(kind, accountId, status), status);
  return of("byNumber", "list", keys.list(kind, accountId), "all");
}

/** Blocks of numbers, from the first up to the one before `to`. */
interface Range {
  from: number;
  to: number;
}

/** A part of a list, oldest first: what was read of it, or blocks of which each record belongs to it. */
type Part = { items: Item[] } | Range;

/** What is read of a part of a list in one Query. */
async function readRange(
  { index, attribute, partition }: Source,
  { above, below, ascending, limit }: { above: string; below: string; ascending: boolean; limit?: number },
): Promise<Item[]> {
  const items: Item[] = [];
  const itemsMax = limit ?? Number.MAX_SAFE_INTEGER;
  let more: Item | undefined;
  do {
    const result = await query({
      IndexName: index,
      KeyConditionExpression: "#list = :list AND #number BETWEEN :above AND :below",
      ExpressionAttributeNames: { "#list": attribute, "#number": "number" },
      ExpressionAttributeValues: { ":list": partition, ":above": above, ":below": below },
      ScanIndexForward: ascending,
      ...(limit !== undefined && { Limit: limit }),
      ...(more !== undefined && { ExclusiveStartKey: more }),
    });
    items.push(...result.items);
    more = result.more;
  } while (more !== undefined && items.length < itemsMax);
  return items;
}

const BEYOND = ":"; // after all numbers
const startOf = (block: number): string => (Number.isFinite(block) ? formatNumber(block * BLOCK, "") : BEYOND);

/** The records of a page, and one more that shows whether there is a next page. */
async function readParts(
  source: Source,
  { blocks, parts }: { blocks: readonly Block[]; parts: readonly Part[] },
  page: PageQuery,
  name: string,
): Promise<Item[]> {
  const ascending = page.order === "asc";
  const cursor = page.cursor === undefined ? undefined : decode(page.cursor, name);
  const isNext = ({ number }: Item) => cursor === undefined || (ascending ? String(number) > cursor : String(number) < cursor);
  const items: Item[] = [];
  let skip = cursor === undefined ? ((page.page ?? 1) - 1) * page.per_page : 0;
  for (const part of parts) {
    const missing = page.per_page + 1 - items.length;
    if (missing <= 0) break;
    if ("items" in part) {
      const nextItems = (ascending ? part.items : part.items.toReversed()).filter(isNext);
      items.push(...nextItems.slice(skip, skip + missing));
      skip = Math.max(0, skip - nextItems.length);
      continue;
    }
    const start = cursor === undefined ? findStart(blocks, part, { skip, ascending }) : { edge: cursor, skip: 0 };
    if (start === undefined) {
      skip -= countIn(blocks, part);
      continue;
    }
    const [low, high] = [startOf(part.from), startOf(part.to)];
    const [above, below] = ascending ? [start.edge > low ? start.edge : low, high] : [low, start.edge < high ? start.edge : high];
    const limit = start.skip + missing + (cursor === undefined ? 0 : 1);
    const read = above > below ? [] : await readRange(source, { above, below, ascending, limit });
    items.push(...read.filter(isNext).slice(start.skip, start.skip + missing));
    skip = 0;
  }
  return items;
}

/** The block in which the record at an offset of a part is, and how many of that block to skip; undefined past the end. */
function findStart(
  blocks: readonly Block[],
  { from, to }: Range,
  { skip, ascending }: { skip: number; ascending: boolean },
): { edge: string; skip: number } | undefined {
  let countBefore = 0;
  for (const { block, count } of ascending ? blocks : blocks.toReversed()) {
    if (block < from || block >= to) continue;
    if (skip < countBefore + count) return { edge: startOf(ascending ? block : block + 1), skip: skip - countBefore };
    countBefore += count;
  }
  return undefined;
}

const countIn = (blocks: readonly Block[], { from, to }: Range): number =>
  blocks.reduce((sum, { block, count }) => (block >= from && block < to ? sum + count : sum), 0);

/**
 * Numbers are taken in the order of creation, but for requests that run at the same time: the account is read, and the time
 * taken, within a call to DynamoDB, which lasts at most 2 s before it is repeated.
 */
const SKEW_MS = 2_500;
/** Up to so many records are all read, instead of only those around the two times: some 150 KB, 20 read units. */
const FEW = 200;

/** The parts of a list that were created between two times: what is read around both, and the blocks between. */
async function partsBetween(
  source: Source,
  blocks: readonly Block[],
  { created_after, created_before }: PageQuery,
): Promise<Part[]> {
  const isWithin = isCreatedIn({ created_after, created_before });
  const read = async ({ from, to }: Range): Promise<Part> => {
    const isEmpty = from >= to || countIn(blocks, { from, to }) === 0;
    const items = isEmpty ? [] : await readRange(source, { above: startOf(from), below: startOf(to), ascending: true });
    return { items: items.filter(isWithin) };
  };
  const first = created_after === undefined ? { from: 0, to: 0 } : aroundTime(blocks, Date.parse(created_after));
  const last = created_before === undefined ? { from: Infinity, to: Infinity } : aroundTime(blocks, Date.parse(created_before));
  const range = { from: first.from, to: last.to };
  if (last.from < first.to || countIn(blocks, range) <= FEW) return [await read(range)];
  return [await read(first), { from: first.to, to: last.from }, await read(last)];
}

/** The blocks that may have records of before and of after a time: all older ones are before it, all newer ones after. */
function aroundTime(blocks: readonly Block[], at: number): Range {
  const marked = blocks.flatMap(({ block, mark }) => (mark === undefined ? [] : [{ block, mark }]));
  const from = marked.findLast(({ mark }) => mark <= at - SKEW_MS)?.block ?? 0;
  const to = marked.find(({ block, mark }) => block >= from && mark >= at + SKEW_MS)?.block ?? Infinity;
  return { from, to };
}

interface Block {
  block: number;
  count: number;
  /** The time when its first record was created; undefined where nobody took the number, or before this was noted. */
  mark: number | undefined;
}

/** A list's blocks, oldest first, and when they begin if that is needed. */
async function readBlocks(
  { kind, accountId }: Omit<ListOf<unknown>, "schema">,
  filter: string,
  withMarks: boolean,
): Promise<Block[]> {
  // The counts of all are next to the marks. Those of a status are read with all statuses: two Queries would be one too many.
  const range = !withMarks
    ? { between: [keys.countShardsOf(filter), `${keys.countsOf(filter)}:`] as const } // after all digits
    : filter === "all"
      ? { beginsWith: keys.countsAndMarks() }
      : {};
  const items = await readWithShards(() => queryAll(keys.counts(kind, accountId), range));
  const counts = new Map<number, number>();
  const marks = new Map<number, number>();
  const itemsOf = (prefix: string): Item[] => items.filter(({ sk }) => typeof sk === "string" && sk.startsWith(prefix));
  // Each item numbers its blocks anew, from the first one of its leaf.
  const readLeaves = (into: Map<number, number>, prefix: string, attribute: string): void => {
    for (const item of itemsOf(prefix))
      addBlocks(into, item, attribute, Number(String(item["sk"]).slice(prefix.length)) * BLOCKS_PER_LEAF);
  };
  // A shard has blocks of the whole list, by their own numbers.
  const readShards = (into: Map<number, number>, prefix: string, attribute: string): void => {
    for (const item of itemsOf(prefix)) addBlocks(into, item, attribute, 0);
  };
  readLeaves(counts, keys.countsOf(filter), COUNT_ATTRIBUTES.count);
  readShards(counts, keys.countShardsOf(filter), COUNT_ATTRIBUTES.count);
  readLeaves(marks, keys.marksOf(), COUNT_ATTRIBUTES.mark);
  return [...new Set([...counts.keys(), ...marks.keys()])]
    .toSorted((a, b) => a - b)
    .map((block) => ({ block, count: Math.max(0, counts.get(block) ?? 0), mark: marks.get(block) }));
}

/** Adds what an item says of its blocks, in attributes that end in their numbers. */
function addBlocks(into: Map<number, number>, item: Item, attribute: string, first: number): void {
  for (const [name, value] of Object.entries(item)) {
    const block = first + Number(name.slice(attribute.length));
    if (name.startsWith(attribute) && !Number.isNaN(block)) into.set(block, (into.get(block) ?? 0) + Number(value));
  }
}

/** Filters of a list whose records have a status (events: a type) and one more attribute with an index and counts. */
interface Filters<T> {
  status?: string | undefined;
  actor?: string | undefined;
  parentId?: string | undefined;
  /** Whether a record is meant. */
  keep: (record: T) => boolean;
  /** More is meant than the filters say: counts are not enough. */
  narrowed?: boolean;
}

/** A page of such a list. One filter has an index and counts; a resource's records are few, and read whole. */
export async function listFiltered<T>(
  list: { kind: EventKind | "alert"; accountId: string; schema: z.ZodType<T> },
  { status, actor, parentId, keep, narrowed = false }: Filters<T>,
  page: PageQuery,
): Promise<Listed<T>> {
  if (parentId !== undefined) {
    const { items, meta } = await listChildren({ ...list, parentId }, page, keep, `${status ?? ""}:${actor ?? ""}`);
    return { items, meta };
  }
  if (!narrowed && (status === undefined || actor === undefined)) return listPage({ ...list, status, actor }, page);
  // The shorter of the lists is read.
  const [first = {}, ...others] = [{ status }, { actor }].filter((each) => Object.values(each)[0] !== undefined);
  const sources = [first, ...others].map((each) => chooseSource({ ...list, ...each }));
  const totals = await Promise.all(
    sources.map(async ({ filter }) => countIn(await readBlocks(list, filter, false), { from: 0, to: Infinity })),
  );
  const shorter = sources[totals.indexOf(Math.min(...totals))] ?? chooseSource(list);
  const items = await readRange(shorter, { above: startOf(0), below: BEYOND, ascending: true });
  const isWithin = isCreatedIn(page);
  const candidates = items.filter(isWithin).flatMap((item) => {
    const value = parseOrSkip(list.schema, item);
    return value === undefined ? [] : [{ value, sortKey: String(item["number"]) }];
  });
  return slicePage(
    candidates.filter(({ value }) => keep(value)),
    page,
    `${list.kind}:${status ?? ""}:${actor ?? ""}`,
  );
}

interface EventFilters {
  type?: string | undefined;
  actor?: string | undefined;
  resource_id?: string | undefined;
}

/** A page of events. */
export const listEvents = <T extends { type: string; actor: { id: string } }>(
  list: { kind: EventKind; accountId: string; schema: z.ZodType<T> },
  { type, actor, resource_id, ...page }: PageQuery & EventFilters,
): Promise<Listed<T>> => {
  const keep = (event: T): boolean => event.type === (type ?? event.type) && event.actor.id === (actor ?? event.actor.id);
  return listFiltered(list, { status: type, actor, parentId: resource_id, keep }, page);
};
