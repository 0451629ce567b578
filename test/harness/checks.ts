// The checks of the code itself: types, format and lint.
import { join } from "node:path";
import { ROOT } from "./rounds.ts";

/** What the last run found still holds for files that have not changed; one thread does the rest with a third less CPU. */
function types(project: string, name: string): string[] {
  const kept = join(ROOT, ".local", `types-${name}.tsbuildinfo`);
  return ["typescript/bin/tsc", "-p", project, "--noEmit", "--singleThreaded", "--incremental", "--tsBuildInfoFile", kept];
}

/** The checkers are Go programs beside the tests: one thread each, and memory for time. */
export const FRUGAL = { GOMAXPROCS: "1", GOGC: "400" };

/** A check passes or fails; its output is shown only if it fails. */
export const CHECKS: [name: string, command: string[]][] = [
  ["types", types(".", "service")],
  ["types of the dashboard", types("dashboard", "dashboard")],
  ["format", ["oxfmt/bin/oxfmt", "--check", "."]],
  ["lint", ["oxlint/bin/oxlint", "--type-aware", "--deny-warnings"]],
];
