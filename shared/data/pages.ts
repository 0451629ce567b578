// Pages of lists: their queries, what they say of themselves, and the cursors between them.
import { createHash } from "node:crypto";
import * as z from "zod";
import { invalid } from "../api/errors.ts";
import * as fields from "../api/fields.ts";
import type { ListMeta } from "../api/fields.ts";
import { PER_PAGE_MAX } from "../domain/limits.ts";
import { parseJson } from "../domain/json.ts";
import type { Item } from "./keys.ts";

const ListQuery = fields.listQuery({});
export type PageQuery = z.output<typeof ListQuery>;

export interface Listed<T> {
  items: T[];
  meta: ListMeta;
}

/** Whether a record was created within the times of a query. */
export const isCreatedIn =
  ({ created_after, created_before }: Pick<PageQuery, "created_after" | "created_before">) =>
  ({ created_at }: Item | { created_at: string }): boolean =>
    (created_after === undefined || String(created_at) >= created_after) &&
    (created_before === undefined || String(created_at) < created_before);

/** The part of a list's query that names its records. */
export interface ByIds {
  ids?: readonly string[] | undefined;
}

/** The records that exist of those that a query names, newest first as in every list. */
export function pageByIds<T extends { id: string }>(records: readonly T[], ids: readonly string[]): Listed<T> {
  const items = records.filter(({ id }) => ids.includes(id)).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return { items, meta: { page: 1, per_page: PER_PAGE_MAX, total: items.length, next_cursor: null } };
}

/** A list that has at most a hundred records, read whole in one call by its caller. */
export const smallPage = <T extends { id: string; created_at: string }>(
  records: readonly T[],
  { ids, ...page }: PageQuery & ByIds,
  name: string,
): Listed<T> =>
  ids === undefined
    ? slicePage(
        records.filter(isCreatedIn(page)).map((record) => ({ value: record, sortKey: record.id })),
        page,
        name,
      )
    : pageByIds(records, ids);

/** A record with its sort key, which is unique in the list. */
interface Sortable<T> {
  value: T;
  sortKey: string;
}

/** A page of a list that was read whole. A cursor has the sort key after which the next page begins, whatever comes or goes. */
export function slicePage<T>(records: readonly Sortable<T>[], page: PageQuery, of: string): Listed<T> {
  const ascending = page.order === "asc";
  const name = [of, ascending ? "asc" : "", page.created_after ?? "", page.created_before ?? ""].join("|");
  const sorted = records.toSorted((a, b) => (a.sortKey < b.sortKey === ascending ? -1 : 1));
  const cursor = page.cursor === undefined ? undefined : decode(page.cursor, name);
  const rest =
    cursor === undefined
      ? sorted.slice(((page.page ?? 1) - 1) * page.per_page)
      : sorted.filter(({ sortKey }) => (ascending ? sortKey > cursor : sortKey < cursor));
  const inPage = rest.slice(0, page.per_page);
  const last = inPage.at(-1);
  return {
    items: inPage.map(({ value }) => value),
    meta: buildMeta(page, sorted.length, last !== undefined && rest.length > inPage.length ? encode(name, last.sortKey) : null),
  };
}

/** A page of the items that were read for it; one more than it shows says that there is a next page. */
export function buildPage(items: readonly Item[], page: PageQuery, total: number, name: string): Listed<Item> {
  const inPage = items.slice(0, page.per_page);
  const last = inPage.at(-1);
  const cursor = last !== undefined && items.length > page.per_page ? encode(name, String(last["number"])) : null;
  return { items: inPage, meta: buildMeta(page, total, cursor) };
}

const buildMeta = (page: PageQuery, total: number, next_cursor: string | null): ListMeta => ({
  page: page.page ?? 1,
  per_page: page.per_page,
  total,
  next_cursor,
});

/** A cursor contains its list with its filters, so that other lists reject it. */
const Cursor = z.tuple([z.string(), z.string().min(1)]);
const encode = (name: string, sortKey: string): string =>
  Buffer.from(JSON.stringify([hashName(name), sortKey])).toString("base64url");
const hashName = (name: string): string => createHash("sha256").update(name).digest("base64url").slice(0, 16);

/** The sort key in a cursor of this list. */
export function decode(cursor: string, name: string): string {
  const parsed = Cursor.safeParse(parseJson(Buffer.from(cursor, "base64url").toString()));
  if (!parsed.success || parsed.data[0] !== hashName(name))
    throw invalid({ field: "cursor", reason: "is not a valid cursor for this list" });
  return parsed.data[1];
}
