// How the benchmarks sum up and show what they measured.
import { readFileSync, writeFileSync } from "node:fs";

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

/** A Markdown table, as the formatter leaves it; all columns but the first are numbers. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) =>
    Math.max(3, ...[name, ...rows.map((row) => row[column] ?? "")].map((cell) => cell.length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** Replaces what a command wrote into a page the last time. */
export function writeTables(path: string, command: string, tables: readonly string[]): void {
  const text = tables.join("\n\n");
  console.log(`\n${text}`);
  const page = readFileSync(path, "utf8");
  const begin = `<!-- written by \`${command}\` -->`;
  const from = page.indexOf(begin);
  if (from === -1) throw new Error(`${path} has no place for ${command}`);
  writeFileSync(path, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(page.indexOf("<!-- end -->", from))}`);
}
