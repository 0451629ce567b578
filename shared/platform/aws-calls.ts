// How long a call to AWS may take: the options of every SDK client, because the SDK's defaults wait forever.
import { LOG_READS } from "../domain/limits.ts";

/**
 * The options for everything that someone waits for: 3 tries of 2 s each, at most 0.3 s between them. So a service that does not
 * respond costs a function 6.3 s, once: the call fails, and with it the request (503) or the task (`TryAgain`). What has to fit:
 * - the authorizer, 20 s: its key and its write, both at their slowest, take 12.6 s;
 * - an API function, 28 s, one less than API Gateway waits: `?wait=20` and one more read, or the write that frees its slot, take
 *   26.3 s; an execution that cannot be started and the change that takes it back (a read and a write) take 18.9 s;
 * - a request, 60 s at CloudFront: the authorizer's and the function's.
 */
export const CALLS = { maxAttempts: 3, requestHandler: handlerFor({ connectMs: 1_000, responseMs: 2_000 }) } as const;

/**
 * The options for archives, which only tasks touch, with at least 5 minutes: 3 tries of 30 s, so a store that has gone silent
 * costs a task 1.5 minutes.
 */
export const ARCHIVE_CALLS = { maxAttempts: 3, requestHandler: handlerFor({ connectMs: 2_000, responseMs: 30_000 }) } as const;

/** The options for mail: one try, because a second might send the same mail again, and the queue makes another one later. */
export const MAIL_CALLS = { maxAttempts: 1, requestHandler: handlerFor({ connectMs: 2_000, responseMs: 20_000 }) } as const;

/** The options for reading a log on a machine: one try, because whoever waits has then waited long enough. */
export const LOG_CALLS = {
  maxAttempts: 1,
  requestHandler: handlerFor({ connectMs: 1_000, responseMs: LOG_READS.seconds * 1000 }),
} as const;

/**
 * `requestTimeout` ends with the response's first byte, and without `throwOnRequestTimeout` it only warns; `socketTimeout` bounds
 * each pause after that.
 */
function handlerFor({ connectMs, responseMs }: { connectMs: number; responseMs: number }) {
  return {
    connectionTimeout: connectMs,
    requestTimeout: responseMs,
    socketTimeout: responseMs,
    throwOnRequestTimeout: true,
  };
}
