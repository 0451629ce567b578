// Conventions of the sources that no linter checks. Object types are interfaces: the linter checks that.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ALL = ["shared", "functions", "infra", "dashboard/src", "test"];

const sourcesOf = (folders: readonly string[], endings = "ts,tsx,mjs") =>
  globSync(`{${folders.join(",")}}/**/*.{${endings}}`, { exclude: ["**/node_modules/**", "**/dist/**"] }).map((file) => ({
    file,
    text: readFileSync(file, "utf8"),
  }));

test("every source file starts with a line comment that describes it", () => {
  const sources = sourcesOf(ALL);
  expect(sources.length).toBeGreaterThan(400);
  const without = sources.filter(({ text }) => !text.replace("// @ts-check\n", "").startsWith("// "));
  expect(without.map(({ file }) => file)).toEqual([]);
});

test("the schema of an object has the same name as the type inferred from it", () => {
  const lowercase = sourcesOf(ALL.slice(0, -1)).flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:export )?const ([a-z]\w*) = z\s*\.(?:object|looseObject|strictObject)\(/gm)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  );
  expect(lowercase).toEqual([]);
});

/** What the formatter breaks lines at, too. */
const COLUMNS = 130;

test("no comment is wider than the code", () => {
  const wide = sourcesOf(ALL, "ts,tsx,mjs,sh,py,pl").flatMap(({ file, text }) =>
    text.split("\n").flatMap((line, at) => {
      const isComment = /^\s*(?:\/\/|\/\*\*|\* |# )/.test(line) && !/https?:|oxlint-disable/.test(line);
      return isComment && line.length > COLUMNS ? [`${file}:${at + 1}`] : [];
    }),
  );
  expect(wide).toEqual([]);
});
