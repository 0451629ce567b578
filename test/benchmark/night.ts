// `npm run bench -- --policies`: what 10,000 backup policies cost that are all due at the same time. Writes docs/scale.md.
import { bundleIfChanged } from "../../infra/bundle.ts";
import { MEMORY_MEGABYTES, ONE_PROCESSOR_MEGABYTES } from "../../infra/function.ts";
import { startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { synthIfChanged } from "../../infra/local/template/synthesized.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { ENVIRONMENTS } from "../../shared/domain/environments.ts";
import { BEGUN_PER_SECOND } from "../../functions/schedules/run-policies.ts";
import { percentile, tableOf } from "./figures.ts";
import { type Minute, type Night, simulate, type Simulated } from "./policies.ts";

/** What DynamoDB gives one partition key, and a table on demand that is new. */
const LIMITS = { partition: { writes: 1000, reads: 3000 }, table: { writes: 4000, reads: 12_000 } };

export async function night(of: Night): Promise<string> {
  const [table] = readTemplate(await synthIfChanged(await bundleIfChanged(), ENVIRONMENTS), stackName("live")).tables;
  if (table === undefined) throw new Error("The template has no table");
  const database = await startDynamoDb({});
  try {
    return describe(of, await simulate(database, table, of, (line) => process.stderr.write(`${line}\n`)));
  } finally {
    await database.stop();
  }
}

/** The processor's time of a call by the SDK, and the share of a processor that the function has. */
const CALL_MS = 0.45;
const SHARE = MEMORY_MEGABYTES / ONE_PROCESSOR_MEGABYTES;

type Units = "writes" | "reads";
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/**
 * The most units in one second, by partition: what the schedule function takes at its full pace, and the average of the minute's
 * tasks.
 */
function peaks(minutes: readonly Minute[], units: Units, keyOf: (partition: string) => string): { key: string; units: number } {
  let most = { key: "", units: 0 };
  for (const { spent, work } of minutes) {
    const average = new Map<string, number>();
    for (const each of work) {
      const key = keyOf(each.partition);
      average.set(key, (average.get(key) ?? 0) + each[units] / 60);
    }
    const seconds = new Map<string, { key: string; units: number }>();
    for (const each of spent) {
      const key = keyOf(each.partition);
      const at = `${each.second} ${key}`;
      seconds.set(at, { key, units: (seconds.get(at)?.units ?? 0) + each[units] });
    }
    for (const [key, rate] of average) if (rate > most.units) most = { key, units: rate };
    for (const { key, units: burst } of seconds.values()) {
      const rate = burst + (average.get(key) ?? 0);
      if (rate > most.units) most = { key, units: rate };
    }
  }
  return most;
}

const round = (value: number): string => Math.round(value).toLocaleString("en-US");

function describe(of: Night, { minutes, starts, atOnce, idle }: Simulated): string {
  const total = starts.size;
  const late = [...starts.values()].map(([first = 0]) => first);
  const twice = [...starts.values()].filter((each) => each.length !== 1).length;
  const all = (units: Units, from: "spent" | "work"): number =>
    sum(minutes.flatMap((each) => each[from].map((one) => one[units])));
  const startsOf = ({ began, deletions }: Minute): number => began + deletions;
  const busiest = minutes.toSorted((a, b) => startsOf(b) - startsOf(a))[0];
  const [writes, reads] = [peaks(minutes, "writes", (key) => key), peaks(minutes, "reads", (key) => key)];
  const formatKey = (key: string): string => `\`${key.replaceAll(/(acc|ins|srv|bak|op)_[0-9a-z]+/g, "$1_…")}\``;
  const rows: [string, string][] = [
    ["policies, servers, accounts", [total, of.accounts * of.serversOfAccount, of.accounts].map(round).join(", ")],
    [
      "backups begun, removed",
      [sum(minutes.map((each) => each.began)), sum(minutes.map((each) => each.deletions))].map(round).join(", "),
    ],
    ["runs that started twice", round(twice)],
    [
      "started after: median, 99th percentile, last",
      [percentile(late, 0.5), percentile(late, 0.99), Math.max(...late)].map((at) => `${at} min`).join(", "),
    ],
    ["scheduled backups at once on a server, at most", round(atOnce)],
    ["the most begun in a minute", round(Math.max(...minutes.map((each) => each.began)))],
    [
      "the function's longest run",
      busiest === undefined
        ? "–"
        : `${round(startsOf(busiest))} operations begun: ${Math.ceil(startsOf(busiest) / BEGUN_PER_SECOND)} s, ${round(busiest.calls)} calls`,
    ],
    [
      `its calls at the share of a processor that is deployed (${SHARE.toFixed(2)})`,
      `${round(((busiest?.calls ?? 0) * CALL_MS) / SHARE / 1000)} s`,
    ],
    ["the function's time in all", `${round(sum(minutes.map((each) => startsOf(each) / BEGUN_PER_SECOND)))} s`],
    ["a run with nothing due", `${idle.calls} reads, ${sum(idle.spent.map((each) => each.reads))} units`],
    ["write units: the function, the tasks", [all("writes", "spent"), all("writes", "work")].map(round).join(", ")],
    ["read units: the function, the tasks", [all("reads", "spent"), all("reads", "work")].map(round).join(", ")],
    [
      `most write units of a partition key in a second (limit ${round(LIMITS.partition.writes)})`,
      `${round(writes.units)}, ${formatKey(writes.key)}`,
    ],
    [
      `most read units of a partition key in a second (limit ${round(LIMITS.partition.reads)})`,
      `${round(reads.units)}, ${formatKey(reads.key)}`,
    ],
    [
      `most write units in a second (a new table: ${round(LIMITS.table.writes)})`,
      round(peaks(minutes, "writes", () => "").units),
    ],
    [`most read units in a second (a new table: ${round(LIMITS.table.reads)})`, round(peaks(minutes, "reads", () => "").units)],
  ];
  return tableOf(["", ""], rows);
}
