// Counts a kind of resource by state: from one list if it has them all, else with a request for each number.
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ListMeta } from "../../../shared/api/fields.ts";
import type { ResourceType } from "../../../shared/domain/lifecycle.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import type { ListQuery, Question } from "../app/queries.ts";
import type { STATUSES } from "../resource/status.tsx";

/** The states in which a resource rests; all others lead to one of these. */
export const RESTING: Record<ResourceType, readonly string[]> = {
  server: ["active", "offline"],
  instance: ["running", "stopped", "failed"],
  backup: ["completed", "failed"],
} satisfies { [K in ResourceType]: readonly (keyof (typeof STATUSES)[K])[] };

interface Thing {
  id: string;
  status: string;
}

export interface Tally<Item> {
  items: readonly Item[];
  /** Whether `items` are complete, or only the newest. */
  whole: boolean;
  total: number;
  /** Undefined until known. */
  count: (status: string) => number | undefined;
}

export interface Counted<Item = unknown> {
  tally: Tally<Item> | undefined;
  error: unknown;
  retry: () => void;
}

/** The most that the API returns at once; only large accounts need more than this one request. */
const ALL = PER_PAGE_MAX;

export function useTally<Item extends Thing>(
  kind: ResourceType,
  list: (query: ListQuery) => Question<{ data: Item[]; meta: ListMeta }>,
): Counted<Item> {
  const { data, error, refetch } = useQuery(list({ per_page: ALL }));
  const whole = data === undefined || data.meta.total <= ALL;
  const totals = useQueries({ queries: RESTING[kind].map((status) => ({ ...list({ status, per_page: 1 }), enabled: !whole })) });
  const tally = data && {
    items: data.data,
    whole,
    total: data.meta.total,
    count: (status: string) =>
      whole ? data.data.filter((each) => each.status === status).length : totals[RESTING[kind].indexOf(status)]?.data?.meta.total,
  };
  return { tally, error: data === undefined ? error : null, retry: () => void refetch() };
}
