// The checks of the code itself: types, format, lint and dead code, and the same of the Python that runs on machines.
import { join } from "node:path";
import type { Ring } from "./ring.ts";
import { ROOT, run } from "./rounds.ts";

export interface Check {
  name: string;
  command: string[];
  /** What to do if it fails, where its output does not say. */
  remedy?: string;
}

export interface Checked {
  name: string;
  code: number;
  /** Shown only if it fails. */
  output: string;
  seconds: number;
}

/** What the last run found still holds for files that have not changed; one thread does the rest with a third less CPU. */
function types(project: string, name: string): string[] {
  const buildInfo = join(ROOT, ".local", `types-${name}.tsbuildinfo`);
  return ["typescript/bin/tsc", "-p", project, "--noEmit", "--singleThreaded", "--incremental", "--tsBuildInfoFile", buildInfo];
}

export const serviceTypes: Check = { name: "types", command: types(".", "service") };
export const dashboardTypes: Check = { name: "types of the dashboard", command: types("dashboard", "dashboard") };
export const format: Check = {
  name: "format",
  command: ["oxfmt/bin/oxfmt", "--check", "."],
  remedy: "`npm run format` formats them.",
};
export const lintOf = (...files: string[]): Check => ({
  name: "lint",
  command: ["oxlint/bin/oxlint", "--type-aware", "--deny-warnings", ...files],
});
export const pythonChecks: Check[] = [
  { name: "types of the Python", command: ["pyright/index.js"] },
  { name: "format and lint of the Python", command: ["../test/harness/lint-python.ts"] },
];
/** Files, exports and dependencies that nothing uses. */
export const deadCode: Check = { name: "dead code", command: ["knip/bin/knip.js", "--no-progress"] };

/** What each ring of tests checks of the code. */
export const CHECKS: Readonly<Record<Ring, Check[]>> = {
  test: [serviceTypes, dashboardTypes, format, lintOf(".")],
  all: [deadCode, ...pythonChecks],
};

/** The checkers are Go programs beside the tests: one thread each, and memory for time. */
const FRUGAL = { GOMAXPROCS: "1", GOGC: "400" };

export async function runChecks(checks: readonly Check[]): Promise<Checked[]> {
  const checked = [];
  // One after another: the tests need the rest of the machine.
  for (const { name, command, remedy = "" } of checks) {
    const { output, ...outcome } = await run(command, { quiet: true, env: FRUGAL });
    checked.push({ name, ...outcome, output: `${output}${remedy}` });
  }
  return checked;
}
