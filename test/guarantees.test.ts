// The guarantees, their files and docs/guarantees.md belong together.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { guarantees } from "./guarantees/guarantees.ts";
import { DOCS, rendered } from "./guarantees/results.ts";

/** The formatter aligns tables. */
const unaligned = (markdown: string): string =>
  markdown.replace(/ +\|/g, " |").replace(/-{3,}/g, "---").replace(/\\_/g, "_").trim();

test("docs/guarantees.md says what the guarantees say, with the last results", () => {
  const text = readFileSync(DOCS, "utf8");
  expect(unaligned(rendered(text)), "`npm run golden` renders it").toBe(unaligned(text));
});

test("every guarantee has its attack, and every attack its guarantee", () => {
  const files = globSync("test/guarantees/*.test.ts").map((file) => file.replace(/^.*\/|(\.(alone|cloud|all))*\.test\.ts$/g, ""));
  expect(files.toSorted()).toEqual(Object.keys(guarantees).toSorted());
});

test("all guarantees at full size take at most eight hours on two cores", () => {
  const hours = Object.values(guarantees).reduce((sum, { full, perSecond }) => sum + full / perSecond / 3_600, 0);
  expect(hours).toBeLessThanOrEqual(2 * 8);
});
