// Runs tests in up to two rounds: after the last file, those that have a failed test run once more, one at a time with the
// machine to themselves. Attacks are seeded, so a guarantee is attacked again in the same way.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type FileResult, OUTSIDE, type Result, Round } from "./summary.ts";
import { children } from "./children.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** If more files failed, it is not by chance. */
const REPEATED_MAX = 20;

interface Named {
  name: string;
  reason: string;
}

export interface Outcome {
  passed: number;
  failed: Named[];
  skipped: Named[];
  /** Tests that failed in one round and passed in the other, with the first error. */
  unstable: Named[];
  files: FileResult[];
  stalls: Round["stalls"];
}

const hasFailed = ({ tests }: FileResult): boolean => tests.some(({ state }) => state === "failed");

export async function runInRounds(args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const first = await runRound(args, environment);
  const suspects = first.files.filter(hasFailed).map(({ file }) => file);
  const canRepeat = suspects.length > 0 && suspects.length <= REPEATED_MAX && suspects.every((file) => file !== "");
  if (!canRepeat) return merge(first, { files: [], stalls: [] });
  console.log(`\nWhat failed runs once more, by itself: ${suspects.join(", ")}\n`);
  const options = args.filter((arg) => arg.startsWith("--") && !arg.startsWith("--shard"));
  return merge(first, await runRound([...options, ...suspects, "--maxWorkers=1"], environment));
}

function merge(first: Round, second: Round): Outcome {
  const outcome: Outcome = {
    passed: 0,
    failed: [],
    skipped: [],
    unstable: [],
    files: first.files,
    stalls: [...first.stalls, ...second.stalls],
  };
  const repeated = new Map(second.files.map(({ file, tests }) => [file, tests]));
  for (const { file, tests } of first.files)
    for (const name of new Set([...tests, ...(repeated.get(file) ?? [])].map((test) => test.name))) {
      const results = [tests, repeated.get(file)].map((of) => of?.find((test) => test.name === name));
      addTo(outcome, `${file}: ${name}`, results, name.endsWith(OUTSIDE) && repeated.has(file));
    }
  return outcome;
}

/** A test that passed in one of its rounds has passed. So has a file whose second round had no failure outside of a test. */
function addTo(outcome: Outcome, name: string, results: readonly (Result | undefined)[], isRepeatedFile: boolean): void {
  const failure = results.find((result) => result?.state === "failed");
  const hasPassed = results.some((result) => result?.state === "passed");
  const entry = { name, reason: failure?.reason ?? results[0]?.reason ?? "no reason is given" };
  if (hasPassed) outcome.passed += 1;
  if (failure === undefined) {
    if (!hasPassed) outcome.skipped.push(entry);
  } else if (hasPassed || (isRepeatedFile && results.includes(undefined))) outcome.unstable.push(entry);
  else outcome.failed.push(entry);
}

async function runRound(args: readonly string[], environment: Record<string, string>): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  chmodSync(folder, 0o711); // some tests act as other users
  const file = join(folder, "summary.json");
  try {
    const { code, ended } = await run(
      ["vitest/vitest.mjs", "run", "--reporter=default", `--reporter=${join(import.meta.dirname, "summary.ts")}`, ...args],
      // Whatever tests and what they start leave behind goes with the folder.
      { quiet: false, env: { ...environment, SUMMARY_FILE: file, TMPDIR: folder } },
    );
    const round: Round = existsSync(file) ? Round.parse(JSON.parse(readFileSync(file, "utf8"))) : { files: [], stalls: [] };
    if (code !== 0 && !round.files.some(hasFailed)) {
      const reason = `vitest ended with ${ended}, and no test had failed`;
      round.files.push({ file: "", seconds: 0, tests: [{ name: OUTSIDE, state: "failed", reason }] });
    }
    return round;
  } finally {
    // What a process that is still ending writes, or what another user owns, fails no run.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

interface Ended {
  code: number;
  /** How, in words. */
  ended: string;
  output: string;
  seconds: number;
}

/** Runs a package's own script with this Node, which is the right one, whatever is on the PATH. */
export function run(
  [script = "", ...args]: readonly string[],
  { quiet, env }: { quiet: boolean; env: Record<string, string> },
): Promise<Ended> {
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
        ended: signal === null ? `exit code ${code}` : signal,
        output: chunks.join(""),
        seconds: (performance.now() - began) / 1000,
      });
    });
    children.add(child);
  });
}

/** Stopping this process stops what it runs. */
export function stopChildrenWithThis(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      for (const child of children) child.kill(signal);
      process.exitCode = 1;
    });
  process.on("disconnect", () => {
    for (const child of children) child.kill("SIGTERM");
    process.exitCode = 1;
  });
}
