// How the tests run: four files at a time, one shared cloud for those that only speak HTTP, and nothing is tried twice.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// What Node compiles is kept for the next process: half of the files have one of their own.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".local", "compile-cache");

/** Files that change the process that they run in: by a cloud of their own, its environment, its clock, its modules or its machine. */
const ALONE = /^test\/(e2e|hosts|infra|local|providers|workflows)\//;
const CHANGES = /\b(ownCloud|ownLiveCloud|startCloud|startTestCloud|process\.env|vi\.(mock|use|stub|spy)\w*)\b/;

const files = globSync("test/**/*.test.ts", { cwd: import.meta.dirname }).map((file) => file.replaceAll("\\", "/"));
const alone = files.filter((file) => ALONE.test(file) || CHANGES.test(readFileSync(join(import.meta.dirname, file), "utf8")));

/** Those that take longest, so that none of them is what all others wait for at the end, on a machine that has not seen them yet either. */
const LONGEST = [/e2e\/start/, /figures/, /workflows\/(deaths|derived|starts|restore|scenarios)|providers\/create|outages/];

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((pattern) => pattern.test(moduleId));
  if (place !== -1) return place;
  // The rest in a row, because a process is passed on only from one of these files to the next.
  if (project.name === "alone") return LONGEST.length;
  return LONGEST.length + (moduleId.includes("/browser/") ? 1 : 2);
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
      { extends: true, test: { name: "alone", include: alone } },
      // The rest speaks HTTP to the shared cloud, or calls what has no state. A process and its imports are most of what a small file costs.
      { extends: true, test: { name: "together", include: ["test/**/*.test.ts"], exclude: alone, isolate: false } },
    ],
    globalSetup: "test/harness/global.ts",
    setupFiles: "test/harness/setup.ts",
    // Processes, not threads: the local cloud runs every function in a thread of its own.
    pool: "forks",
    // More than the two cores of a small machine: a file waits for its cloud, its browser or its timers half of the time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // What a test that passes logs is of no use to anybody.
    silent: "passed-only",
    testTimeout: 60_000,
    // As long as a page is waited for in a browser.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
