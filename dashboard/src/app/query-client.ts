// The cache of API responses: what it keeps, when it fetches again, and what a change makes stale.
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import { onOtherUser } from "../session/session.ts";
import { forgetUnused, noteOutcome, recoverAfter } from "./connection.ts";
import { isClosed } from "./gate.ts";
import { operationIdsIn } from "./operation-ids.ts";
import { waitOf } from "./limit.ts";
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

/** A request that the rate limit has rejected waits at the gate, with all others. */
function retryDelay(count: number, error: Error): number {
  if (waitOf(error) !== undefined && isClosed()) return 0;
  return error instanceof ClientError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 500 * 2 ** count;
}

/** For a change without a form or a dialog, which would show the error and send it again. */
export const AFTER_LIMIT = { retry: (_: number, error: Error) => waitOf(error) !== undefined, retryDelay };

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_SECONDS * 1000,
      networkMode: "always", // the browser is often wrong about being offline; the request tells
      refetchOnReconnect: true,
      refetchOnWindowFocus: false, // the overview is, and says whether anything has changed (follow-changes.ts)
      refetchInterval: ({ state }) => recoverAfter(state.error),
      // Requests that wait for the rate limit continue as soon as they may, however often.
      retry: (count, error) => waitOf(error) !== undefined || (count < RETRIES_MAX && passes(error)),
      retryDelay,
    },
    // A user decides whether to send a change again; the form then sends the same Idempotency-Key.
    // The request or response may contain a password: it is removed together with the form.
    mutations: { networkMode: "always", retry: false, gcTime: GONE_SECONDS * 1000 },
  },
  queryCache: new QueryCache({
    onError: (error, query) => noteOutcome(query, error),
    onSuccess: (_, query) => noteOutcome(query),
  }),
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

forgetUnused(queryClient.getQueryCache());

/** Key prefixes that a change does not refetch: fixed, polled anyway, of a dialog that closes with the change, or looked up once. */
const LASTING = new Set<unknown>(["catalog", "watch", "dry-run"]);

let refreshing = 0;
/** What changes meanwhile, the page fetches anyway. */
export const isRefreshing = (): boolean => refreshing > 0;

/** Fetches again what the page failed to load. */
export const retryFailed = (): Promise<void> =>
  queryClient.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });

/** Fetches again what is on the page. */
export const refresh = (): Promise<void> => refetch(() => true);

/** The same after a change that the overview has just shown, without the names of what the page only mentions. */
export const refreshRecords = (): Promise<void> => refetch(([kind, what]) => kind !== "overview" && what !== "named");

async function refetch(isMeant: (queryKey: readonly unknown[]) => boolean): Promise<void> {
  refreshing++;
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => !LASTING.has(queryKey[0]) && isMeant(queryKey) });
  refreshing--;
}

onOtherUser(() => queryClient.clear());
