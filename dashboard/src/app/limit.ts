// The API's rate limit: how long an error asks to wait.
import { ClientError } from "../../../shared/api/client-of.ts";

/** The wait after responses that do not say how long to wait. */
const WAIT_SECONDS = 60;

/** Returns how many seconds an error asks to wait; undefined for errors other than the rate limit. */
export const retryAfterSeconds = (error: unknown): number | undefined =>
  error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED" ? (error.retryAfter ?? WAIT_SECONDS) : undefined;
