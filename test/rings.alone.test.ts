// A run of tests: what failed runs once more by itself, and what the rings leave to each other.
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isInRing } from "./harness/ring.ts";
import { ROOT, runInRounds } from "./harness/rounds.ts";

const FAILS_ONCE = `
  import { existsSync, writeFileSync } from "node:fs";
  import { beforeAll, describe, expect, test } from "vitest";
  const isSecond = existsSync(new URL("ran", import.meta.url));
  writeFileSync(new URL("ran", import.meta.url), "");
  test("passes in both rounds", () => {});
  test("passes only by itself", () => expect(isSecond, "the first round").toBe(true));
  test("passes only with others", () => expect(isSecond, "the second round").toBe(false));
  test("fails each time", () => { throw new Error(isSecond ? "again" : "the page logged errors"); });
  test.skip("is skipped");
  describe("a group", () => {
    beforeAll(() => { if (!isSecond) throw new Error("busy"); });
    test("waits for its hook", () => {});
  });
`;
const CONFIG = `export default { test: { include: ["*.test.js"], silent: true } };`;

/** Creates a project of tests in this one, where its dependencies are found. */
function projectOf(tests: Record<string, string>): string {
  const folder = mkdtempSync(join(ROOT, "node_modules", ".repeated-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ ...tests, "vitest.config.js": CONFIG })) writeFileSync(join(folder, name), text);
  return folder;
}

test("what failed runs once more; what then passes is green and named with its first failure", async () => {
  const outcome = await runInRounds([
    `--root=${projectOf({ "own.test.js": FAILS_ONCE, "other.test.js": `import { test } from "vitest"; test("once", () => {});` })}`,
  ]);
  expect(outcome.passed).toBe(5);
  expect(outcome.failed).toEqual([
    { name: "own.test.js: fails each time", reason: expect.stringContaining("the page logged errors") },
  ]);
  expect(outcome.skipped).toEqual([{ name: "own.test.js: is skipped", reason: "no reason is given" }]);
  expect(outcome.unstable).toEqual([
    { name: "own.test.js: passes only by itself", reason: expect.stringContaining("the first round") },
    { name: "own.test.js: passes only with others", reason: expect.stringContaining("the second round") },
    { name: "own.test.js: a group > outside of a test", reason: expect.stringContaining("busy") },
  ]);
});

test("a file's name says in which ring and process it runs, in words that the configuration knows", () => {
  const files = globSync("test/**/*.test.ts", { cwd: ROOT });
  const unknown = files.filter((file) => !/^[a-z0-9-]+(\.(alone|cloud))?(\.(all|table))?\.test\.ts$/.test(basename(file)));
  expect(unknown).toEqual([]);
  const inBoth = files.filter((file) => isInRing(file, "test") && isInRing(file, "all"));
  expect(inBoth).toEqual(files.filter((file) => file.endsWith(".table.test.ts")));
  expect(files.filter((file) => !isInRing(file, "test") && !isInRing(file, "all"))).toEqual([]);
});
