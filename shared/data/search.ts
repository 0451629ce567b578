// Lists that are filtered by label or search, by several filters, or sorted by name: the entries of a kind are read whole (140 bytes a
// record), and then the records of the page.
import type * as z from "zod";
import type { ListMeta } from "../api/fields.ts";
import { idOfShort, isId, shortOf, timeOfShort } from "../domain/ids.ts";
import { type ResourceType, statusOf } from "../domain/lifecycle.ts";
import { LISTED_MAX } from "../domain/limits.ts";
import { folded, matcherOf } from "../domain/words.ts";
import { ENTRY_ATTRIBUTES, statusOfCode } from "./codes.ts";
import { findableIn, packLabels, unpackLabels } from "./entries.ts";
import { type Key, keys, keyString } from "./keys.ts";
import { itemsOfParent } from "./lists-of-parents.ts";
import { parseEach } from "./parse-each.ts";
import { isCreatedIn, type Listed, type PageQuery, slicePage } from "./pages.ts";
import { type Item, queryAll, readAll } from "./table.ts";

/** What of a query only these lists know. */
export interface Finding {
  label?: readonly string[] | undefined;
  search?: string | undefined;
  sort?: "created_at" | "name" | undefined;
}

interface Filters {
  status?: string | undefined;
  protection?: string | undefined;
}

/** A record as its entry describes it. */
export interface Entry {
  /** The ID, short as in the entry: an ID takes long to spell, and only a page's are needed. */
  short: string;
  name: string;
  status: string;
  protection: string | undefined;
  /** Of an instance. */
  server: Uint8Array | undefined;
  created_at: string;
  labels: string[];
  /** An instance's domain, a backup's note. */
  detail: string | null;
  /** All text that is searched. */
  text: string;
}

/** Whether a list needs the entries: exact filters alone have an index and counts. */
export const needsEntries = ({ label, search, sort }: Finding, filters: Filters, page: PageQuery): boolean =>
  label !== undefined || search !== undefined || sort === "name" || exactOf(filters, page) > 1;

const exactOf = ({ status, protection }: Filters, { created_after, created_before }: PageQuery): number =>
  [status, protection, created_after ?? created_before].filter((each) => each !== undefined).length;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** An entry without a name is not complete: `indexAccount` has yet to write what its record had before there were entries. */
function entryIn(item: Item): Entry | undefined {
  const read = (field: keyof typeof ENTRY_ATTRIBUTES) => item[ENTRY_ATTRIBUTES[field]];
  const name = read("name");
  if (typeof name !== "string") return undefined;
  const short = text(item["sk"]);
  const packed = text(read("labels"));
  const server = read("server_id");
  return {
    short,
    name,
    status: statusOfCode(text(read("status"))),
    protection: read("protection") === undefined ? undefined : statusOfCode(text(read("protection"))),
    server: server instanceof Uint8Array ? server : undefined,
    created_at: new Date(timeOfShort(short) + Number(read("created_after_id") ?? 0)).toISOString(),
    labels: packed === "" ? [] : unpackLabels(packed),
    detail: text(read("domain") ?? read("note")) || null,
    text: [name, read("domain"), read("database_name"), read("note")].map(text).join(" "),
  };
}

/** A record as its entry would describe it. */
function entryOfRecord(kind: ResourceType, record: Item): Entry {
  const { name, domain, database_name, note, labels = {} } = findableIn(kind, record);
  const packed = packLabels(labels);
  return {
    short: text(record["id"]),
    name: name ?? "",
    status: statusOf(kind, text(record["state"])),
    protection: text(record["protection_status"]) || "unprotected",
    server: undefined,
    created_at: text(record["created_at"]),
    labels: packed === "" ? [] : unpackLabels(packed),
    detail: domain ?? note ?? null,
    text: [name, domain, database_name, note].map(text).join(" "),
  };
}

async function readEntries(kind: ResourceType, accountId: string): Promise<Entry[]> {
  const items = await queryAll(keys.entries(kind, accountId));
  return items.flatMap((item) => entryIn(item) ?? []);
}

/** Whether a record is one that a query means. */
function isMeant(
  { label = [], search }: Finding,
  { status, protection }: Filters,
  page: Pick<PageQuery, "created_after" | "created_before">,
): (entry: Pick<Entry, "status" | "protection" | "created_at" | "labels" | "text">) => boolean {
  const isInTime = isCreatedIn(page);
  const hasWords = search === undefined ? () => true : matcherOf(search);
  return (entry) =>
    (status === undefined || entry.status === status) &&
    (protection === undefined || entry.protection === protection) &&
    label.every((each) => entry.labels.includes(each)) &&
    isInTime(entry) &&
    hasWords(entry.text);
}

/** Where a record is in a list: the ID, which sorts by creation, makes its place its own. */
const placeIn =
  (sort: Finding["sort"]) =>
  ({ short, name, created_at }: Entry): string =>
    sort === "name" ? `${folded(name)}\n${short}` : `${created_at}\n${short}`;

/** The query with the order that its sort has if it names none. */
const inOrder = <P extends PageQuery>(page: P, { sort }: Finding): P =>
  page.order === undefined && sort === "name" ? { ...page, order: "asc" } : page;

interface Found extends Pick<Entry, "name" | "status" | "detail" | "created_at"> {
  type: ResourceType;
  id: string;
}

/** The best matches of all these kinds: names that are the search, then those that begin with it, then the newest. */
export async function findEverywhere(
  accountId: string,
  kinds: readonly ResourceType[],
  search: string,
  limit: number,
): Promise<Found[]> {
  const hasWords = matcherOf(search);
  const wanted = folded(search.trim());
  const id = (kind: ResourceType) => (isId(kind, wanted) ? shortOf(wanted) : undefined);
  const found = await Promise.all(
    kinds.map(async (type) =>
      (await readEntries(type, accountId))
        .filter(({ short, text }) => short === id(type) || hasWords(text))
        .map((entry) => ({ ...entry, type })),
    ),
  );
  const rank = ({ short, name, type }: Entry & { type: ResourceType }): number => {
    const own = folded(name);
    return short === id(type) || own === wanted ? 0 : own.startsWith(wanted) ? 1 : 2;
  };
  return found
    .flat()
    .map((entry) => ({ entry, rank: rank(entry), kind: kinds.indexOf(entry.type) }))
    .toSorted((a, b) => a.rank - b.rank || a.kind - b.kind || (a.entry.created_at < b.entry.created_at ? 1 : -1))
    .slice(0, limit)
    .map(({ entry }) => ({ ...entry, id: idOfShort(entry.type, entry.short) }));
}

/** What a list is called in its cursors: its filters, which a cursor of another list does not have. */
const nameOf = (kind: string, { label = [], search, sort }: Finding, filters: object): string =>
  JSON.stringify([kind, label.toSorted(), search ?? null, sort ?? "created_at", filters]);

interface FoundPage {
  records: Item[];
  /** Everything that was read with them, by key. */
  read: Map<string, Item>;
  meta: ListMeta;
}

/** A page of what is found; `also` names what is read with each record, in the same call. */
export async function findPage(
  { kind, accountId }: { kind: ResourceType; accountId: string },
  { finding, filters, page }: { finding: Finding; filters: Filters; page: PageQuery },
  also: (entry: Entry) => Key[] = () => [],
): Promise<FoundPage> {
  const found = (await readEntries(kind, accountId)).filter(isMeant(finding, filters, page));
  const place = placeIn(finding.sort);
  const listed: Listed<Entry> = slicePage(
    found.map((value) => ({ value, place: place(value) })),
    inOrder(page, finding),
    nameOf(kind, finding, filters),
  );
  const keyOf = ({ short }: Entry) => keys.record(kind, accountId, idOfShort(kind, short));
  const read = await readAll(
    listed.items.flatMap((entry) => [keyOf(entry), ...also(entry)]),
    { consistent: false },
  );
  return {
    records: listed.items.flatMap((entry): Item[] => {
      const record = read.get(keyString(keyOf(entry)));
      return record === undefined ? [] : [record]; // it may have been removed since
    }),
    read,
    meta: capped(listed.meta),
  };
}

/** The same for the list of a parent, which is small and read whole. */
export async function findOfParent<T>(
  { kind, accountId, schema }: { kind: ResourceType; accountId: string; schema: z.ZodType<T> },
  parentId: string,
  { finding, filters, page }: { finding: Finding; filters: Filters; page: PageQuery },
): Promise<Listed<T> & { isEmpty: boolean }> {
  const items = await itemsOfParent(kind, accountId, parentId);
  const meant = isMeant(finding, filters, page);
  const place = placeIn(finding.sort);
  const found = items.flatMap((value) => {
    const entry = entryOfRecord(kind, value);
    return meant(entry) ? [{ value, place: place(entry) }] : [];
  });
  const listed = slicePage(found, inOrder(page, finding), nameOf(kind, finding, { ...filters, parentId }));
  return { items: parseEach(schema, listed.items), meta: listed.meta, isEmpty: items.length === 0 };
}

const capped = (meta: ListMeta): ListMeta =>
  meta.total > LISTED_MAX ? { ...meta, total: LISTED_MAX, total_capped: true } : meta;
