// The cache of API responses: what it keeps, when it fetches again, and what a change makes stale.
import { MutationCache, type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Overview } from "../../../shared/api/overview.ts";
import { onOtherUser } from "../session/session.ts";
import { clearUnusedOutcomes, recordOutcome, recoverAfter } from "./connection.ts";
import { isClosed } from "./gate.ts";
import { operationIdsIn } from "./operation-ids.ts";
import { retryAfterSeconds } from "./limit.ts";
import { overview } from "./queries.ts";
import { isTransient } from "./words.ts";

/** A page that comes back within this time shows the cached data without a request. */
const FRESH_SECONDS = 5;
const RETRIES_MAX = 2;
/** Lists lag behind a change by a moment: the page fetches them at once, and again after this time. */
const LAG_SECONDS = 1;
/** How long a change waits, at most, until the page shows it: only a connection that is all but gone takes longer. */
const PATIENCE_SECONDS = 15;
/** This is not 0, or the cache would check mutations of closed forms in a busy loop. */
const GONE_SECONDS = 1;

/** A request that the rate limit has rejected waits at the gate, with all others. */
function retryDelay(count: number, error: Error): number {
  if (retryAfterSeconds(error) !== undefined && isClosed()) return 0;
  return error instanceof ClientError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 500 * 2 ** count;
}

/** The options for a change without a form or a dialog, which would show the error and send it again. */
export const AFTER_LIMIT = { retry: (_: number, error: Error) => retryAfterSeconds(error) !== undefined, retryDelay };

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_SECONDS * 1000,
      networkMode: "always", // the browser is often wrong about being offline; the request tells
      refetchOnReconnect: true,
      refetchOnWindowFocus: false, // the overview is, and says whether anything has changed (follow-changes.ts)
      refetchInterval: ({ state }) => recoverAfter(state.error),
      // Requests that wait for the rate limit continue as soon as they may, however often.
      retry: (count, error) => retryAfterSeconds(error) !== undefined || (count < RETRIES_MAX && isTransient(error)),
      retryDelay,
    },
    // A user decides whether to send a change again; the form then sends the same Idempotency-Key.
    // The request or response may contain a password: it is removed together with the form.
    mutations: { networkMode: "always", retry: false, gcTime: GONE_SECONDS * 1000 },
  },
  queryCache: new QueryCache({
    onError: (error, query) => recordOutcome(query, error),
    onSuccess: (_, query) => recordOutcome(query),
  }),
  mutationCache: new MutationCache({
    onSuccess: async (response) => {
      const refreshed = refresh();
      // The effects of an operation are fetched when it begins and ends.
      if (operationIdsIn(response).length > 0) return;
      setTimeout(() => void refetchLists(), LAG_SECONDS * 1000);
      // The page then already shows what the notification says, unless that takes long.
      await Promise.race([refreshed, new Promise((resolve) => setTimeout(resolve, PATIENCE_SECONDS * 1000))]);
    },
  }),
});

clearUnusedOutcomes(queryClient.getQueryCache());

/** Fetches again what the page failed to load. */
export const retryFailed = (): Promise<void> =>
  queryClient.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });

type Asked = Pick<Query, "queryKey" | "meta">;
type Revision = keyof Overview["revisions"];

/**
 * What changes a query's response, by its kind. Queries of other kinds are fixed, polled anyway, or of a dialog that closes with
 * the change.
 */
const CHANGED_BY: Readonly<Record<string, readonly Revision[] | "any">> = {
  servers: ["servers"],
  instances: ["instances", "servers"], // whose status decides what is allowed
  backups: ["backups"],
  "backup-policy": ["policies"],
  // Deploys and checks are operations; what this user sets is asked for at once.
  code: ["operations"],
  deploys: ["operations"],
  operations: ["operations"],
  search: ["servers", "instances", "backups"],
  "ssh-keys": ["ssh_keys"],
  tokens: ["others"],
  users: ["users"],
  invitations: ["invitations"],
  sessions: ["sessions"],
  alerts: ["others"],
  me: ["users"],
  sso: ["others"],
  webhooks: ["others"],
  settings: "any", // it says how much of the quotas is used
  events: "any",
};

/** What the page shows. */
let caughtUpWith: Overview | undefined;
let catchingUp: Promise<void> = Promise.resolve();
/** What the last change has changed: lists lag behind it by a moment. */
let hasChanged: (revision: Revision) => boolean = () => false;

/** Fetches again what has changed since the overview that the page last caught up with. */
export function catchUp(now: Overview): Promise<void> {
  const before = caughtUpWith;
  caughtUpWith = now;
  if (before !== undefined && before.revision !== now.revision) {
    hasChanged = compare(before, now);
    catchingUp = refetch(isChanged);
  }
  return catchingUp;
}

/** An older service says only that there was a change: then it may have changed anything. */
function compare({ revisions: before }: Partial<Overview>, { revisions: now }: Partial<Overview>): typeof hasChanged {
  const earlier = new Map(Object.entries({ ...before }));
  const changed = Object.entries({ ...now }).filter(([kind, revision]) => revision !== earlier.get(kind));
  return changed.length === 0 ? () => true : (revision) => changed.some(([kind]) => kind === revision);
}

const isChanged = ({ queryKey: [kind], meta }: Asked): boolean => {
  const by = meta?.changedBy ?? CHANGED_BY[String(kind)] ?? [];
  return by === "any" || by.some((each) => hasChanged(each));
};

/** Asks what has changed after a change by this user, and fetches that again. */
export async function refresh(): Promise<void> {
  const { queryKey } = overview();
  const isKnown = caughtUpWith !== undefined;
  await queryClient.refetchQueries({ queryKey });
  const { data, error = null } = queryClient.getQueryState<{ data: Overview }>(queryKey) ?? {};
  if (!isKnown || data === undefined || error !== null) return refetch(({ queryKey: [kind] }) => String(kind) in CHANGED_BY);
  return catchUp(data.data);
}

/** Lists lag behind a change by a moment. */
export const refetchLists = (): Promise<void> => refetch((query) => query.queryKey[1] === "list" && isChanged(query));

/** What a page only names it looks up again when it is shown again. */
async function refetch(isMeant: (query: Asked) => boolean): Promise<void> {
  const matching = (isNamed: boolean) => ({
    predicate: (query: Asked) => (query.queryKey[1] === "named") === isNamed && isMeant(query),
  });
  await queryClient.invalidateQueries({ ...matching(true), refetchType: "none" });
  await queryClient.invalidateQueries(matching(false));
}

onOtherUser(() => {
  queryClient.clear();
  caughtUpWith = undefined;
});
