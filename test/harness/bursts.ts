// Requests that reach a rate limit.

/**
 * At once. All of them write one item, and on a busy machine the database does not respond to hundreds within the time that the service gives
 * it. Both limits are reached in the middle of a burst.
 */
const BURST = 15;

/** Many requests of one caller, and what they returned. */
export async function inBursts<T>(requests: number, ask: () => Promise<T>): Promise<T[]> {
  const responses: T[] = [];
  while (responses.length < requests) {
    const burst = Array.from({ length: Math.min(BURST, requests - responses.length) }, ask);
    responses.push(...(await Promise.all(burst)));
  }
  return responses;
}
