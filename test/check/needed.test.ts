// `npm run check` runs the tests that a change needs: here of files of each kind, judged by the bundles and imports that there
// are.
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { ROOT } from "../harness/rounds.ts";
import { functionsByFile, importersByFile } from "./imports.ts";
import { neededTests, type Sources } from "./needed.ts";

const sources: Sources = {
  tests: globSync("test/**/*.test.ts", { cwd: ROOT }),
  functions: await functionsByFile(inject("bundles")),
  importers: importersByFile(),
};

const testsFor = (...changed: string[]): string[] =>
  [...neededTests(changed, sources)].toSorted(([, a], [, b]) => a - b).map(([test]) => test);

it.each([
  ["functions/servers/create.ts", "test/servers/create.test.ts"],
  ["functions/workflows/restore-backup/tasks.ts", "test/workflows/restore.cloud.all.test.ts"],
  ["shared/api/tokens.ts", "test/golden.test.ts"],
  ["shared/records/schemas/account.ts", "test/settings/settings.test.ts"],
  ["shared/hosts/script/files/archive.py", "test/hosts/archives.all.test.ts"],
  ["infra/function.ts", "test/infra/stack.test.ts"],
  ["infra/local/s3/uploads.ts", "test/local/storage.test.ts"],
  ["dashboard/src/servers/list.tsx", "test/browser/pages.table.test.ts"],
  ["dashboard/src/messages/de/index.ts", "test/messages.test.ts"],
  ["docs/backups.md", "test/words.test.ts"],
])("%s needs %s", (changed, test) => {
  expect(existsSync(join(ROOT, changed)), changed).toBe(true);
  expect(testsFor(changed)).toContain(test);
});

it("runs a changed test first", () => {
  expect(testsFor("shared/data/table.ts", "test/lists.table.test.ts")[0]).toBe("test/lists.table.test.ts");
});

/** Tests of the code as a whole: they say nothing about a single function. */
const WHOLE = /^test\/(?:imports|dialect|golden|rings|infra|api|local)\b/;

it("finds tests of every function", () => {
  const handlers = globSync("functions/*/*.ts", { cwd: ROOT }).filter((file) => sources.functions.get(file)?.length === 1);
  expect(handlers.length).toBeGreaterThan(50);
  expect(handlers.filter((file) => testsFor(file).every((test) => WHOLE.test(test)))).toEqual([]);
});
