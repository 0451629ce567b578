// How `npm run mutate` runs tests: those of one module, each file in a process of its own, with the changed code.
import { defineConfig } from "vitest/config";
import tests from "../../vitest.config.ts";
import { TESTS } from "./provided.ts";

const { projects: _, ...common } = tests.test ?? {};

export default defineConfig({
  test: {
    ...common,
    include: process.env[TESTS]?.split(",") ?? [],
    setupFiles: ["test/harness/setup.ts", "test/mutation/setup.ts"],
    globalSetup: "test/mutation/provided.ts",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
