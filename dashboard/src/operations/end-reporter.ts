// Refreshes the page when operations have begun or ended, and then reports the ends.
import type { Operation } from "../../../shared/api/operations.ts";
import { refetchLists, refresh } from "../app/query-client.ts";
import { session } from "../session/session.ts";
import { heldOnPage } from "./held.ts";
import { notifyEnd } from "./notify-end.tsx";

/**
 * A wave of ends refreshes the page this often at most; and the last refreshes it twice, because lists lag behind by a moment.
 */
const REFRESH_EVERY_MS = 5_000;
const LAG_MS = 1_000;
const LAGGING_TRIES = 4;

/** A bulk action begins and ends something all the time: all of its pages together stay far below the rate limit. */
const REFRESH_IN_BULK_MS = 10_000;

/** Collects ends until the page is refreshed. */
export function createEndReporter(): (ended: readonly Operation[], isBulkRunning: boolean) => void {
  let unreported: Operation[] = [];
  let refreshedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const refreshNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    refreshedAt = Date.now();
    const ended = unreported;
    unreported = [];
    void refreshAndReport(ended);
  };
  return (ended, isBulkRunning) => {
    unreported.push(...ended);
    const every = isBulkRunning ? REFRESH_IN_BULK_MS : REFRESH_EVERY_MS;
    if (refreshedAt + every <= Date.now()) refreshNow();
    timer ??= setTimeout(refreshNow, every);
  };
}

/**
 * What is reported never contradicts the page: lists lag behind by a moment, so they are fetched again until they have let go of
 * the work.
 */
async function refreshAndReport(ended: readonly Operation[]): Promise<void> {
  await refresh();
  for (let tries = 1; tries < LAGGING_TRIES && ended.some(({ id }) => heldOnPage(id)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, LAG_MS));
    await refetchLists();
  }
  // Somebody else may be signed in by now.
  for (const operation of ended) if (operation.created_by.id === session()?.user.id) notifyEnd(operation);
}
