// The API's rate limit: until when the page waits, because a response said so.
import { useSyncExternalStore } from "react";
import { ClientError } from "../../../shared/api/client.ts";

/** Where a response does not say how long. */
const WAIT_SECONDS = 60;

let until = 0;
const listeners = new Set<() => void>();

/** How long to wait, in seconds; undefined for errors that are not of the limit. */
export const waitOf = (error: unknown): number | undefined =>
  error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED" ? (error.retryAfter ?? WAIT_SECONDS) : undefined;

export function waitUntil(moment: number): void {
  until = Math.max(until, moment);
  for (const listener of listeners) listener();
}

/** In milliseconds of the browser's clock; in the past where nothing waits. */
export const useWaitingUntil = (): number => useSyncExternalStore(subscribe, () => until);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
