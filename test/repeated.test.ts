// A test that passes only when it is repeated is named at the end of `npm test`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { ROOT } from "../infra/built.ts";

const TESTS = `
  import { expect, test as base } from "vitest";
  let [tries, made] = [0, 0];
  const test = base.extend("fixture", () => ++made);
  test("passes at once", () => {});
  test("passes when it is repeated", ({ fixture }) => {
    tries++;
    expect(fixture, "the fixture is made anew").toBe(tries);
    if (tries === 1) throw new Error("the page logged errors:\\nthe first try");
  });
  test("fails each time", () => { throw new Error("again"); });
`;
const CONFIG = `export default { test: { retry: 1, include: ["own.test.js"] } };`;

test("the summary of a run names the tests that passed only when they were repeated, with the first error", () => {
  // In the project, where its dependencies are found.
  const folder = mkdtempSync(join(ROOT, "node_modules", ".repeated-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "own.test.js"), TESTS);
  writeFileSync(join(folder, "vitest.config.js"), CONFIG);
  const SUMMARY_FILE = join(folder, "summary.json");
  const reporter = join(ROOT, "test", "harness", "summary.ts");
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run", "--root", folder, "--reporter", reporter], {
    env: { PATH: process.env["PATH"], HOME: folder, SUMMARY_FILE },
  });
  expect(status).toBe(1); // one test fails
  const summary = z.looseObject({ repeated: z.unknown() }).parse(JSON.parse(readFileSync(SUMMARY_FILE, "utf8")));
  expect(summary).toMatchObject({ passed: 2, failed: 1, skipped: [] });
  expect(summary.repeated).toEqual([
    { name: "own.test.js: passes when it is repeated", reason: "the page logged errors: the first try" },
  ]);
});
