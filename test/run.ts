// `npm test`: types, format, lint and the tests of the first ring. `npm run test:all`: the rest of the tests; `-- --part 1/3` runs a third of them.
// The last line counts them; lists before it name what was skipped with reasons, and what failed once and passed when it was repeated.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CHECKS, FRUGAL } from "./harness/checks.ts";
import { Ring, RING_VARIABLE } from "./harness/ring.ts";
import { leaveParent, type Outcome, ROOT, run, runInRounds, stopChildrenWithThis } from "./harness/rounds.ts";

const SLOWEST_SHOWN = 10;
const REPORTS = join(ROOT, ".local", "tests");
const REPORTS_KEPT = 20;

const { values } = parseArgs({ options: { ring: { type: "string", default: "test" }, part: { type: "string" } } });
const ring = Ring.parse(values.ring);
const part = values.part;
if (part !== undefined && !/^[1-9]\d*\/[1-9]\d*$/.test(part)) throw new Error(`--part is a fraction such as 1/3, not ${part}`);

interface Checked {
  name: string;
  code: number;
  output: string;
  seconds: number;
}

async function main(): Promise<void> {
  const began = performance.now();
  // Beside the tests, whose first seconds and waits leave a core idle; reported after them, so that the outputs do not mix.
  const [outcome, checks] = await Promise.all([
    runInRounds(part === undefined ? [] : [`--shard=${part}`], { [RING_VARIABLE]: ring }),
    ring === "test" ? staticChecks() : [],
  ]);
  const seconds = (performance.now() - began) / 1000;
  const report = writeReport(outcome, checks, seconds);
  print(outcome, checks);
  console.log("");
  if (ring === "test") console.log("`npm run test:all` runs the tests that this left out.");
  console.log(
    `${seconds.toFixed(0)} s, ${cpuSeconds().toFixed(0)} s of CPU, ${outcome.skipped.length} skipped; report: ${report}`,
  );
  const passed = outcome.passed + checks.filter(({ code }) => code === 0).length;
  const failed = outcome.failed.length + checks.filter(({ code }) => code !== 0).length;
  printCount(passed, failed);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

/** CI adds the rings up: its last line is the only one of this form. */
function printCount(passed: number, failed: number): void {
  const file = process.env["COUNTS_FILE"];
  if (file === undefined) console.log(`${passed} passed, ${failed} failed`);
  else appendFileSync(file, `${passed} ${failed}\n`);
}

async function staticChecks(): Promise<Checked[]> {
  const results = [];
  // One after another: the tests need the rest of the machine.
  for (const [name, command] of CHECKS) results.push({ name, ...(await run(command, { quiet: true, env: FRUGAL })) });
  return results;
}

function print({ failed, skipped, unstable, files }: Outcome, checks: readonly Checked[]): void {
  console.log("");
  for (const { name, code, output, seconds } of checks) {
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds.toFixed(1)} s)`);
    if (code !== 0) console.log(output);
  }
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  if (slowest.length > 0) console.log("\nThe slowest files:");
  for (const { file, seconds } of slowest) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${file}`);
  if (skipped.length > 0) console.log("\nSkipped:");
  for (const { name, reason } of skipped) console.log(`  ${name} (${reason})`);
  if (failed.length > 0) console.log("\nFailed:");
  for (const { name, reason } of failed) console.log(`  ${name} (${firstLines(reason)})`);
  if (unstable.length > 0) console.log("\nFailed once and passed once: find the cause and fix it before you go on.");
  for (const { name, reason } of unstable) console.log(`  ${name} (${firstLines(reason)})`);
}

/** What a page logged is in the second line. */
const firstLines = (reason: string): string => {
  const [first = "", second = ""] = reason.split("\n");
  return second.trim().startsWith("at ") ? first : `${first} ${second}`.trim();
};

/** Of everything that this process has started and that has ended; nothing where there is no /proc. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(13, 15)
      .map(Number);
    return (user + system) / 100; // clock ticks, of which Linux has 100 a second
  } catch {
    return 0;
  }
}

/** Keeps what the run showed for later questions: why something failed, what has become slower, and when the machine stood still. */
function writeReport(outcome: Outcome, checks: readonly Checked[], seconds: number): string {
  mkdirSync(REPORTS, { recursive: true });
  for (const old of readdirSync(REPORTS)
    .toSorted()
    .slice(0, -REPORTS_KEPT + 1))
    rmSync(join(REPORTS, old));
  const name = `${new Date().toISOString().replaceAll(":", "-").slice(0, 19)}-${ring}.json`;
  const { passed, failed, unstable, skipped, stalls } = outcome;
  const files = outcome.files.map((each) => ({ file: each.file, seconds: each.seconds, tests: each.tests.length }));
  const report = { ring, part, seconds, cpuSeconds: cpuSeconds(), passed, failed, unstable, skipped, stalls, checks, files };
  writeFileSync(join(REPORTS, name), `${JSON.stringify(report, undefined, 1)}\n`);
  return join(".local", "tests", name);
}

stopChildrenWithThis();
await main();
leaveParent();
