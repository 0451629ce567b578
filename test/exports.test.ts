// Nothing of the product is exported for nobody: the compiler then reports what its own file does not use either.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const sources = globSync("{shared,functions,infra,dashboard,test}/**/*.{ts,tsx,mts,mjs}", {
  exclude: ["**/node_modules/**", "**/dist/**"],
}).map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** The names in `{ a, type B, c as d }`, as the module that exports them calls them; `*` for all. */
const namesIn = (clause: string): string[] =>
  clause.startsWith("*") ? ["*"] : [...clause.matchAll(/(\w+)(?: as \w+)?\s*(?=[,}])/g)].map(([, name = ""]) => name);

/** `file#name` of everything that some other file imports. */
const imported = new Set(
  sources.flatMap(({ file, text }) => [
    ...[...text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?(\{[^}]*\}|\* as \w+) from "(\.[^"]+)"/gm)].flatMap(
      ([, clause = "", from = ""]) => namesIn(clause).map((name) => `${join(dirname(file), from)}#${name}`),
    ),
    ...[...text.matchAll(/\bimport\(\s*"(\.[^"]+)"/g)].map(([, from = ""]) => `${join(dirname(file), from)}#*`),
  ]),
);

const exported = sources
  .filter(({ file }) => !file.startsWith("test/"))
  .flatMap(({ file, text }) =>
    [...text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm)].map(([, name]) => ({
      file,
      name,
    })),
  );

/** What is loaded by its path: the handlers of functions, and a module that the bundles put in another's place. */
const isLoaded = ({ file, name }: { file: string; name: string | undefined }): boolean =>
  (file.startsWith("functions/") && name === "handler") || file === "infra/bundle-credentials.ts";

test("every export of the product is imported by another file", () => {
  expect(exported.length).toBeGreaterThan(700);
  expect(imported.size).toBeGreaterThan(700);
  const unused = exported.filter(
    (each) => !isLoaded(each) && !imported.has(`${each.file}#${each.name}`) && !imported.has(`${each.file}#*`),
  );
  expect(unused.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
