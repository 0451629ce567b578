// The modules of which the bundles have the value and not the code.
import type { Plugin } from "rolldown";
import { routeTable } from "../shared/api/route-table.ts";
import { hostScript } from "../shared/hosts/host-script.ts";

/**
 * Modules whose values are known before, so that no function computes them: the API description, the routes, and the machine's
 * script.
 */
const MADE: readonly { file: RegExp; code: () => string }[] = [
  {
    file: /\/shared\/api\/openapi\/describe\.ts$/,
    code: () => `
      import { readFileSync } from "node:fs";
      export const openapiDocument = (environment) => JSON.parse(readFileSync(new URL(\`./\${environment}.json\`, import.meta.url), "utf8"));`,
  },
  { file: /\/shared\/api\/route-table\.ts$/, code: () => `export const routeTable = ${JSON.stringify(routeTable)};` },
  { file: /\/shared\/hosts\/host-script\.ts$/, code: () => `export const hostScript = () => ${JSON.stringify(hostScript())};` },
];

/** The code that a module is replaced by. */
export const madeCode = (path: string): string | undefined => MADE.find(({ file }) => file.test(path))?.code();

export const made: Plugin = {
  name: "made modules",
  load: {
    filter: { id: MADE.map(({ file }) => file) },
    handler: (id) => ({ code: madeCode(id) ?? "", moduleType: "js" }),
  },
};
