// Everything that a list's filter lets through, page by page. Waits for the API's rate limit as often as it must.
import { useRef, useState } from "react";
import type { ListMeta } from "../../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../../shared/domain/limits.ts";
import { everyPage } from "../../app/every-page.ts";
import type { ListQuery, Question } from "../../app/queries.ts";
import { waitForRoom } from "../../app/gate.ts";
import { queryClient } from "../../app/query-client.ts";

interface Page<Item> {
  data: Item[];
  meta: ListMeta;
}

export type List<Item> = (query: ListQuery) => Question<Page<Item>>;

const IDLE = { pending: false, error: null, loadedCount: 0 };

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
  const [{ pending, error, loadedCount }, set] = useState<{ pending: boolean; error: unknown; loadedCount: number }>(IDLE);
  const latest = useRef(0);
  const fetchAll = async (): Promise<void> => {
    const runNumber = ++latest.current;
    const isLatest = (): boolean => latest.current === runNumber;
    set({ ...IDLE, pending: true });
    try {
      const items: Item[] = [];
      const isWanted = (count: number): boolean => {
        if (isLatest()) set({ ...IDLE, pending: true, loadedCount: items.length + count });
        return isLatest() && count < most;
      };
      for (const each of [query].flat()) items.push(...(await allPages(list, each, isWanted)));
      if (!isLatest()) return;
      use(items);
      set(IDLE);
    } catch (failure) {
      if (isLatest()) set({ ...IDLE, error: failure });
    }
  };
  const cancel = (): void => {
    latest.current++;
    set(IDLE);
  };
  return { pending, error, loadedCount, fetchAll: () => void fetchAll(), cancel };
}

/** How many of a minute's requests are left for the rest of the page, and other tabs, while a long list is fetched. */
const ROOM = 40;

/** Fetches a page with the cache's retries, but keeps nothing in the cache. */
async function fetchPage<Item>(page: Question<Page<Item>>): Promise<Page<Item>> {
  await waitForRoom(ROOM);
  return queryClient.fetchQuery({ ...page, staleTime: 0, gcTime: 0 });
}

/** One page after the other. */
export async function allPages<Item>(
  list: List<Item>,
  query: ListQuery,
  isWanted: (count: number) => boolean,
  fetch: (page: Question<Page<Item>>) => Promise<Page<Item>> = fetchPage,
): Promise<Item[]> {
  const { items } = await everyPage(
    (cursor) => fetch(list({ ...query, per_page: PER_PAGE_MAX, ...cursor })),
    ({ length }) => !isWanted(length),
  );
  return items;
}
