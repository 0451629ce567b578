// `npm test`: types, format, lint, then every test. The last line counts them all.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod";

const ROOT = resolve(import.meta.dirname, "..");

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** A check is one thing that passes or fails; what it printed is shown only when it fails. */
const CHECKS: [name: string, command: string[]][] = [
  ["types", ["typescript/bin/tsc", "--noEmit"]],
  ["types of the dashboard", ["typescript/bin/tsc", "-p", "dashboard"]],
  ["format", ["oxfmt/bin/oxfmt", "--check", "."]],
  ["lint", ["oxlint/bin/oxlint", "--type-aware", "--deny-warnings"]],
];

async function main(): Promise<void> {
  const began = performance.now();
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, command] of CHECKS) {
    const { code, output, seconds } = await run(command, { quiet: true });
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds.toFixed(1)} s)`);
    if (code === 0) total.passed++;
    else {
      total.failed++;
      console.log(output);
    }
  }
  const tests = await vitest();
  const passed = total.passed + tests.passed;
  const failed = total.failed + tests.failed;
  console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s`);
  console.log(`${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || tests.passed === 0 ? 1 : 0;
}

const Report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number().default(0),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

/** What vitest's report says; a file that could not be read, or a failure outside any test, is a failure too. */
async function vitest(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "vitest-"));
  const file = join(folder, "report.json");
  try {
    const { code, ended } = await run(
      ["vitest/vitest.mjs", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`],
      {
        quiet: false,
      },
    );
    if (!existsSync(file)) {
      console.log(`The tests ended without a report: ${ended}`);
      return { passed: 0, failed: 1, skipped: 0 };
    }
    const report = Report.parse(JSON.parse(readFileSync(file, "utf8")));
    const broken = report.testResults.filter(
      ({ status, assertionResults }) => status === "failed" && !assertionResults.some((each) => each.status === "failed"),
    ).length;
    const failed = report.numFailedTests + broken;
    return {
      passed: report.numPassedTests,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      skipped: report.numPendingTests + report.numTodoTests,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a package's own script with this very Node, which is the right one, whatever is on the PATH. */
function run(
  [script = "", ...args]: readonly string[],
  { quiet }: { quiet: boolean },
): Promise<{ code: number; ended: string; output: string; seconds: number }> {
  const began = performance.now();
  return new Promise((done, broken) => {
    const child = spawn(process.execPath, [join(ROOT, "node_modules", script), ...args], {
      cwd: ROOT,
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

// Whoever stops this stops what it started.
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
// The channel to whoever started this would keep the process alive.
process.removeAllListeners("disconnect");
if (process.connected) process.disconnect();
