// The API's rate limit: how long the page waits because a response asked it to.
import { ClientError } from "../../../shared/api/client-of.ts";
import { createStore } from "../session/store.ts";

/** For responses that do not say how long. */
const WAIT_SECONDS = 60;

const until = createStore(0);

/** How long to wait, in seconds; undefined for errors other than the rate limit. */
export const waitOf = (error: unknown): number | undefined =>
  error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED" ? (error.retryAfter ?? WAIT_SECONDS) : undefined;

export const waitUntil = (moment: number): void => until.set(Math.max(until.get(), moment));

/** In milliseconds of the browser's clock; in the past if nothing waits. */
export const useWaitingUntil = until.use;
