// Validates responses against the API description, as a client's own tools would: openapi.json is JSON Schema 2020-12.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, inject } from "vitest";
import type { Route } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";

const DOCUMENT = "openapi.json";
function open() {
  const document = inject("description");
  // Formats are descriptions, and `examples` of OpenAPI are not of JSON Schema; the linters check both, and the document itself.
  const options = { strict: false, validateFormats: false, validateSchema: false, meta: false, code: { optimize: false } };
  return { document, ajv: new Ajv2020(options).addSchema({ $id: DOCUMENT, ...document }) };
}

let opened: ReturnType<typeof open> | undefined;
/** Opened with the first response: the benchmark uses what makes requests, without the tests' runner. */
const described = () => (opened ??= open());

let count = 0;
/** How many responses have been validated in this process. */
export const validated = (): number => count;

const escaped = (segment: string): string => segment.replaceAll("~", "~0").replaceAll("/", "~1");

/** The place of a response in the document; responses that many endpoints have are among the components. */
function pointerOf(path: string, method: string, status: number): string | undefined {
  const response = described().document.paths[path]?.[method]?.responses[String(status)];
  if (response === undefined) return undefined;
  const at =
    "$ref" in response && typeof response.$ref === "string"
      ? response.$ref
      : `#/paths/${escaped(path)}/${method}/responses/${status}`;
  return `${DOCUMENT}${at}/content/${escaped("application/json")}/schema`;
}

/** Fails if the description does not have this status for the route, or the body does not match its schema. */
export function expectDescribed(route: Route, status: number, body: unknown, exchange: string): void {
  const path = route.path.replace(/:(\w+)/g, "{$1}");
  const pointer = pointerOf(path, route.method.toLowerCase(), status);
  expect(pointer, `${BASE_PATH}${path} has no response ${status} in the description: ${exchange}`).toBeDefined();
  if (pointer === undefined) return;
  const { ajv } = described();
  const validate = ajv.getSchema(pointer) ?? ajv.compile({ $ref: pointer });
  count += 1;
  expect(validate(body), `${exchange}\n${JSON.stringify(validate.errors)}`).toBe(true);
}
