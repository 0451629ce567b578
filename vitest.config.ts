// Which tests run, in which ring, and in which processes. The name of a file decides both (CONTRIBUTING.md, "Where a new test goes").
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { isInRing, RING } from "./test/harness/ring.ts";

// What Node compiles is kept for the next process: half of the files have one of their own.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".local", "compile-cache");

/** In these folders every file has a process of its own: they start services and machines. */
const ALONE = /^test\/(e2e|hosts|infra|local|providers)\//;

const files = globSync("test/**/*.test.ts", { cwd: import.meta.dirname })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => isInRing(file, RING));
const isMarked = (file: string, mark: string): boolean => basename(file).includes(`.${mark}.`);
const withCloud = files.filter((file) => isMarked(file, "cloud"));
const alone = files.filter((file) => isMarked(file, "alone") || ALONE.test(file));
const together = files.filter((file) => !withCloud.includes(file) && !alone.includes(file));

/** Those that take longest, so that none of them is what all others wait for at the end, on a machine that has not seen them yet either. */
const LONGEST = [
  /two-versions/,
  /browser\/(requests|german|opened)/,
  /attacks/,
  /e2e\/start/,
  /figures/,
  /timeouts/,
  /hosts\/swap/,
  /providers\/create/,
  /lost-starts/,
  /dry-run-states/,
  // Each calls nearly every function. One beside the other, they find the others' still running.
  /test\/routes\//,
];
/** A process is passed on only from one file of a project to the next one of it. */
const PROJECTS = ["with a cloud", "alone", "together"];

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((pattern) => pattern.test(moduleId));
  return place === -1 ? LONGEST.length + PROJECTS.indexOf(project.name) : place;
}

class Sequencer extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of its own
    const sorted = await super.sort(specifications);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }

  /** The longest are dealt out to all parts, then each folder, because neighbors take about as long as each other. */
  override async shard(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    return specifications
      .toSorted((a, b) => placeOf(a) - placeOf(b) || a.moduleId.localeCompare(b.moduleId))
      .filter((_, place) => place % count === index - 1);
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "alone", include: alone, isolate: true, provide: { process: "alone" } } },
      // One process after another file of these, with its cloud.
      { extends: true, test: { name: "with a cloud", include: withCloud, isolate: false, provide: { process: "cloud" } } },
      // The rest speaks HTTP to the shared cloud, or calls what has no state. A process and its imports are most of what a small file costs.
      { extends: true, test: { name: "together", include: together, isolate: false, provide: { process: "together" } } },
    ],
    globalSetup: "test/harness/global.ts",
    setupFiles: "test/harness/setup.ts",
    // Processes, not threads: the local cloud runs every function in a thread of its own.
    pool: "forks",
    // Room for short-lived objects: with V8's own limits, which save memory, tests of workflows and routes took 3 to 12 % more CPU.
    execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=64"],
    // More than the two cores of a small machine: a file waits for its cloud, its browser or its timers half of the time.
    maxWorkers: 5,
    sequence: { sequencer: Sequencer },
    // What a test that passes logs is of no use to anybody.
    silent: "passed-only",
    testTimeout: 600_000, // every wait in a test ends sooner; this is for a machine that is busy with other work
    // As long as a page is waited for in a browser.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 600_000,
    teardownTimeout: 20_000,
  },
});
