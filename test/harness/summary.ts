// Writes the summary of `npm test` to the file in SUMMARY_FILE: how many tests ran, which took longest, which were skipped and why, and which
// passed only when they were repeated.
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export interface Summary {
  passed: number;
  failed: number;
  skipped: { name: string; reason: string }[];
  /** With the error of the first try. */
  repeated: { name: string; reason: string }[];
  files: { name: string; seconds: number }[];
}

export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env["SUMMARY_FILE"];
    if (file !== undefined) writeFileSync(file, JSON.stringify(summaryOf(modules)));
  }
}

function summaryOf(modules: readonly TestModule[]): Summary {
  const summary: Summary = { passed: 0, failed: 0, skipped: [], repeated: [], files: [] };
  for (const module of modules) {
    const name = module.relativeModuleId;
    const tests = [...module.children.allTests()];
    const failed = tests.filter((test) => test.result().state === "failed").length;
    // A file that cannot be loaded, or a failure outside any test, is a failure, too.
    const isBroken = failed === 0 && module.state() === "failed";
    summary.failed += isBroken ? 1 : failed;
    for (const test of tests) {
      const { state, errors = [] } = test.result();
      if (state === "passed") summary.passed += 1;
      if (test.diagnostic()?.flaky === true) {
        // What a page logged is in the second line.
        const [first = "", second = ""] = errors[0]?.message.split("\n") ?? [];
        const reason = `${first} ${second}`.trim();
        summary.repeated.push({ name: `${name}: ${test.fullName}`, reason });
      }
      if (state === "passed" || state === "failed") continue;
      const reason = test.meta().skipped ?? (isBroken ? "what comes before it failed" : "no reason is given");
      summary.skipped.push({ name: `${name}: ${test.fullName}`, reason });
    }
    const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
    const milliseconds = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
    summary.files.push({ name, seconds: milliseconds / 1000 });
  }
  return summary;
}
