// `npm run bench:dashboard`: how the dashboard loads and responds, measured as a test is run. Writes docs/performance.md.
import { defineConfig, mergeConfig } from "vitest/config";
import tests from "../../vitest.config.ts";

export default mergeConfig(
  { ...tests, test: { ...tests.test, projects: undefined } },
  defineConfig({ test: { include: ["test/benchmark/dashboard.ts"], testTimeout: 300_000, hookTimeout: 300_000 } }),
);
