// `npm test`: types, format, lint and the tests of the first ring. `npm run test:all`: the rest of the tests and checks; `--
// --part 1/3` runs a third of the tests. The last line counts them; lists before it name what was skipped with reasons, and what
// failed once and passed when it was repeated.
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CHECKS, runChecks } from "./harness/checks.ts";
import { leaveParent } from "./harness/children.ts";
import { report } from "./harness/report.ts";
import { Ring, RING_VARIABLE } from "./harness/ring.ts";
import { runInRounds, stopChildrenWithThis } from "./harness/rounds.ts";

const { values } = parseArgs({ options: { ring: { type: "string", default: "test" }, part: { type: "string" } } });
const ring = Ring.parse(values.ring);
const part = values.part;
if (part !== undefined && !/^[1-9]\d*\/[1-9]\d*$/.test(part)) throw new Error(`--part is a fraction such as 1/3, not ${part}`);

async function main(): Promise<void> {
  const began = performance.now();
  // The checks run beside the tests, whose first seconds and waits leave a core idle; they are reported after them, so that the
  // outputs do not mix.
  const [outcome, checks] = await Promise.all([
    runInRounds(part === undefined ? [] : [`--shard=${part}`], { [RING_VARIABLE]: ring }),
    part === undefined || part.startsWith("1/") ? runChecks(CHECKS[ring]) : [],
  ]);
  const seconds = (performance.now() - began) / 1000;
  const { passed, failed } = report({ name: ring === "test" ? "test" : "test:all", outcome, checks, seconds });
  if (ring === "test") console.log("`npm run test:all` runs the tests that this left out.");
  printCount(passed, failed);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

/** CI adds the rings up: its last line is the only one of this form. */
function printCount(passed: number, failed: number): void {
  const file = process.env["COUNTS_FILE"];
  if (file === undefined) console.log(`${passed} passed, ${failed} failed`);
  else appendFileSync(file, `${passed} ${failed}\n`);
}

stopChildrenWithThis();
await main();
leaveParent();
