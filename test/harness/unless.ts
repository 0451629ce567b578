// Tests that cannot run everywhere: `describe("…", unless(reason), …)`. `npm test` lists what was skipped, by name and with the
// reason.

declare module "vitest" {
  interface TaskMeta {
    /** Why the test does not run here. */
    skipped?: string;
  }
}

/** Options of a test or a group of tests; it runs if there is no reason to skip it. */
export const unless = (reason: string | undefined) => (reason === undefined ? {} : { skip: true, meta: { skipped: reason } });
