// The API's rate limit: how long an error asks to wait.
import { ClientError } from "../../../shared/api/client-of.ts";

/** For responses that do not say how long. */
const WAIT_SECONDS = 60;

/** In seconds; undefined for errors other than the rate limit. */
export const retryAfterSeconds = (error: unknown): number | undefined =>
  error instanceof ClientError && error.code === "RATE_LIMIT_EXCEEDED" ? (error.retryAfter ?? WAIT_SECONDS) : undefined;
