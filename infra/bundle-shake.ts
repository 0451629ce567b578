// Removes from each function the parts of `shared` that it does not use. esbuild drops an unused constant only if computing it is known to do
// nothing, and never a property of an object. Without this, every function builds the schemas of all endpoints when it starts, which is a
// third of its start.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Expression, Program, VariableDeclarator } from "@oxc-project/types";
import { parseAst } from "rolldown/parseAst";
import type { Endpoint } from "../shared/api/endpoint.ts";
import { routes } from "../shared/api/index.ts";
import { ROOT } from "./built.ts";
import { type Edit, edited, pure } from "./bundle-edit.ts";

/** A module of `shared` whose unused constants can be dropped, and whose endpoints can be imported one by one, as `servers$get`. */
export function shakeable(source: string): string {
  const edits: Edit[] = [];
  for (const { statement, id, init } of constants(parseAst(source, { lang: "ts" }))) {
    const endpoints = endpointsIn(init);
    for (const { name, start, end } of endpoints) {
      edits.push([statement, statement, `export const ${single(id, name)} = ${pure(source.slice(start, end))};\n`]);
      edits.push([start, end, single(id, name)]);
    }
    if (endpoints.length === 0 && computes(init)) edits.push([init.start, init.end, pure(source.slice(init.start, init.end))]);
  }
  return edited(source, edits);
}

/** An expression with this prefix can be imported like a module: it is computed once for all. */
export const ONCE = "once:";

/**
 * With one schema for all places that have a plain one such as `z.string().nullable()`. A third of the 450 that a function builds when it
 * starts were the same.
 */
export function withPlainSchemasOnce(source: string): string {
  const names = new Map<string, string>();
  const text = source.replace(PLAIN_SCHEMA, (expression) => {
    const plain = expression.replaceAll(/\s/g, "");
    const name = plain.replaceAll(/\W+/g, "$");
    names.set(name, plain);
    return name;
  });
  const imports = [...names].map(([name, plain]) => `import { value as ${name} } from "${ONCE}${plain}";\n`);
  return imports.join("") + text;
}
const PLAIN_SCHEMA = /\bz\s*\.(?:string|number|boolean|unknown)\(\)(?:\s*\.(?:int|nullable|optional|nullish)\(\))*/g;

/** The module that is imported with `ONCE`. */
export const onceModule = (expression: string): string => `import * as z from "zod"; export const value = ${pure(expression)};`;

/** The source of a function, with an import of its own endpoint in place of the table of all, and of `handle` without what it does not need. */
export function withOwnEndpoint(source: string, path: string): string {
  const route = routes.find(({ entry }) => path === join(ROOT, entry));
  if (route === undefined) return source;
  const { resource, name } = route;
  const own = `api.${resource}.${name}`;
  const everything = /^import \{ api \} from "(.*)\/index\.ts";$/m;
  if (!everything.test(source) || !source.includes(own)) throw new Error(`${path} does not handle ${own}`);
  const unneeded = Object.keys(PARTS).filter((part) => PARTS[part]?.(route) === false);
  return source
    .replace(everything, (_, folder: string) => `import { ${single(resource, name)} } from "${folder}/${fileOf(resource)}";`)
    .replaceAll(own, single(resource, name))
    .replace(/(?<=\/runtime\/handle\.ts)(?=")/, unneeded.length === 0 ? "" : `?without=${unneeded.join(",")}`);
}

/** The modules of `handle` that an endpoint may not need. */
const PARTS: Readonly<Record<string, (endpoint: Endpoint) => boolean>> = {
  body: ({ body }) => body !== undefined,
  idempotency: ({ idempotent }) => idempotent,
  // Only the function of a GET gets methods that its path lacks, and so needs the table of all routes.
  methods: ({ method }) => method === "GET",
};

/** Imported with this suffix, a module has the same exports, which throw when they are called. */
export const LEFT_OUT = "?left-out";

/** `handle` with the suffix that `withOwnEndpoint` gives it. */
export function withoutParts(source: string, suffix: string): string {
  const parts = suffix.split("=")[1]?.split(",") ?? [];
  return parts.reduce((text, part) => text.replace(`"./${part}.ts"`, `"./${part}.ts${LEFT_OUT}"`), source);
}

const single = (table: string, name: string): string => `${table}$${name}`;

/** The module that gives the table of all endpoints those of a resource. */
function fileOf(resource: string): string {
  const index = readFileSync(join(ROOT, "shared/api/index.ts"), "utf8");
  const file = new RegExp(String.raw`^import \{[^}]*\b${resource}\b[^}]*\} from "\./(.+)";$`, "m").exec(index)?.[1];
  if (file === undefined) throw new Error(`shared/api/index.ts imports no ${resource}`);
  return file;
}

interface Constant {
  /** Where the statement that declares it starts. */
  statement: number;
  id: string;
  init: Expression;
}

function constants({ body }: Program): Constant[] {
  return body.flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type !== "VariableDeclaration" || declaration.kind !== "const") return [];
    return declaration.declarations.flatMap(({ id, init }: VariableDeclarator) =>
      id.type === "Identifier" && init !== null ? [{ statement: statement.start, id: id.name, init }] : [],
    );
  });
}

/** The resource of a table of endpoints; undefined for anything else. */
function endpointsIn(init: Expression): { name: string; start: number; end: number }[] {
  if (init.type !== "ObjectExpression") return [];
  return init.properties.flatMap((property) => {
    if (property.type !== "Property" || property.key.type !== "Identifier" || property.value.type !== "CallExpression") return [];
    const { callee, start, end } = property.value;
    return callee.type === "Identifier" && callee.name === "endpoint" ? [{ name: property.key.name, start, end }] : [];
  });
}

/** Whether the module calls, constructs, reads or spreads something when it loads, which might do anything as far as esbuild knows. */
function computes(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(computes);
  if (typeof node !== "object" || node === null) return false;
  const type = "type" in node ? String(node.type) : "";
  if (type.includes("Function")) return false;
  return (
    ["CallExpression", "NewExpression", "MemberExpression", "SpreadElement"].includes(type) || Object.values(node).some(computes)
  );
}
