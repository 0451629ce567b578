// Who contains and who imports a file: the contents of the functions' bundles, and the imports of the test files and all that
// they lead to.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundledContents } from "../../infra/bundle-contents.ts";
import { ROOT } from "../../infra/built.ts";

/** Each source file's functions, by their IDs. */
export async function functionsByFile(bundles: string): Promise<Map<string, string[]>> {
  const functions = new Map<string, string[]>();
  for (const [id, { inputs }] of Object.entries(await bundledContents(bundles)))
    for (const file of inputs) functions.set(file, [...(functions.get(file) ?? []), id]);
  return functions;
}

const IMPORTS = /^(?:import|export) (?!type\b)(?:[^"]*? from )?"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/gm;

/** The files that import a file directly, except for types, which tsc checks. */
export function importersByFile(): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const file of globSync("{shared,functions,infra,test}/**/*.{ts,mjs}", { cwd: ROOT }))
    for (const [, from = "", late = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(IMPORTS)) {
      const imported = join(dirname(file), from + late);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  return importers;
}
