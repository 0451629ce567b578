// Processes many items no faster than an external rate limit allows, and no longer than the time available.
import { concurrentlyLogged } from "./concurrently-logged.ts";

interface Pace {
  /** Items that start without waiting for the rate; `atOnce` still limits them. */
  burst: number;
  perSecond: number;
  /** Items that have not started by then are left out. */
  seconds: number;
  atOnce: number;
}

/** Processes the items in their order; `about` names one in the log. Returns how many were left. */
export async function runPaced<T>(
  items: readonly T[],
  { burst, perSecond, seconds, atOnce }: Pace,
  work: (item: T) => Promise<void>,
  about: (item: T) => Record<string, string>,
): Promise<number> {
  const began = Date.now();
  const fitting = items.slice(0, burst + Math.floor(perSecond * seconds));
  let leftCount = items.length - fitting.length;
  const unlessLate = async ([index, item]: [number, T]): Promise<void> => {
    const dueMs = (Math.max(0, index - burst) / perSecond) * 1000;
    await until(began + dueMs);
    if (Date.now() - began > seconds * 1000) leftCount += 1; // earlier items took too long
    else await work(item);
  };
  await concurrentlyLogged(atOnce, [...fitting.entries()], unlessLate, ([, item]) => about(item));
  return leftCount;
}

/** Lets its callers through one after the other, no faster than the rate. */
export function createPacer(perSecond: number): () => Promise<void> {
  let next = 0; // by a clock that is never set
  return async () => {
    const pauseMs = Math.max(0, next - performance.now());
    next = performance.now() + pauseMs + 1000 / perSecond;
    if (pauseMs > 0) await new Promise((resolve) => void setTimeout(resolve, pauseMs));
  };
}

const until = (time: number): Promise<void> =>
  Date.now() >= time ? Promise.resolve() : new Promise((resolve) => void setTimeout(resolve, time - Date.now()));
