// The modules of which the bundles have the value and not the code.
import type { Plugin } from "rolldown";
import { routeTable } from "../shared/api/route-table.ts";
import { hostScript } from "../shared/hosts/host-script.ts";

/**
 * Modules whose values are known before, so that no function computes them: the API description, the routes, and the machine's
 * script.
 */
const GENERATED: readonly { file: RegExp; code: () => string }[] = [
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
export const generateModule = (path: string): string | undefined => GENERATED.find(({ file }) => file.test(path))?.code();

export const generatedModules: Plugin = {
  name: "made modules",
  load: {
    filter: { id: GENERATED.map(({ file }) => file) },
    handler: (id) => ({ code: generateModule(id) ?? "", moduleType: "js" }),
  },
};
