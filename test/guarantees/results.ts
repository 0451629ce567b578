// The last results of every guarantee: results.json, and docs/guarantees.md, which is made from it and the table of guarantees.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as z from "zod";
import { type Guarantee, guarantees } from "./guarantees.ts";
import type { Progress } from "./progress.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const RESULTS = join(import.meta.dirname, "results.json");
export const DOCS = join(ROOT, "docs", "guarantees.md");

const Result = z.object({
  trials: z.number(),
  points: z.number(),
  violations: z.number(),
  seed: z.number(),
  seconds: z.number(),
  /**
   * Whether the run had the full size of the table at that time, and how many of its runs were made: a run may count as several
   * trials.
   */
  full: z.boolean(),
  done: z.number().optional(),
  on: z.string(),
});
type Result = z.infer<typeof Result>;

const readResults = (): Record<string, Result> => z.record(z.string(), Result).parse(JSON.parse(readFileSync(RESULTS, "utf8")));

const rows: [string, Guarantee][] = Object.entries(guarantees);

const resultOf = ({ counted, points, violations, seed, seconds, trials, done, name }: Progress): Result => ({
  trials: counted,
  points: points.length,
  violations,
  seed,
  seconds: Math.round(seconds),
  full: trials >= (rows.find(([each]) => each === name)?.[1].full ?? Infinity),
  done,
  on: new Date().toISOString().slice(0, 10),
});

const number = (value: number): string => value.toLocaleString("en-US");
const durationOf = (seconds: number): string =>
  seconds < 120 ? `${seconds} s` : seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;

function tableFrom(results: Record<string, Result>): string {
  const head = ["Guarantee", "Name", "Trials", "Distinct points", "Violations", "Seed", "Time", "Size", "Date"];
  const lines = rows.map(([name, { title, full }]) => {
    const result = results[name];
    if (result === undefined) return [title, `\`${name}\``, "not run yet", "", "", "", "", "", ""];
    const { trials, points, violations, seed, seconds, on } = result;
    const part = result.done === undefined ? "part" : number(result.done);
    const size = result.full ? "full" : `${part} of ${number(full)}`;
    return [
      title,
      `\`${name}\``,
      number(trials),
      points === 0 ? "" : number(points),
      String(violations),
      String(seed),
      durationOf(seconds),
      size,
      on,
    ];
  });
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export const tableOf = (progress: readonly Progress[]): string => {
  const results = Object.fromEntries(progress.map((each) => [each.name, resultOf(each)]));
  return tableFrom(results)
    .split("\n")
    .filter((line) => !line.includes("not run yet"))
    .join("\n");
};

const promisesOf = (): string =>
  rows.map(([, { title, promise, proof }]) => `### ${title}\n\n${promise}\n\n_How it is proven:_ ${proof}`).join("\n\n");

const mutationTesting = (): string =>
  [
    "## Mutation testing",
    "A guarantee is worth what its tests notice. `npm run mutate` changes the code that the guarantees depend on most, in one place at a time (a condition, an operator, a returned value, a whole block; not texts and logs), and runs the module's tests: each change, a mutant, must make one of them fail. Survivors are listed with the reason in test/mutation/survivors.ts; one without a reason is a missing test. The run prints a table, which `.local/mutation` keeps.",
  ].join("\n\n");

const START = "<!-- Generated from test/guarantees: change it there -->";
const END = "<!-- End of what is generated -->";

/** The text with its generated part made anew. */
export function rendered(text: string): string {
  const generated = `${START}\n\n## What is guaranteed\n\n${promisesOf()}\n\n## The last results\n\n${tableFrom(readResults())}\n\n${mutationTesting()}\n\n${END}`;
  const [before, rest] = [text.slice(0, text.indexOf(START)), text.slice(text.indexOf(END) + END.length)];
  if (!text.includes(START) || !text.includes(END)) throw new Error(`${DOCS} has lost the marks of its generated part`);
  return before + generated + rest;
}

/** Writes the page; the formatter aligns its table. */
export function renderDocs(): void {
  writeFileSync(DOCS, rendered(readFileSync(DOCS, "utf8")));
  execFileSync(process.execPath, [join(ROOT, "node_modules/oxfmt/bin/oxfmt"), DOCS, RESULTS]);
}

/** Adds the results of a run. A smaller run of a guarantee doesn't replace a full one without violations. */
export function record(progress: readonly Progress[]): void {
  const results = readResults();
  for (const each of progress) {
    const result = resultOf(each);
    if (result.full || result.violations > 0 || results[each.name]?.full !== true) results[each.name] = result;
  }
  const rowResults = rows.flatMap(([name]) => (results[name] === undefined ? [] : [[name, results[name]] as const]));
  writeFileSync(RESULTS, `${JSON.stringify(Object.fromEntries(rowResults), undefined, 2)}\n`);
  renderDocs();
}
