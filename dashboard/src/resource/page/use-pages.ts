// A list for a chooser: its first page, more pages as needed, and what the API finds for the typed words.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ListMeta } from "../../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../../shared/domain/limits.ts";
import type { ListQuery, Question } from "../../app/queries.ts";

export interface Pages<Item> {
  /** What matches the search, as far as it is loaded. */
  items: readonly Item[];
  /** How many there are, whatever the search; undefined before the first page. */
  total: number | undefined;
  /** How many match the search. */
  matching: number | undefined;
  complete: boolean;
  pending: boolean;
  error: Error | null;
  /** Loads one more page. */
  more: () => void;
  /** Searches all of them, in the API; undefined for lists that are short. */
  find: ((text: string) => void) | undefined;
  retry: () => void;
}

const PAUSE_MS = 250;

export function usePages<Item extends { id: string }>(
  list: (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>,
  query: ListQuery = {},
  { searchable = true }: { searchable?: boolean } = {},
): Pages<Item> {
  const [pageCount, setPageCount] = useState(1);
  const [typed, setTyped] = useState("");
  const text = useSettled(typed, PAUSE_MS);
  const search = /[\p{L}\p{N}]/u.test(text) ? text.slice(0, 100) : undefined;
  const unsearchedList = useQuery(list({ ...query, page: 1, per_page: PER_PAGE_MAX }));
  const pages = useQueries({
    queries: Array.from({ length: pageCount }, (_, index) =>
      list({ ...query, ...(search !== undefined && { search }), page: index + 1, per_page: PER_PAGE_MAX }),
    ),
  });
  const matching = pages[0]?.data?.meta.total;
  const loaded = typed === text && pages.every(({ data }) => data !== undefined);
  const complete = loaded && matching !== undefined && pageCount * PER_PAGE_MAX >= matching;
  const failed = pages.find(({ data, isError }) => data === undefined && isError);
  return {
    items: typed === text ? once(pages.flatMap(({ data }) => data?.data ?? [])) : [],
    total: unsearchedList.data?.meta.total,
    matching,
    complete,
    pending: !loaded && failed === undefined,
    error: failed?.error ?? null,
    more: () => setPageCount(loaded && !complete ? pageCount + 1 : pageCount),
    find: searchable
      ? (next) => {
          setTyped(next);
          setPageCount(1);
        }
      : undefined,
    retry: () => void failed?.refetch(),
  };
}

/** A value once it has not changed for a moment. */
export function useSettled<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}

/** Records created while pages load shift the others: the last of a page then also starts the next one. */
const once = <Item extends { id: string }>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];
