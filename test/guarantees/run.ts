// `npm run prove`: every guarantee at full size, three at a time. A run that was stopped continues where it was: .local/prove has
// the progress. `--only NAME` (several with commas) selects guarantees, `--seed N` repeats a run, `--trial N` repeats one of its
// trials, `--trials N` changes the size, `--points TEXT` attacks only where that is in a point's name, which is not recorded, and
// `--fresh` starts again.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { children, endWithParent, leaveParent } from "../harness/children.ts";
import { ORDER, type Order, type Progress, progressIn, save } from "./progress.ts";
import { type Guarantee, guarantees } from "./guarantees.ts";
import { record, tableOf } from "./results.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const STATE = join(ROOT, ".local", "prove");
/**
 * The sizes are made for two cores, which two guarantees leave idle for a third of the time: their attacks wait for time limits.
 */
const AT_ONCE = 3;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seed: { type: "string" },
    trial: { type: "string" },
    trials: { type: "string" },
    points: { type: "string", default: "" },
    fresh: { type: "boolean", default: false },
  },
});

const all = new Map<string, Guarantee>(Object.entries(guarantees));

function chosen(): [string, Guarantee][] {
  if (values.only === undefined) return [...all];
  return values.only.split(",").map((name) => {
    const row = all.get(name);
    if (row === undefined) throw new Error(`There is no guarantee ${name}. There are: ${[...all.keys()].join(", ")}`);
    return [name, row];
  });
}

/** What the guarantees are about: a result of other sources proves nothing. */
function sources(): string {
  const files = globSync("{shared,functions,infra,test/guarantees,test/harness}/**/*.{ts,mjs,sh,py,java}", { cwd: ROOT });
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex").slice(0, 12);
}

const numberIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
async function runOne(name: string, row: Guarantee, now: string): Promise<Progress | undefined> {
  const file = join(STATE, `${[name, ...(values.points.match(/[a-z-]+/g) ?? [])].join("-")}.json`);
  if (values.fresh) rmSync(file, { force: true });
  const before = progressIn(file);
  const previous = before?.sources === now ? before : undefined;
  const order: Order = {
    seed: numberIn(values.seed) ?? previous?.seed ?? Math.floor(Math.random() * 2 ** 31),
    trials: numberIn(values.trials) ?? row.full,
    ...(values.trial !== undefined && { trial: Number(values.trial) }),
    points: values.points,
    file,
    sources: now,
  };
  if (values.trial === undefined && previous?.ended === true && previous.seed === order.seed && previous.trials === order.trials)
    return previous;
  const single = values.trial !== undefined;
  const log = join(STATE, `${name}.log`);
  const output = single ? "inherit" : openSync(log, "w");
  const child = spawn(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...globSync(`test/guarantees/${name}.{,*.}test.ts`, { cwd: ROOT })],
    {
      cwd: ROOT,
      env: { ...process.env, [ORDER]: JSON.stringify(order) },
      stdio: ["ignore", output, output],
    },
  );
  children.add(child);
  const code = await new Promise<number>((ended) => child.on("close", (status) => ended(status ?? 1)));
  children.delete(child);
  if (single) {
    process.exitCode = code;
    return undefined;
  }
  const after = progressIn(file);
  const isOurs = after?.seed === order.seed && after.trials === order.trials && after.sources === now && after.ended;
  if (isOurs && (code === 0 || after.violations > 0)) return after;
  if (isOurs) {
    // What must hold of all trials together does not, or the test runner found an error outside of any trial.
    const failed = { ...after, violations: 1, messages: [`All trials passed, but the run failed: see ${log}`] };
    save(file, failed);
    return failed;
  }
  console.log(`${name} did not end: ${log} says why`);
  return undefined;
}

async function main(): Promise<void> {
  mkdirSync(STATE, { recursive: true });
  const now = sources();
  const rows = chosen();
  // The longest first; those that measure time run alone, at the end.
  const hours = ([, { full, perSecond }]: [string, Guarantee]): number => full / perSecond;
  const queue = rows.filter(([, { alone }]) => alone !== true).toSorted((a, b) => hours(b) - hours(a));
  const last = rows.filter(([, { alone }]) => alone === true);
  const results: { name: string; progress: Progress | undefined }[] = [];
  const work = async (of: [string, Guarantee][]): Promise<void> => {
    for (let next = of.shift(); next !== undefined; next = of.shift()) {
      const [name, row] = next;
      const progress = await runOne(name, row, now);
      results.push({ name, progress });
      if (progress !== undefined) {
        console.log(
          `${name}: ${progress.counted} trials, ${progress.violations} violations, seed ${progress.seed}, ${progress.seconds.toFixed(0)} s`,
        );
        for (const message of progress.messages) console.log(message);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(queue)));
  await work(last);
  if (values.trial !== undefined) return;
  const ended = results.flatMap(({ progress }) => progress ?? []);
  if (values.points === "") record(ended);
  console.log(`\n${tableOf(ended)}`);
  const passed = ended.filter(({ violations }) => violations === 0).length;
  console.log(`\n${passed} passed, ${results.length - passed} failed`);
  process.exitCode = passed === results.length ? 0 : 1;
}

endWithParent();
await main();
leaveParent();
