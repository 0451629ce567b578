// `npm test`: types, format, lint, and every test. The last line counts them all; lists before it name skipped tests with reasons,
// and tests that passed only when they were repeated.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod";

const ROOT = resolve(import.meta.dirname, "..");

/** What the last run found still holds for files that have not changed; one thread does the rest with a third less CPU. */
function types(project: string, name: string): string[] {
  const kept = join(ROOT, ".local", `types-${name}.tsbuildinfo`);
  return ["typescript/bin/tsc", "-p", project, "--noEmit", "--singleThreaded", "--incremental", "--tsBuildInfoFile", kept];
}

/** The checkers are Go programs beside the tests: one thread each, and memory for time. */
const FRUGAL = { GOMAXPROCS: "1", GOGC: "400" };

/** A check passes or fails; its output is shown only if it fails. */
const CHECKS: [name: string, command: string[]][] = [
  ["types", types(".", "service")],
  ["types of the dashboard", types("dashboard", "dashboard")],
  ["format", ["oxfmt/bin/oxfmt", "--check", "."]],
  ["lint", ["oxlint/bin/oxlint", "--type-aware", "--deny-warnings"]],
];

const SLOWEST_SHOWN = 10;

async function main(): Promise<void> {
  const began = performance.now();
  // Runs beside the tests, whose first seconds and waits leave a core idle; reported after them, so that the outputs do not mix.
  const [tests, checks] = await Promise.all([vitest(), staticChecks()]);
  console.log("");
  for (const { name, code, output, seconds } of checks) {
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds.toFixed(1)} s)`);
    if (code !== 0) console.log(output);
  }
  const slowest = tests.files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  if (slowest.length > 0) console.log("\nThe slowest files:");
  for (const { name, seconds } of slowest) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  if (tests.skipped.length > 0) console.log("\nSkipped:");
  for (const { name, reason } of tests.skipped) console.log(`  ${name} (${reason})`);
  if (process.env["PROVE"] !== "all")
    console.log(
      "\nOf the tests that are generated from tables this was a part: `npm run test:tables` runs all, and `npm run prove` makes all attacks.",
    );
  if (tests.repeated.length > 0) console.log("");
  for (const { name, reason } of tests.repeated) console.log(`Passed only when repeated: ${name} (${reason}) – a fault to mend`);
  const passed = tests.passed + checks.filter(({ code }) => code === 0).length;
  const failed = tests.failed + checks.filter(({ code }) => code !== 0).length;
  console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s`);
  const skipped = tests.skipped.length > 0 ? `, ${tests.skipped.length} skipped` : "";
  console.log(`${passed} passed, ${failed} failed${skipped}`);
  process.exitCode = failed > 0 || tests.passed === 0 ? 1 : 0;
}

async function staticChecks(): Promise<(Awaited<ReturnType<typeof run>> & { name: string })[]> {
  const results = [];
  // One after another: the tests need the rest of the machine.
  for (const [name, command] of CHECKS) results.push({ name, ...(await run(command, { quiet: true, env: FRUGAL })) });
  return results;
}

const Summary = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.array(z.object({ name: z.string(), reason: z.string() })),
  repeated: z.array(z.object({ name: z.string(), reason: z.string() })),
  files: z.array(z.object({ name: z.string(), seconds: z.number() })),
});
type Summary = z.infer<typeof Summary>;

async function vitest(): Promise<Summary> {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  const file = join(folder, "summary.json");
  try {
    const { code, ended } = await run(
      ["vitest/vitest.mjs", "run", "--reporter=default", "--reporter=./test/harness/summary.ts"],
      // Whatever tests and what they start leave behind goes with the folder.
      { quiet: false, env: { SUMMARY_FILE: file, TMPDIR: folder } },
    );
    if (!existsSync(file)) {
      console.log(`The tests ended without a report: ${ended}`);
      return { passed: 0, failed: 1, skipped: [], repeated: [], files: [] };
    }
    const summary = Summary.parse(JSON.parse(readFileSync(file, "utf8")));
    return { ...summary, failed: summary.failed === 0 && code !== 0 ? 1 : summary.failed };
  } finally {
    // What a process that is still ending writes, or what another user owns, fails no run.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Runs a package's own script with this Node, which is the right one, whatever is on the PATH. */
function run(
  [script = "", ...args]: readonly string[],
  { quiet, env }: { quiet: boolean; env: Record<string, string> },
): Promise<{ code: number; ended: string; output: string; seconds: number }> {
  const began = performance.now();
  return new Promise((done, broken) => {
    const child = spawn(process.execPath, [join(ROOT, "node_modules", script), ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"],
    });
    const chunks: string[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
    child.on("error", broken);
    child.on("close", (code, signal) => {
      children.delete(child);
      done({
        code: code ?? 1,
        ended: signal === null ? `exit code ${code}` : `ended by ${signal}`,
        output: chunks.join(""),
        seconds: (performance.now() - began) / 1000,
      });
    });
    children.add(child);
  });
}

// Stopping this process stops its children.
const children = new Set<ReturnType<typeof spawn>>();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
    process.exitCode = 1;
  });
process.on("disconnect", () => {
  for (const child of children) child.kill("SIGTERM");
  process.exitCode = 1;
});

await main();
// The channel to the parent would keep the process alive.
process.removeAllListeners("disconnect");
if (process.connected) process.disconnect();
