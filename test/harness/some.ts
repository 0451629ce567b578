// Which rows of a table a `.table.test.ts` file tests: some with `npm test`, the others with `npm run test:all`.
import { RING } from "./ring.ts";

/**
 * Returns one of every `of` cases with `npm test`, beginning with the one at `turn`, the others with `npm run test:all`, else
 * all. Count `turn` up, and every case appears in some row.
 */
export const some = <T>(cases: readonly T[], of: number, turn = 0): T[] =>
  cases.filter((_, index) => RING === undefined || (RING === "test") === ((index + turn) % of === 0));

/** Returns no case with `npm test`: all of them run with `npm run test:all`. */
export const later = <T>(cases: readonly T[]): T[] => (RING === "test" ? [] : [...cases]);
