// What scheduled functions do for many records, a few at a time. The runtime logs what a function throws without the errors in
// it, so each is logged here.
import { log } from "../platform/log.ts";
import { concurrently } from "../platform/concurrently.ts";

/** `about` names an item in the log. A failure does not stop the others; at the end an error says how many failed. */
export const concurrentlyLogged = <T>(
  atOnce: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  about: (item: T) => Record<string, string>,
): Promise<void> =>
  concurrently(atOnce, items, async (item) => {
    try {
      await work(item);
    } catch (error) {
      const isLogged = error instanceof AggregateError; // by parts
      if (!isLogged) log.error("a part of this run failed", { ...about(item), error });
      throw error;
    }
  });

/** The parts of a function, none of which waits for another one or suffers from its errors. */
export const inParts = (parts: Readonly<Record<string, () => Promise<void>>>): Promise<void> => {
  const all = Object.entries(parts);
  return concurrentlyLogged(
    all.length,
    all,
    ([, work]) => work(),
    ([part]) => ({ part }),
  );
};
