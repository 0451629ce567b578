// How the tests run: three files at a time, one shared cloud for those that only speak HTTP, and nothing is tried twice.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/harness/global.ts",
    setupFiles: "test/harness/setup.ts",
    // Processes, not threads: the local cloud runs every function in a thread of its own.
    pool: "forks",
    maxWorkers: 3,
    retry: 0,
    testTimeout: 60_000,
    // As long as a page is waited for in a browser.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
