// How the tests run: five files at a time, and one shared cloud for those that only speak HTTP. Only what runs in a real browser, or as real
// processes, is repeated once if it fails.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// What Node compiles is kept for the next process: half of the files have one of their own.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".local", "compile-cache");

/** Files that change the process that they run in: by a cloud of their own, its environment, its clock, its modules or its machine. */
const ALONE = /^test\/(e2e|hosts|infra|local|providers|workflows)\//;
const CHANGES = /\b(ownCloud|ownLiveCloud|machineWithJobs|startCloud|startTestCloud|process\.env|vi\.(mock|use|stub|spy)\w*)\b/;

const files = globSync("test/**/*.test.ts", { cwd: import.meta.dirname }).map((file) => file.replaceAll("\\", "/"));
const has = (file: string, pattern: RegExp): boolean => pattern.test(readFileSync(join(import.meta.dirname, file), "utf8"));
const withCloud = files.filter((file) => has(file, /\bprocessCloud\b/));
const alone = files.filter((file) => !withCloud.includes(file) && (ALONE.test(file) || has(file, CHANGES)));
const together = files.filter((file) => !withCloud.includes(file) && !alone.includes(file));

/**
 * A browser, and processes that are started as users start them, have a pace of their own: on a busy machine a test of them can fail although
 * nothing is wrong. Such a test is repeated once, and `npm test` names it, because it is to be mended. Nothing else is ever repeated: a second
 * try would hide a race or a violated guarantee, which fails once in a hundred runs.
 */
const HAS_OWN_PACE = /^test\/(browser|e2e)\//;

/** Those that take longest, so that none of them is what all others wait for at the end, on a machine that has not seen them yet either. */
const LONGEST = [/e2e\/start/, /figures/, /providers\/create/];
/** A process is passed on only from one file of a project to the next one of it. */
const PROJECTS = ["with a cloud", "alone, repeated", "alone", "together, repeated", "together"];

/** A project, without its tests that have a pace of their own, and those. */
const withRepeated = (name: string, include: string[], isolate: boolean) => [
  { extends: true as const, test: { name, include: include.filter((file) => !HAS_OWN_PACE.test(file)), isolate } },
  {
    extends: true as const,
    test: { name: `${name}, repeated`, include: include.filter((file) => HAS_OWN_PACE.test(file)), isolate, retry: 1 },
  },
];

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((pattern) => pattern.test(moduleId));
  if (place !== -1) return place;
  return LONGEST.length + PROJECTS.indexOf(project.name);
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of its own
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    projects: [
      ...withRepeated("alone", alone, true),
      // One process after another file of these, with its cloud.
      { extends: true, test: { name: "with a cloud", include: withCloud, isolate: false } },
      // The rest speaks HTTP to the shared cloud, or calls what has no state. A process and its imports are most of what a small file costs.
      ...withRepeated("together", together, false),
    ],
    globalSetup: "test/harness/global.ts",
    setupFiles: "test/harness/setup.ts",
    // Processes, not threads: the local cloud runs every function in a thread of its own.
    pool: "forks",
    // Room for short-lived objects: with V8's own limits, which save memory, tests of workflows and routes took 3 to 12 % more CPU.
    execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=64"],
    // More than the two cores of a small machine: a file waits for its cloud, its browser or its timers half of the time.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    retry: 0, // except in the projects for what has its own pace
    // What a test that passes logs is of no use to anybody.
    silent: "passed-only",
    testTimeout: 240_000, // every wait in a test ends sooner; this is for a busy machine
    // As long as a page is waited for in a browser.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
    teardownTimeout: 20_000,
  },
});
