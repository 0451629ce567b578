// The two rings of tests: what `npm test` runs, and the rest, which `npm run test:all` runs before a merge. A file's name says
// where it is.
import * as z from "zod";

export const Ring = z.enum(["test", "all"]);
export type Ring = z.infer<typeof Ring>;

/** The environment variable by which test/run.ts says which ring runs. */
export const RING_VARIABLE = "TEST_RING";

/** Undefined if somebody runs vitest: then every test of the files that they name runs. */
export const RING = Ring.optional().parse(process.env[RING_VARIABLE]);

/** `.table` files are in both: `npm test` runs the part of their rows that `some` picks, and `npm run test:all` the others. */
export function isInRing(file: string, ring: Ring | undefined): boolean {
  if (ring === undefined || file.endsWith(".table.test.ts")) return true;
  return file.endsWith(".all.test.ts") === (ring === "all");
}
