// Lists scoped to a parent, such as the instances of a server: small, so they are read whole.
import * as z from "zod";
import { type Key, keys, keyString, type ListKind, type Item } from "./keys.ts";
import { isCreatedIn, type Listed, type PageQuery, slicePage } from "./pages.ts";
import { parseEach, parseOrSkip } from "./parse-each.ts";
import { query, readAll } from "./table.ts";

/** What such a list is of. */
interface ChildList<T> {
  kind: ListKind;
  accountId: string;
  schema: z.ZodType<T>;
}

/** Counted by the Query itself. `isEmpty` describes the parent's whole list, whatever the filter. */
export async function listChildren<T>(
  { kind, accountId, parentId, schema }: ChildList<T> & { parentId: string },
  page: PageQuery,
  keep: (record: T) => boolean = () => true,
  filters = "",
): Promise<Listed<T> & { isEmpty: boolean }> {
  const items = await readChildren(kind, accountId, parentId);
  const placed = items.filter(isCreatedIn(page)).flatMap((item) => {
    const record = parseOrSkip(schema, item);
    return record !== undefined && keep(record) ? [{ value: record, sortKey: String(item["number"]) }] : [];
  });
  return { ...slicePage(placed, page, `${kind}:${parentId}:${filters}`), isEmpty: items.length === 0 };
}

const Link = z.object({ link_to: z.string() });

/** The same of records of which some are only linked to: those of the page are read in one call more. */
export async function listChildrenWithLinks<T>(
  { kind, accountId, schema }: ChildList<T>,
  parentId: string,
  page: PageQuery,
  { keep, name: filters }: { keep: ((item: Item) => boolean) | undefined; name: string },
): Promise<Listed<T>> {
  const all = await readChildren(kind, accountId, parentId);
  const name = `${kind}:${parentId}:${filters}`;
  const paged = (items: readonly Item[]) =>
    slicePage(
      items.map((value) => ({ value, sortKey: String(value["number"]) })),
      page,
      name,
    );
  const isFiltered = (keep ?? page.created_after ?? page.created_before) !== undefined;
  if (isFiltered) {
    const isWithin = isCreatedIn(page);
    const { items, meta } = paged(
      (await resolved(kind, accountId, all)).filter((item) => isWithin(item) && (keep?.(item) ?? true)),
    );
    return { items: parseEach(schema, items), meta };
  }
  const { items, meta } = paged(all);
  return { items: parseEach(schema, await resolved(kind, accountId, items)), meta };
}

/** The records themselves, where there are links to them. */
async function resolved(kind: ListKind, accountId: string, items: readonly Item[]): Promise<Item[]> {
  const readKey = (item: Item): Key | undefined => {
    const link = Link.safeParse(item).data;
    return link && keys.record(kind, accountId, link.link_to);
  };
  const linked = await readAll(
    items.flatMap((item) => readKey(item) ?? []),
    { consistent: false },
  );
  return items.flatMap((item): Item[] => {
    const key = readKey(item);
    const record = key === undefined ? item : linked.get(keyString(key));
    return record === undefined ? [] : [record]; // a link's record may not be there yet, or no longer
  });
}

/** The newest records of a parent's list, without those that it only links to: one Query. */
export async function newestChildren<T>(
  { kind, accountId, schema }: ChildList<T>,
  parentId: string,
  limit: number,
): Promise<T[]> {
  const { items } = await query({ ...ofParent(kind, accountId, parentId), Limit: limit });
  return parseEach(
    schema,
    items.filter((item) => !Link.safeParse(item).success),
  );
}

const ofParent = (kind: ListKind, accountId: string, parentId: string) => ({
  IndexName: "byParent",
  KeyConditionExpression: "#parent = :parent",
  ExpressionAttributeNames: { "#parent": "list_parent" },
  ExpressionAttributeValues: { ":parent": keys.listByParent(kind, accountId, parentId) },
  ScanIndexForward: false,
});

/** All records of a parent. */
export async function readChildren(kind: ListKind, accountId: string, parentId: string): Promise<Item[]> {
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
