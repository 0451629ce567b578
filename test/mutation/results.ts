// The last results of `npm run mutate`, by module, outside of git: they are of the sources of one machine at one time.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { type Module, modules } from "./modules.ts";
import type { Outcome } from "./report.ts";

const RESULTS = join(resolve(import.meta.dirname, "../.."), ".local", "mutation", "results.json");

const Result = z.object({ mutants: z.number(), killed: z.number(), explained: z.number(), on: z.string() });
type Result = z.infer<typeof Result>;

const read = (): Record<string, Result> =>
  existsSync(RESULTS) ? z.record(z.string(), Result).parse(JSON.parse(readFileSync(RESULTS, "utf8"))) : {};

const rows: [string, Module][] = Object.entries(modules);

const explainedIn = ({ survivors }: Outcome): number => survivors.filter(({ reason }) => reason !== undefined).length;

const percent = ({ mutants, killed }: Pick<Result, "mutants" | "killed">): string => `${Math.floor((100 * killed) / mutants)} %`;

export const describeChecked = (outcome: Outcome): string =>
  `${outcome.mutants} mutants, ${outcome.killed} killed (${percent(outcome)}), ${outcome.survivors.length} survived, ${explainedIn(outcome)} of them explained`;

export function record(name: string, outcome: Outcome): void {
  const results = read();
  const { mutants, killed } = outcome;
  results[name] = { mutants, killed, explained: explainedIn(outcome), on: new Date().toISOString().slice(0, 10) };
  const entries = rows.flatMap(([each]) => (results[each] === undefined ? [] : [[each, results[each]] as const]));
  mkdirSync(dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
}

/** A table in Markdown. */
export function mutationTable(): string {
  const results = read();
  const head = ["Module", "Name", "Mutants", "Killed", "Share", "Survivors", "Explained", "Date"];
  const lines = rows.map(([name, { title }]) => {
    const result = results[name];
    if (result === undefined) return [title, `\`${name}\``, "not run yet", "", "", "", "", ""];
    const { mutants, killed, explained, on } = result;
    return [title, `\`${name}\``, mutants, killed, percent(result), mutants - killed, explained, on].map(String);
  });
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
