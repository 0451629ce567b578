// `npm run screenshots`: pictures of every page into docs/screenshots, taken as a test is run.
import { defineConfig, mergeConfig } from "vitest/config";
import tests from "../../vitest.config.ts";

export default mergeConfig(
  { ...tests, test: { ...tests.test, projects: undefined } },
  defineConfig({ test: { include: ["test/browser/screenshots.ts"], testTimeout: 120_000, hookTimeout: 120_000 } }),
);
