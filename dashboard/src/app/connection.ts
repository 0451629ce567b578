// Whether the service can be reached, as the queries of the page show. What failed to load is fetched again by itself.
import type { Query, QueryCache } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import { createStore } from "../session/store.ts";
import { retryAfterSeconds } from "./limit.ts";
import { isTransient } from "./words.ts";

/** How soon a page that failed to load tries again. */
export const RECOVER_MS = 5_000;

const lost = createStore(false);
export const useConnectionLost = lost.use;

/** The queries whose last request got no response. */
const withoutResponse = new Set<string>();

export const isUnreachable = (error: unknown): boolean => error instanceof ClientError && error.code === "NETWORK_ERROR";

type AnyQuery = Pick<Query, "queryHash">;

export function recordOutcome({ queryHash }: AnyQuery, error?: unknown): void {
  if (isUnreachable(error)) withoutResponse.add(queryHash);
  else withoutResponse.delete(queryHash);
  if (lost.get() !== withoutResponse.size > 0) lost.set(withoutResponse.size > 0);
}

/** What the page no longer shows says nothing, nor does what it has fetched once, such as for a file. */
export const clearUnusedOutcomes = (cache: QueryCache): (() => void) =>
  cache.subscribe(({ type, query }) => {
    if (type === "removed" || (type === "observerRemoved" && !query.isActive())) recordOutcome(query);
  });

/** Returns after how many milliseconds a failed query is sent again; after a rate limit, the query's own retry does it. */
export const recoverAfter = (error: unknown): number | false =>
  error !== null && isTransient(error) && retryAfterSeconds(error) === undefined && RECOVER_MS;
