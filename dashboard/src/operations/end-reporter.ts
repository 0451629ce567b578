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

/** Collects ends until the page is refreshed. */
export function createEndReporter(): (ended: readonly Operation[]) => void {
  let unreported: Operation[] = [];
  let refreshedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const refreshNow = (): void => {
    refreshedAt = Date.now();
    const ended = unreported;
    unreported = [];
    void refreshAndReport(ended);
  };
  return (ended) => {
    unreported.push(...ended);
    const wait = refreshedAt + REFRESH_EVERY_MS - Date.now();
    if (wait <= 0) refreshNow();
    timer ??= setTimeout(
      () => {
        timer = undefined;
        refreshNow();
      },
      Math.max(wait, REFRESH_EVERY_MS),
    );
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
