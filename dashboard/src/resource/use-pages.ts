// A list for a chooser: its first page, and more pages as needed; the chooser always shows that some are not loaded yet.
import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import type { ListQuery, Question } from "../app/queries.ts";

export interface Pages<Item> {
  items: readonly Item[];
  /** The total, loaded or not; undefined before the first page. */
  total: number | undefined;
  complete: boolean;
  pending: boolean;
  error: Error | null;
  /** Loads one more page. */
  more: () => void;
  /** Loads all pages in sequence, for a search by name, which the API does not have. */
  all: () => void;
  retry: () => void;
}

export function usePages<Item extends { id: string }>(
  list: (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>,
  query: ListQuery = {},
): Pages<Item> {
  const [wanted, setWanted] = useState(1);
  const [whole, setWhole] = useState(false);
  const pages = useQueries({
    queries: Array.from({ length: wanted }, (_, index) => list({ ...query, page: index + 1, per_page: PER_PAGE_MAX })),
  });
  const total = pages[0]?.data?.meta.total;
  const loaded = pages.every(({ data }) => data !== undefined);
  const complete = loaded && total !== undefined && wanted * PER_PAGE_MAX >= total;
  const next = loaded && !complete ? wanted + 1 : wanted;
  useEffect(() => {
    if (whole) setWanted(next);
  }, [whole, next]);
  const failed = pages.find(({ data, isError }) => data === undefined && isError);
  return {
    items: once(pages.flatMap(({ data }) => data?.data ?? [])),
    total,
    complete,
    pending: !loaded && failed === undefined,
    error: failed?.error ?? null,
    more: () => setWanted(next),
    all: () => setWhole(true),
    retry: () => void failed?.refetch(),
  };
}

/** Records created while pages load shift the others: the last of a page then also starts the next one. */
const once = <Item extends { id: string }>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];
