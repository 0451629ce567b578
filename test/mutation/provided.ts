// What `npm run mutate` has started for the tests: test/harness/global.ts, once for all changes, from code without any.
import { readFileSync } from "node:fs";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";

/** The environment variables that name the file with what is provided, and the tests, with commas. */
export const PROVIDED = "MUTATION_PROVIDED";
export const TESTS = "MUTATION_TESTS";

export default function setup(project: TestProject): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by run.ts from what that file provides
  const provided = JSON.parse(readFileSync(process.env[PROVIDED] ?? "", "utf8")) as ProvidedContext;
  project.provide("outDir", provided.outDir);
  project.provide("databaseUrl", provided.databaseUrl);
  project.provide("bundles", provided.bundles);
  project.provide("description", provided.description);
  project.provide("shared", provided.shared);
}
