// The state of the watch: the operations that it follows to their end, and their last known state.
import { queryOptions } from "@tanstack/react-query";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Overview } from "../../../shared/api/overview.ts";
import { client } from "../app/client.ts";
import { recoverAfter } from "../app/connection.ts";
import { FOLLOW_EVERY_MS } from "../app/follow-changes.ts";
import { operationIdsIn } from "../app/operation-ids.ts";
import { overview } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";
import { session } from "../session/session.ts";
import { createEndReporter } from "./end-reporter.ts";

/** A little over 2 seconds, so that any two seconds contain at most one request, but for those of `createSearch`. */
const ASK_EVERY_MS = 2_100;
/** A bulk action lasts long, and its own page asks for its items as often as the watch says that something has become of them. */
const ASK_IN_BULK_MS = 3_000;
const ASK_WHILE_PAUSED_MS = 10_000;
/** Newest first: running operations are nearly always among these; the others are the oldest of those that run. */
const PAGE = 50;

const KEY = ["watch"];
const RECORDS = new Set<unknown>(["servers", "instances", "backups"]);

export const isOpen = ({ status }: Operation): boolean => status === "pending" || status === "running";

const isBulk = ({ result }: Operation): boolean => result?.bulk !== undefined;
const isPaused = ({ result }: Operation): boolean => result?.control === "pause" && result.bulk?.running === 0;

/** How often the watch asks while these are in progress. */
function askEvery(running: readonly Operation[]): number {
  if (running.length > 0 && running.every(isPaused)) return ASK_WHILE_PAUSED_MS;
  return running.some(isBulk) ? ASK_IN_BULK_MS : ASK_EVERY_MS;
}

/** A bulk action reports on those that it begins. */
const isOfBulk = ({ request_id }: Operation): boolean => request_id.startsWith("op_");

const watchedOperations = (): readonly Operation[] => queryClient.getQueryData<readonly Operation[]>(KEY) ?? [];

function createWatch() {
  /** The IDs of operations that this page started, that lock records, or that it saw running. */
  const followed = new Set<string>();
  const reportEnds = createEndReporter();
  let noticed = false;

  const follow = (ids: readonly string[]): void => {
    const watched = watchedOperations();
    const newIds = ids.filter((id) => !followed.has(id) && !watched.some((each) => each.id === id && !isOpen(each)));
    for (const id of newIds) followed.add(id);
    if (newIds.length > 0) void queryClient.invalidateQueries({ queryKey: KEY }, { cancelRefetch: false });
  };

  return {
    query: watchQuery(followed),
    /** Compares a response with the followed operations: reports ends of the user's own, and starts to follow other users'. */
    notice: (operations: readonly Operation[]): void => {
      const startedOperations = operations.filter((operation) => isOpen(operation) && !followed.has(operation.id));
      const endedOperations = operations.filter((operation) => !isOpen(operation) && followed.has(operation.id));
      for (const { id } of startedOperations) followed.add(id);
      for (const { id } of endedOperations) followed.delete(id);
      // The page's first requests already show what was running when it opened.
      if ((startedOperations.length > 0 && noticed) || endedOperations.length > 0)
        // An operation may end before the watch first sees it: its record says who started it.
        reportEnds(
          endedOperations.filter((each) => each.created_by.id === session()?.user.id && !isOfBulk(each)),
          operations.some((each) => isOpen(each) && isBulk(each)),
        );
      noticed = true;
    },
    /** Follows the operations in responses, until the returned function is called. */
    connect: (): (() => void) => {
      const read = (response: unknown): void => follow(operationIdsIn(response));
      const leaveMutations = queryClient.getMutationCache().subscribe((event) => {
        if (event.type === "updated" && event.action.type === "success") read(event.action.data);
      });
      const leaveQueries = queryClient.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.action.type !== "success") return;
        if (RECORDS.has(event.query.queryKey[0])) read(event.action.data);
      });
      return () => {
        leaveMutations();
        leaveQueries();
        followed.clear();
        noticed = false;
      };
    },
  };
}

/**
 * The one request of the watch: for the newest operations or, in turn, for a followed one that is not among them and those after
 * it.
 */
function watchQuery(followed: Set<string>) {
  const findOldest = createSearch();
  let pageIsNext = true;
  let onPage: ReadonlySet<string> = new Set();

  const ask = async (signal: AbortSignal): Promise<readonly Operation[]> => {
    if (followed.size === 0 && !(await isAnyOpen())) return [];
    const [lost] = [...followed].filter((id) => !onPage.has(id));
    const asksPage = pageIsNext || lost === undefined;
    pageIsNext = !asksPage;
    if (!asksPage) {
      const since = watchedOperations().find(({ id }) => id === lost)?.created_at;
      const updates = await (since === undefined ? fetchOne(followed, lost, signal) : fetchSince(followed, since, signal));
      // What a list does not have yet is asked for by its ID in its next turn.
      return [...updates, ...watchedOperations().filter(({ id }) => id !== lost && !updates.some((each) => each.id === id))];
    }
    const { data, meta } = await client.operations.list({ query: { per_page: PAGE }, signal });
    onPage = new Set(data.map(({ id }) => id));
    const current = [...data, ...watchedOperations().filter(({ id }) => followed.has(id) && !onPage.has(id))];
    const older = meta.next_cursor == null ? [] : await findOldest(current.filter(isOpen).length, signal);
    return [...current, ...older.filter(({ id }) => !current.some((each) => each.id === id))];
  };

  return queryOptions({
    queryKey: KEY,
    queryFn: ({ signal }) => ask(signal),
    staleTime: 0,
    retry: false,
    refetchOnWindowFocus: "always",
    refetchInterval: ({ state }) => {
      // The watch follows operations that it just saw running a moment later, after this request.
      const running = (state.data ?? []).filter(isOpen);
      if (followed.size === 0 && running.length === 0) return recoverAfter(state.error);
      const wait = state.error instanceof ClientError ? (state.error.retryAfter ?? 0) * 1000 : 0;
      return Math.max(askEvery(running), wait);
    },
  });
}

/** Returns how many operations are open, from the overview that every page fetches anyway; undefined if it does not say. */
const countOpen = ({ operations }: Pick<Overview, "operations">): number | undefined =>
  operations && Object.values(operations).reduce((sum, count) => sum + count, 0);

async function isAnyOpen(): Promise<boolean> {
  const { data } = await queryClient.fetchQuery({ ...overview(), staleTime: FOLLOW_EVERY_MS });
  return countOpen(data) !== 0;
}

/**
 * Finds what runs for so long that a page of newer operations hides it, such as a bulk action behind those that it has begun.
 * Once for each overview: lists lag behind, so the numbers may differ for other reasons. What the watch itself asks for is known
 * by then: neither an overview that fails nor a search that does stops it.
 */
function createSearch(): (knownCount: number, signal: AbortSignal) => Promise<Operation[]> {
  let searchedAt = 0;
  return async (knownCount, signal) => {
    const { data: response, dataUpdatedAt = 0 } = queryClient.getQueryState<{ data: Overview }>(overview().queryKey) ?? {};
    const open = (response && countOpen(response.data)) ?? 0;
    if (open <= knownCount || dataUpdatedAt === searchedAt) return [];
    searchedAt = dataUpdatedAt;
    try {
      const { data } = await client.operations.list({ query: { status: "running", order: "asc", per_page: PAGE }, signal });
      return data.toReversed();
    } catch {
      return [];
    }
  };
}

/** A wave of hundreds takes a few requests, not one for each. */
async function fetchSince(followed: Set<string>, since: string, signal: AbortSignal): Promise<Operation[]> {
  const { data } = await client.operations.list({ query: { created_after: since, order: "asc", per_page: PAGE }, signal });
  const operations = data.filter(({ id }) => followed.has(id));
  for (const { id } of operations) moveToEnd(followed, id);
  return operations;
}

/** Moves an operation to the end, so that all have their turn. */
function moveToEnd(followed: Set<string>, id: string): void {
  followed.delete(id);
  followed.add(id);
}

async function fetchOne(followed: Set<string>, id: string, signal: AbortSignal): Promise<Operation[]> {
  moveToEnd(followed, id);
  try {
    return [(await client.operations.get({ params: { id }, signal })).data];
  } catch (error) {
    if (!(error instanceof ClientError && error.code === "NOT_FOUND")) throw error;
    followed.delete(id);
    return [];
  }
}

/** What a response says of an operation that the watch has seen counts until its next request. */
export const updateWatchedOperation = (operation: Operation): void =>
  void queryClient.setQueryData<readonly Operation[]>(KEY, (cached) =>
    cached?.map((each) => (each.id === operation.id ? operation : each)),
  );

/** The one watch of the page. */
export const watch = createWatch();
