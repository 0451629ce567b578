// Tests that cannot run everywhere: `describe("…", unless(reason), …)`. `npm test` lists what was skipped, by name and with the reason.

declare module "vitest" {
  interface TaskMeta {
    /** Why it does not run here. */
    skipped?: string;
  }
}

/** Options of a test, or of a group of them: without a reason it runs. */
export const unless = (reason: string | undefined) => (reason === undefined ? {} : { skip: true, meta: { skipped: reason } });
