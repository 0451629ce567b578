// Everything that a list's filter lets through, page by page. Waits for the API's rate limit as often as it must.
import { useRef, useState } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import type { ListQuery, Question } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";

interface Page<Item> {
  data: Item[];
  meta: ListMeta;
}

export type List<Item> = (query: ListQuery) => Question<Page<Item>>;

const IDLE = { pending: false, error: null };

/**
 * Fetches them when asked to, unless that is cancelled meanwhile: then nothing is used. Of several queries, one after the other.
 * No more pages than `most` records need.
 */
export function useAllPages<Item>(
  list: List<Item>,
  query: ListQuery | readonly ListQuery[],
  use: (items: Item[]) => void,
  most = Infinity,
) {
  const [{ pending, error }, set] = useState<{ pending: boolean; error: unknown }>(IDLE);
  const latest = useRef(0);
  const fetchAll = async (): Promise<void> => {
    const mine = ++latest.current;
    const isLatest = (): boolean => latest.current === mine;
    const isWanted = (found: number): boolean => isLatest() && found < most;
    set({ pending: true, error: null });
    try {
      const items: Item[] = [];
      for (const each of [query].flat()) items.push(...(await allPages(list, each, isWanted)));
      if (!isLatest()) return;
      use(items);
      set(IDLE);
    } catch (failure) {
      if (isLatest()) set({ pending: false, error: failure });
    }
  };
  const cancel = (): void => {
    latest.current++;
    set(IDLE);
  };
  return { pending, error, fetchAll: () => void fetchAll(), cancel };
}

/** With the cache's retries, but nothing is kept. */
const fetchPage = <Item>(page: Question<Page<Item>>): Promise<Page<Item>> =>
  queryClient.fetchQuery({ ...page, staleTime: 0, gcTime: 0 });

/** One page after the other. */
export async function allPages<Item>(
  list: List<Item>,
  query: ListQuery,
  isWanted: (found: number) => boolean,
  fetch: (page: Question<Page<Item>>) => Promise<Page<Item>> = fetchPage,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const asked = { ...query, per_page: PER_PAGE_MAX, ...(cursor !== undefined && { cursor }) };
    const { data, meta } = await fetch(list(asked));
    found.push(...data);
    if (meta.next_cursor === null || !isWanted(found.length)) return found;
    cursor = meta.next_cursor;
  }
}
