// Follows all long work with one request at a time: while something runs, while the page is looked at, and never else.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ClientError } from "../../../shared/api/client.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { client } from "../app/client.ts";
import { queryClient, refresh } from "../app/query-client.ts";
import { session } from "../session/session.ts";
import { operationIdsIn } from "../app/operation-ids.ts";
import { heldOnPage } from "./held.ts";
import { rememberNames, tellEnd } from "./tell.tsx";

/** A little over 2 seconds, so that never more than one request falls in two. */
const ASK_EVERY_MS = 2_100;
/** Newest first: what runs is nearly always among these. */
const PAGE = 50;
/** A wave of ends refreshes the page this often at most; and the last refreshes it twice, because lists lag behind by a moment. */
const REFRESH_EVERY_MS = 5_000;

const LAG_MS = 1_000;
const LAGGING_TRIES = 4;

const KEY = ["watch"];

/** Work to be followed until its end, by id: what this page began, what records say holds them, and what was seen running. */
const followed = new Set<string>();

const isOpen = ({ status }: Operation): boolean => status === "pending" || status === "running";

/** Asks the API for the newest operations or, in turn, for one that is followed and is not among them. */
async function ask(signal: AbortSignal): Promise<readonly Operation[]> {
  const [lost] = [...followed].filter((id) => !onPage.has(id));
  const known = queryClient.getQueryData<readonly Operation[]>(KEY) ?? [];
  askPage = !askPage || lost === undefined;
  if (!askPage && lost !== undefined) return [...(await one(lost, signal)), ...known.filter(({ id }) => id !== lost)];
  const { data } = await client.operations.list({ query: { per_page: PAGE }, signal });
  onPage = new Set(data.map(({ id }) => id));
  return [...data, ...known.filter(({ id }) => followed.has(id) && !onPage.has(id))];
}
let askPage = false;
let onPage: ReadonlySet<string> = new Set();

async function one(id: string, signal: AbortSignal): Promise<Operation[]> {
  followed.delete(id); // and again to the end, so that all have their turn
  followed.add(id);
  try {
    return [(await client.operations.get({ params: { id }, signal })).data];
  } catch (error) {
    if (!(error instanceof ClientError && error.code === "NOT_FOUND")) throw error;
    followed.delete(id);
    return [];
  }
}

const watch = queryOptions({
  queryKey: KEY,
  queryFn: ({ signal }) => ask(signal),
  staleTime: 0,
  retry: false,
  refetchOnWindowFocus: "always",
  refetchInterval: ({ state }) => {
    // What was just seen running is followed a moment later, when this has been asked already.
    if (followed.size === 0 && !(state.data ?? []).some(isOpen)) return false;
    const wait = state.error instanceof ClientError ? (state.error.retryAfter ?? 0) * 1000 : 0;
    return Math.max(ASK_EVERY_MS, wait);
  },
});

/** The one watch of the page, in its shell. */
export function useWatch(): void {
  const { data, dataUpdatedAt } = useQuery(watch);
  useEffect(() => {
    if (data !== undefined) notice(data);
  }, [data, dataUpdatedAt]);
  useEffect(() => {
    const leaveMutations = queryClient.getMutationCache().subscribe((event) => {
      if (event.type !== "updated" || event.action.type !== "success") return;
      rememberNames(event.action.data);
      follow(operationIdsIn(event.action.data));
    });
    const leaveQueries = queryClient.getQueryCache().subscribe((event) => {
      if (event.type !== "updated" || event.action.type !== "success") return;
      if (!RECORDS.has(event.query.queryKey[0])) return;
      rememberNames(event.action.data);
      follow(operationIdsIn(event.action.data));
    });
    return () => {
      leaveMutations();
      leaveQueries();
      followed.clear();
      noticed = false;
    };
  }, []);
}

/** Whether what runs cannot be looked at now: what is shown of it is as old as the last response. */
export const useWatchFailed = (): boolean => useQuery({ ...watch, enabled: false }).isError;

/** An operation as it stands now, if the watch has seen it. */
export const useOperation = (id: string | null): Operation | undefined => useSeen().find((operation) => operation.id === id);

/** All that runs now, newest first. */
export const useRunning = (): readonly Operation[] => useSeen().filter(isOpen);

/** Only reads: a second watch would ask on its own. With all options of the first, because those set last hold for both. */
const useSeen = (): readonly Operation[] => useQuery({ ...watch, enabled: false }).data ?? [];

const RECORDS = new Set<unknown>(["servers", "instances", "backups"]);

function follow(ids: readonly string[]): void {
  const known = queryClient.getQueryData<readonly Operation[]>(KEY) ?? [];
  const news = ids.filter((id) => !followed.has(id) && !known.some((each) => each.id === id && !isOpen(each)));
  for (const id of news) followed.add(id);
  if (news.length > 0) void queryClient.invalidateQueries({ queryKey: KEY }, { cancelRefetch: false });
}

/** Compares what was answered with what is followed: tells ends of what its person began, and begins to follow what others began. */
function notice(operations: readonly Operation[]): void {
  let changed = false;
  for (const operation of operations) {
    if (isOpen(operation) && !followed.has(operation.id)) {
      followed.add(operation.id);
      changed ||= noticed; // what ran when the page was opened is in what the page asked for then
    } else if (!isOpen(operation) && followed.delete(operation.id)) {
      changed = true;
      // It may have ended before it was first seen: whose it is says the operation itself.
      if (operation.created_by.id === session()?.user.id) untold.push(operation);
    }
  }
  noticed = true;
  if (changed) refreshSoon();
}
let noticed = false;
/** Ends that are told once the page shows them. */
let untold: Operation[] = [];

let refreshed = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
function refreshSoon(): void {
  const wait = refreshed + REFRESH_EVERY_MS - Date.now();
  if (wait <= 0) refreshNow();
  timer ??= setTimeout(
    () => {
      timer = undefined;
      refreshNow();
    },
    Math.max(wait, REFRESH_EVERY_MS),
  );
}

function refreshNow(): void {
  refreshed = Date.now();
  void tellAfterRefresh();
}

/** What is told never contradicts the page: lists lag behind by a moment, so they are asked again until they have let go of the work. */
async function tellAfterRefresh(): Promise<void> {
  const ended = untold;
  untold = [];
  await refresh();
  for (let tries = 1; tries < LAGGING_TRIES && ended.some(({ id }) => heldOnPage(id)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, LAG_MS));
    await refresh();
  }
  // Somebody else may be signed in by now.
  for (const operation of ended) if (operation.created_by.id === session()?.user.id) tellEnd(operation);
}
