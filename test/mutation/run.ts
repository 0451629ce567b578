// `npm run mutate`: changes the code of the most important modules, in one place at a time, and runs their tests: each change
// must make one of them fail. `--only NAME` (several with commas) selects modules; `--fresh` runs all changes again. Without it
// only what has changed since the last run is run: a change of other files than the module's and its tests' is not noticed.
//
// Texts and logs are not changed. Stryker is installed on demand, because nothing else needs its 60 MB.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { children, endWithParent, leaveParent } from "../harness/children.ts";
import type { TestProject } from "vitest/node";
import { describeChecked, mutationTable, record } from "./results.ts";
import startTestEnvironment from "../harness/global.ts";
import { type Module, modules, PERCENT_MIN } from "./modules.ts";
import { PROVIDED, TESTS } from "./provided.ts";
import { type Outcome, outcomeOf, Report, staleIn } from "./report.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const STATE = join(ROOT, ".local", "mutation");
const SANDBOX = join(STATE, "sandbox");
const TOOLS = join(STATE, "tools");
const VERSION = "10.1.1";
const PACKAGES = ["@stryker-mutator/core", "@stryker-mutator/vitest-runner"].map((name) => `${name}@${VERSION}`);

const { values } = parseArgs({ options: { only: { type: "string" }, fresh: { type: "boolean", default: false } } });

const all = new Map<string, Module>(Object.entries(modules));

function chosen(): [string, Module][] {
  if (values.only === undefined) return [...all];
  return values.only.split(",").map((name) => {
    const found = all.get(name);
    if (found === undefined) throw new Error(`There is no module ${name}. There are: ${[...all.keys()].join(", ")}`);
    return [name, found];
  });
}

async function run(command: string, args: readonly string[], environment: Record<string, string> = {}): Promise<void> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  children.add(child);
  const code = await new Promise((ended) => child.on("close", ended));
  children.delete(child);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${String(code)}`);
}

async function install(): Promise<void> {
  const stamp = join(TOOLS, `.installed-${VERSION}`);
  if (existsSync(stamp)) return;
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(join(TOOLS, "package.json"), `${JSON.stringify({ private: true })}\n`);
  const options = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // The tests' own vitest is used.
  await run("npm", ["install", "--prefix", TOOLS, ...options, "--legacy-peer-deps", ...PACKAGES]);
  writeFileSync(stamp, "");
}

function configOf(folder: string, { files }: Module) {
  return {
    mutate: files,
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner", join(import.meta.dirname, "ignore-logs.mjs")],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false, pool: "forks" },
    mutator: { excludedMutations: ["StringLiteral"] },
    ignorers: ["logs"],
    ignorePatterns: [".local", ".ci", "cdk.out", "dashboard", "docs"],
    // It would rewrite tsconfig.json with an API that TypeScript no longer has.
    tsconfigFile: "none",
    tempDirName: relative(ROOT, SANDBOX),
    coverageAnalysis: "perTest",
    incremental: true,
    incrementalFile: join(folder, "incremental.json"),
    force: values.fresh,
    concurrency: 1,
    // A test that is slow because the machine is busy has noticed nothing.
    timeoutMS: 30_000,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: join(folder, "report.json") },
    allowConsoleColors: false,
    warnings: { slow: false },
  };
}

async function mutate(name: string, module: Module, provided: string): Promise<Outcome> {
  const folder = join(STATE, name);
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "stryker.json");
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  writeFileSync(config, JSON.stringify(configOf(folder, module)));
  const stryker = join(TOOLS, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
  await run(process.execPath, [stryker, "run", config], { [PROVIDED]: provided, [TESTS]: module.tests.join(",") });
  return outcomeOf(Report.parse(JSON.parse(readFileSync(report, "utf8"))));
}

/** The parts of the cloud that tests need, for all of their runs. */
async function startParts(): Promise<{ file: string; stop: () => Promise<void> }> {
  const provided: Record<string, unknown> = {};
  const collect = { provide: (key: string, value: unknown) => void (provided[key] = value) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what that file uses of it
  const stop = await startTestEnvironment(collect as unknown as TestProject);
  const file = join(STATE, "provided.json");
  writeFileSync(file, JSON.stringify(provided));
  return { file, stop };
}

function show(name: string, { files }: Module, outcome: Outcome): void {
  console.log(`\n${name}: ${describeChecked(outcome)}`);
  for (const { file, line, code, becomes, reason } of outcome.survivors)
    console.log(`  ${reason === undefined ? "NOT EXPLAINED" : "explained"}  ${file}:${line}\n    ${code}\n    → ${becomes}`);
  for (const { file, code, becomes } of staleIn(files, outcome.survivors))
    console.log(`  Explained, but not there: ${file}: ${code} → ${becomes}`);
}

async function main(): Promise<void> {
  mkdirSync(STATE, { recursive: true });
  rmSync(SANDBOX, { recursive: true, force: true }); // of a run that was stopped
  await install();
  const { file, stop } = await startParts();
  let hasPassed = true;
  try {
    for (const [name, module] of chosen()) {
      const outcome = await mutate(name, module, file);
      show(name, module, outcome);
      record(name, outcome);
      hasPassed &&= outcome.killed >= (outcome.mutants * PERCENT_MIN) / 100;
      hasPassed &&= outcome.survivors.every(({ reason }) => reason !== undefined);
    }
  } finally {
    await stop();
  }
  console.log(`\n${mutationTable()}`);
  process.exitCode = hasPassed ? 0 : 1;
}

endWithParent();
await main();
leaveParent();
