// A list for a chooser: its first page, and the others as far as they are wanted; what is not loaded yet is never passed over in silence.
import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import type { ListQuery, Question } from "../app/queries.ts";

/** The most that the API puts on a page. */
const PER_PAGE = 100;

export interface Pages<Item> {
  items: readonly Item[];
  /** How many there are, loaded or not; undefined until the first page came. */
  total: number | undefined;
  complete: boolean;
  pending: boolean;
  error: Error | null;
  /** Loads one page more. */
  more: () => void;
  /** Loads all of them, one after the other: where one is looked for by its name, which the API cannot do. */
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
    queries: Array.from({ length: wanted }, (_, index) => list({ ...query, page: index + 1, per_page: PER_PAGE })),
  });
  const total = pages[0]?.data?.meta.total;
  const loaded = pages.every(({ data }) => data !== undefined);
  const complete = loaded && total !== undefined && wanted * PER_PAGE >= total;
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

/** What is made while pages are loaded moves the others down: the last of a page then begins the next one, too. */
const once = <Item extends { id: string }>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];
