// What a run of tests prints at its end, and the report that it keeps.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Checked } from "./checks.ts";
import { type Outcome, ROOT } from "./rounds.ts";

const REPORTS = join(ROOT, ".local", "tests");
const REPORTS_KEPT = 30;
const SLOWEST_SHOWN = 10;

interface Run {
  /** Its name: the command. */
  name: string;
  outcome: Outcome;
  checks: readonly Checked[];
  seconds: number;
}

/** Prints everything but the last line, and returns what that says. */
export function report({ name, outcome, checks, seconds }: Run): { passed: number; failed: number } {
  const file = write({ name, outcome, checks, seconds });
  const { failed, skipped, unstable, files } = outcome;
  console.log("");
  for (const check of checks) {
    console.log(`${check.code === 0 ? "✓" : "✗"} ${check.name} (${check.seconds.toFixed(1)} s)`);
    if (check.code !== 0) console.log(check.output);
  }
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  if (slowest.length > 0) console.log("\nThe slowest files:");
  for (const each of slowest) console.log(`  ${each.seconds.toFixed(1).padStart(6)} s  ${each.file}`);
  print("Skipped:", skipped);
  print("Failed:", failed);
  print("Failed once and passed once: find the cause and fix it before you go on.", unstable);
  console.log(`\n${seconds.toFixed(0)} s, ${cpuSeconds().toFixed(0)} s of CPU, ${skipped.length} skipped; report: ${file}`);
  return {
    passed: outcome.passed + checks.filter(({ code }) => code === 0).length,
    failed: failed.length + checks.filter(({ code }) => code !== 0).length,
  };
}

function print(title: string, tests: Outcome["failed"]): void {
  if (tests.length > 0) console.log(`\n${title}`);
  for (const { name, reason } of tests) console.log(`  ${name} (${firstLines(reason)})`);
}

/** What a page logged is in the second line. */
const firstLines = (reason: string): string => {
  const [first = "", second = ""] = reason.split("\n");
  return second.trim().startsWith("at ") ? first : `${first} ${second}`.trim();
};

/** The CPU time of everything that this process has started and that has ended; 0 where there is no /proc. */
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

/**
 * Keeps what the run showed for later questions: why something failed, what has become slower, and when the machine stood still.
 */
function write({ name, outcome, checks, seconds }: Run): string {
  mkdirSync(REPORTS, { recursive: true });
  for (const old of readdirSync(REPORTS)
    .toSorted()
    .slice(0, -REPORTS_KEPT + 1))
    rmSync(join(REPORTS, old));
  const file = `${new Date().toISOString().replaceAll(":", "-").slice(0, 19)}-${name.replaceAll(/\W+/g, "-")}.json`;
  const files = outcome.files.map((each) => ({ file: each.file, seconds: each.seconds, tests: each.tests.length }));
  const text = JSON.stringify({ name, seconds, cpuSeconds: cpuSeconds(), checks, ...outcome, files }, undefined, 1);
  writeFileSync(join(REPORTS, file), `${text}\n`);
  return join(".local", "tests", file);
}

const Reported = z.object({
  files: z.array(z.object({ file: z.string(), seconds: z.number() })),
  failed: z.array(z.object({ name: z.string() })),
});

function readReports(): z.infer<typeof Reported>[] {
  const names = existsSync(REPORTS) ? readdirSync(REPORTS).toSorted() : [];
  return names.map((name) => Reported.parse(JSON.parse(readFileSync(join(REPORTS, name), "utf8"))));
}

/** The files of tests that failed in the last run. */
export const failedFiles = (): Set<string> =>
  new Set(
    readReports()
      .at(-1)
      ?.failed.map(({ name }) => name.split(": ")[0] ?? ""),
  );

/** How long each file took when the machine had time for it. */
export function leastSeconds(): Map<string, number> {
  const least = new Map<string, number>();
  for (const { files } of readReports())
    for (const { file, seconds } of files) least.set(file, Math.min(seconds, least.get(file) ?? Infinity));
  return least;
}
