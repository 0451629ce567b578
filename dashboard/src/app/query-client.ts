// The cache of API responses: what it keeps, when it fetches again, and what a change makes stale.
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client.ts";
import { subscribe, session } from "../session/session.ts";
import { operationIdsIn } from "./operation-ids.ts";
import { waitOf, waitUntil } from "./limit.ts";
import { passes } from "./words.ts";

/** What comes back within this time shows what is cached, without asking again. */
const FRESH_SECONDS = 5;
const RETRIES_MAX = 2;
/** Lists lag behind a change by a moment: they are asked for at once, and again then. */
const LAG_SECONDS = 1;
/** How long a change waits, at most, until the page shows it. */
const PATIENCE_SECONDS = 2;
/** Not 0, at which a change in progress whose form is gone would be checked without pause. */
const GONE_SECONDS = 1;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_SECONDS * 1000,
      networkMode: "always", // the browser's opinion of being offline is often wrong; the request tells
      // What waits for the rate limit goes on when it may, however often.
      retry: (count, error) => waitOf(error) !== undefined || (count < RETRIES_MAX && passes(error)),
      retryDelay: (count, error) => {
        const wait = waitOf(error);
        if (wait !== undefined) waitUntil(Date.now() + wait * 1000);
        return error instanceof ClientError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 500 * 2 ** count;
      },
    },
    // A person decides whether to send a change again; the form then sends the same Idempotency-Key.
    // The request or response may contain a password: it is removed with the form.
    mutations: { networkMode: "always", retry: false, gcTime: GONE_SECONDS * 1000 },
  },
  mutationCache: new MutationCache({
    onSuccess: async (response) => {
      const refreshed = refresh();
      // What work does is asked for when it has begun and ended.
      if (operationIdsIn(response).length > 0) return;
      setTimeout(() => void refresh(), LAG_SECONDS * 1000);
      // What is then told is on the page already, unless that takes long.
      await Promise.race([refreshed, new Promise((resolve) => setTimeout(resolve, PATIENCE_SECONDS * 1000))]);
    },
  }),
});

/** First parts of the keys of what no change makes stale, and of the operations' own watch. */
const LASTING = new Set<unknown>(["catalog", "deployment", "watch"]);

/** Asks again for whatever is on the page. */
export const refresh = (): Promise<void> =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => !LASTING.has(queryKey[0]) });

subscribe(() => {
  if (session() === undefined) queryClient.clear();
});
