// How the tests run: three files at a time, one shared cloud for those that only speak HTTP, and nothing is tried twice.
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// What Node compiles is kept for the next process: every file of tests has one of its own.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".local", "compile-cache");

/** Those that take longest, so that none of them is what all others wait for at the end, on a machine that has not seen them yet either. */
const LONGEST = [
  /e2e\/start/,
  /figures/,
  /workflows\/(deaths|derived|told|starts)/,
  /browser\/(backups|servers|instances|clones)/,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((pattern) => pattern.test(moduleId));
      return place === -1 ? LONGEST.length : place;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of its own
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/harness/global.ts",
    setupFiles: "test/harness/setup.ts",
    // Processes, not threads: the local cloud runs every function in a thread of its own.
    pool: "forks",
    // More than the two cores of a small machine: a file waits for its cloud, its browser or its timers half of the time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // What a test that passes logs is of no use to anybody.
    silent: "passed-only",
    testTimeout: 60_000,
    // As long as a page is waited for in a browser.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
