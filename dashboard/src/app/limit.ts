// The API's rate limit: how long the page waits because a response asked it to.
import { useSyncExternalStore } from "react";
import { ClientError } from "../../../shared/api/client.ts";

/** For responses that do not say how long. */
const WAIT_SECONDS = 60;

let until = 0;
const listeners = new Set<() => void>();

/** How long to wait, in seconds; undefined for errors other than the rate limit. */
export const waitOf = (error: unknown): number | undefined =>
  error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED" ? (error.retryAfter ?? WAIT_SECONDS) : undefined;

export function waitUntil(moment: number): void {
  until = Math.max(until, moment);
  for (const listener of listeners) listener();
}

/** In milliseconds of the browser's clock; in the past if nothing waits. */
export const useWaitingUntil = (): number => useSyncExternalStore(subscribe, () => until);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
