// A vitest reporter that writes what a round of tests came to, to the file in SUMMARY_FILE: every test, how long each file took,
// and the moments in which the machine had no time for the tests.
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule, Vitest } from "vitest/node";
import * as z from "zod";

const Result = z.object({
  name: z.string(),
  state: z.enum(["passed", "failed", "skipped"]),
  /** The error of a failed test, or why a test was skipped. */
  reason: z.string().optional(),
});
export type Result = z.infer<typeof Result>;

const FileResult = z.object({ file: z.string(), seconds: z.number(), tests: z.array(Result) });
export type FileResult = z.infer<typeof FileResult>;

const Stall = z.object({ at: z.string(), seconds: z.number(), load: z.number(), running: z.array(z.string()) });

export const Round = z.object({ files: z.array(FileResult), stalls: z.array(Stall) });
export type Round = z.infer<typeof Round>;

/** What fails outside of any test: a file that cannot be loaded, a hook, an error that nobody caught. */
export const OUTSIDE = "outside of a test";

const LOOKS_EVERY_MS = 500;
const STALL_MS = 2_000;

export default class implements Reporter {
  readonly #running = new Set<string>();
  readonly #stalls: Round["stalls"] = [];
  #root = "";
  #timer: NodeJS.Timeout | undefined;

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const late = performance.now() - last - LOOKS_EVERY_MS;
      last = performance.now();
      if (late < STALL_MS) return;
      const [load = 0] = loadavg();
      this.#stalls.push({ at: new Date().toISOString(), seconds: late / 1000, load, running: [...this.#running] });
    }, LOOKS_EVERY_MS).unref();
  }

  onTestModuleStart({ relativeModuleId }: TestModule): void {
    this.#running.add(relativeModuleId);
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    clearInterval(this.#timer);
    const to = process.env["SUMMARY_FILE"];
    if (to === undefined) return;
    const files = modules.map(resultsOf);
    for (const error of unhandled) {
      const file = typeof error["VITEST_TEST_PATH"] === "string" ? relative(this.#root, error["VITEST_TEST_PATH"]) : "";
      const failed: Result = { name: OUTSIDE, state: "failed", reason: error.stack ?? error.message };
      const existing = files.find((each) => each.file === file);
      if (existing === undefined) files.push({ file, seconds: 0, tests: [failed] });
      else existing.tests.push(failed);
    }
    writeFileSync(to, JSON.stringify({ files, stalls: this.#stalls } satisfies Round));
  }
}

function resultsOf(module: TestModule): FileResult {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const milliseconds = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
  const times = new Map<string, number>();
  const tests = [...module.children.allTests()].map((test): Result => {
    const { state, errors = [] } = test.result();
    const time = (times.get(test.fullName) ?? 0) + 1;
    times.set(test.fullName, time);
    const name = time === 1 ? test.fullName : `${test.fullName} (${time})`;
    if (state === "passed") return { name, state };
    if (state === "failed") return { name, state, reason: textOf(errors[0]) };
    const reason = test.meta().skipped;
    return { name, state: "skipped", ...(reason !== undefined && { reason }) };
  });
  for (const suite of [module, ...module.children.allSuites()]) {
    const name = suite.type === "suite" ? `${suite.fullName} > ${OUTSIDE}` : OUTSIDE;
    const [error] = suite.errors();
    if (error !== undefined) tests.push({ name, state: "failed", reason: textOf(error) });
  }
  if (module.state() === "failed" && !tests.some(({ state }) => state === "failed"))
    tests.push({ name: OUTSIDE, state: "failed", reason: textOf(undefined) });
  return { file: module.relativeModuleId, seconds: milliseconds / 1000, tests };
}

const textOf = (error: { message: string; stack?: string } | undefined): string =>
  error === undefined ? "no error was reported" : (error.stack ?? error.message);
