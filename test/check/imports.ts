// Who contains and who imports a file: esbuild's account of the functions' bundles, and the imports of the test files and all that they lead to.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { ENTRIES } from "../../infra/bundle.ts";
import { ROOT } from "../../infra/built.ts";

const Metafile = z.object({ outputs: z.record(z.string(), z.object({ inputs: z.record(z.string(), z.unknown()) })) });

/** Each source file's functions, by their IDs. */
export function functionsByFile(bundles: string): Map<string, string[]> {
  const { outputs } = Metafile.parse(JSON.parse(readFileSync(join(bundles, "meta.json"), "utf8")));
  const functions = new Map<string, string[]>();
  for (const [output, { inputs }] of Object.entries(outputs)) {
    const id = output.split("/").at(-2) ?? "";
    if (ENTRIES[id] === undefined) continue;
    for (const file of Object.keys(inputs)) functions.set(file, [...(functions.get(file) ?? []), id]);
  }
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
