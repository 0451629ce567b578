// `npm run check`: types, format and lint, and the tests that the files need that have changed since the last commit; `-- --since
// main`: since the branch left main. Takes about a minute, and says what it left out. DynamoDB Local is kept for the next
// check.
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundleIfChanged } from "../../infra/bundle.ts";
import {
  type Check,
  dashboardTypes,
  deadCode,
  format,
  lintOf,
  pythonChecks,
  runChecks,
  serviceTypes,
} from "../harness/checks.ts";
import { failedFiles, leastSeconds, report } from "../harness/report.ts";
import { leaveParent } from "../harness/children.ts";
import { type Outcome, ROOT, runInRounds, stopChildrenWithThis } from "../harness/rounds.ts";
import { WARM_DATABASE } from "../harness/warm-database.ts";
import { changedFiles } from "./changed.ts";
import { functionsByFile, importersByFile } from "./imports.ts";
import { neededTests } from "./needed.ts";
import { useWarmDatabase } from "./warm.ts";

/** Seconds of files that run beside each other: some 25 seconds of two cores. */
const BUDGET_SECONDS = 60;
const NOTHING: Outcome = { passed: 0, failed: [], skipped: [], unstable: [], files: [], stalls: [] };
/** What a file without a report is taken to cost. */
const GUESS_SECONDS = 6;

const { values } = parseArgs({ options: { since: { type: "string", default: "HEAD" } } });

/** Files that decide what all others mean. */
const FOUNDATIONS = /^(package(-lock)?\.json|pyrightconfig\.json|tsconfig\.json|dashboard\/tsconfig\.json|\.ox\w+rc\.json)$/;

function staticChecks(changed: readonly string[]): Check[] {
  const code = changed.filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && existsSync(join(ROOT, file)));
  const isBroad = changed.some((file) => FOUNDATIONS.test(file));
  const inDashboard = changed.some((file) => /^(?:dashboard|shared)\//.test(file));
  return [
    serviceTypes,
    ...(isBroad || inDashboard ? [dashboardTypes] : []),
    format,
    ...(isBroad ? [lintOf(".")] : code.length > 0 ? [lintOf(...code)] : []),
    ...(isBroad || code.length > 0 ? [deadCode] : []),
    ...(isBroad || changed.some((file) => /\.pyi?$/.test(file)) ? pythonChecks : []),
  ];
}

/** Those that fit into the budget, the most telling first. A changed test file runs in any case, as does what failed before. */
function chosenFrom(needed: ReadonlyMap<string, number>): { chosen: string[]; omitted: string[] } {
  const [seconds, failed] = [leastSeconds(), failedFiles()];
  const costOf = (test: string): number => seconds.get(test) ?? GUESS_SECONDS;
  const [chosen, omitted]: [string[], string[]] = [[], []];
  let spent = 0;
  for (const [test, rank] of [...needed].toSorted(([a, p], [b, q]) => p - q || costOf(a) - costOf(b))) {
    const cost = costOf(test);
    const fits = rank === 0 || failed.has(test) || spent === 0 || spent + cost <= BUDGET_SECONDS;
    if (fits) spent += cost;
    (fits ? chosen : omitted).push(test);
  }
  return { chosen, omitted };
}

async function runTests(changed: readonly string[]): Promise<{ outcome: Outcome; omitted: string[]; unrelatedCount: number }> {
  const tests = globSync("test/**/*.test.ts", { cwd: ROOT });
  const functions = await functionsByFile(await bundleIfChanged());
  const needed = neededTests(changed, { tests, functions, importers: importersByFile() });
  const { chosen, omitted } = chosenFrom(needed);
  const unrelatedCount = tests.length - needed.size;
  if (chosen.length === 0) return { outcome: NOTHING, omitted, unrelatedCount };
  const warm = await useWarmDatabase();
  try {
    return { outcome: await runInRounds(chosen, { [WARM_DATABASE]: warm.databaseUrl }), omitted, unrelatedCount };
  } finally {
    warm.release();
  }
}

async function main(): Promise<void> {
  const began = performance.now();
  const changed = changedFiles(values.since);
  if (changed.length === 0)
    return console.log(`No file differs from ${values.since}: \`npm run check -- --since REF\` compares with REF.`);
  console.log(`Changed since ${values.since}: ${changed.join(", ")}`);
  const [{ outcome, omitted, unrelatedCount }, checks] = await Promise.all([runTests(changed), runChecks(staticChecks(changed))]);
  const seconds = (performance.now() - began) / 1000;
  const { passed, failed } = report({ name: "check", outcome, checks, seconds });
  if (omitted.length > 0) console.log(`\nLeft out for time, although the change may break them:\n  ${omitted.join("\n  ")}`);
  console.log(
    `\nLeft out: ${unrelatedCount} test files that the change does not lead to. \`npm test\` and \`npm run test:all\` run all.`,
  );
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

stopChildrenWithThis();
await main();
leaveParent();
