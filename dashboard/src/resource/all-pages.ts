// Everything that a list's filter lets through, page by page. Waits for the API's rate limit as often as it must.
import { useState } from "react";
import type { ListMeta } from "../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import type { ListQuery, Question } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";

export type List<Item> = (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>;

/** Fetches them when asked to. */
export function useAllPages<Item>(list: List<Item>, query: ListQuery, use: (items: Item[]) => void) {
  const [{ pending, error }, set] = useState<{ pending: boolean; error: unknown }>({ pending: false, error: null });
  const fetchAll = async (): Promise<void> => {
    set({ pending: true, error: null });
    try {
      use(await allPages(list, query));
      set({ pending: false, error: null });
    } catch (failure) {
      set({ pending: false, error: failure });
    }
  };
  return { pending, error, fetchAll: () => void fetchAll() };
}

async function allPages<Item>(list: List<Item>, query: ListQuery): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const asked = { ...query, per_page: PER_PAGE_MAX, ...(cursor !== undefined && { cursor }) };
    const { data, meta } = await queryClient.fetchQuery({ ...list(asked), staleTime: 0, gcTime: 0 });
    found.push(...data);
    if (meta.next_cursor === null) return found;
    cursor = meta.next_cursor;
  }
}
