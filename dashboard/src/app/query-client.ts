// The cache of API responses: what it keeps, when it fetches again, and what a change makes stale.
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import { onOtherUser } from "../session/session.ts";
import { operationIdsIn } from "./operation-ids.ts";
import { waitOf, waitUntil } from "./limit.ts";
import { passes } from "./words.ts";

/** A page that comes back within this time shows the cached data without a request. */
const FRESH_SECONDS = 5;
const RETRIES_MAX = 2;
/** Lists lag behind a change by a moment: the page fetches them at once, and again after this time. */
const LAG_SECONDS = 1;
/** How long a change waits, at most, until the page shows it: only a connection that is all but gone takes longer. */
const PATIENCE_SECONDS = 15;
/** Not 0: then the cache would check a change whose form is gone without pause. */
const GONE_SECONDS = 1;

/** Until a request that the rate limit has rejected may be sent again, the page says how long. */
function retryDelay(count: number, error: Error): number {
  const wait = waitOf(error);
  if (wait !== undefined) waitUntil(Date.now() + wait * 1000);
  return error instanceof ClientError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 500 * 2 ** count;
}

/** For a change without a form or a dialog, which would show the error and send it again. */
export const AFTER_LIMIT = { retry: (_: number, error: Error) => waitOf(error) !== undefined, retryDelay };

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_SECONDS * 1000,
      networkMode: "always", // the browser is often wrong about being offline; the request tells
      // Requests that wait for the rate limit continue as soon as they may, however often.
      retry: (count, error) => waitOf(error) !== undefined || (count < RETRIES_MAX && passes(error)),
      retryDelay,
    },
    // A user decides whether to send a change again; the form then sends the same Idempotency-Key.
    // The request or response may contain a password: it is removed together with the form.
    mutations: { networkMode: "always", retry: false, gcTime: GONE_SECONDS * 1000 },
  },
  mutationCache: new MutationCache({
    onSuccess: async (response) => {
      const refreshed = refresh();
      // The effects of an operation are fetched when it begins and ends.
      if (operationIdsIn(response).length > 0) return;
      setTimeout(() => void refresh(), LAG_SECONDS * 1000);
      // The page then already shows what the notification says, unless that takes long.
      await Promise.race([refreshed, new Promise((resolve) => setTimeout(resolve, PATIENCE_SECONDS * 1000))]);
    },
  }),
});

/** Key prefixes that a change does not refetch: fixed, polled anyway, of a dialog that closes with the change, or looked up once. */
const LASTING = new Set<unknown>(["catalog", "watch", "dry-run", "exists"]);

let refreshing = 0;
/** What changes meanwhile, the page fetches anyway. */
export const isRefreshing = (): boolean => refreshing > 0;

/** Fetches everything on the page again. */
export async function refresh(): Promise<void> {
  refreshing++;
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => !LASTING.has(queryKey[0]) });
  refreshing--;
}

onOtherUser(() => queryClient.clear());
