// Zod schemas as JSON Schema, and examples composed from the examples of their fields.
import * as z from "zod";
import type { Route } from "../index.ts";
import { type Components, ref, type Schema } from "./document.ts";

const SCHEMAS = "#/components/schemas/";

/**
 * A zod schema as JSON Schema; those with an id become components. A query is described by what its strings stand for.
 * Responses leave out the rules for requests (patterns, no other fields): a response may grow, and clients must accept that. The
 * values of their enumerations are those of this version.
 */
export function toSchema(schema: z.ZodType, use: "query" | "body" | "response", components: Components): Schema {
  const raw = JSON.stringify(
    z.toJSONSchema(schema, {
      io: use === "body" ? "input" : "output",
      override: ({ zodSchema, jsonSchema }) => {
        if (jsonSchema.type === "integer")
          jsonSchema.format = Math.abs(jsonSchema.maximum ?? Infinity) < 2 ** 31 ? "int32" : "int64";
        if (use === "response" && jsonSchema.enum !== undefined) {
          jsonSchema["x-extensible-enum"] = jsonSchema.enum;
          delete jsonSchema.enum; // with it, a client's validator would reject a value that a later version adds
        }
        if (jsonSchema.pattern !== undefined) jsonSchema.pattern = unescapedPattern(jsonSchema.pattern);
        if (use === "response" || jsonSchema.pattern === undefined || jsonSchema.description !== undefined) return;
        const description = patternInWords(zodSchema);
        if (description !== undefined) jsonSchema.description = description;
      },
    }),
  );
  const { $defs, ...tidy }: Schema & { $defs?: Record<string, Schema> } = JSON.parse(raw, (key, value: unknown) => {
    if (key === "$schema" || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) return undefined;
    if (key === "$ref" && typeof value === "string")
      return value.includes("/__") ? undefined : value.replace("#/$defs/", SCHEMAS); // what has no name is any JSON value
    if (
      use === "response" &&
      ((key === "pattern" && typeof value === "string") ||
        (key === "additionalProperties" && value === false) ||
        (key === "not" && typeof value === "object"))
    )
      return undefined;
    return value;
  });
  for (const [name, definition] of Object.entries($defs ?? {})) {
    if (name.startsWith("__")) continue;
    if (JSON.stringify(components.schemas[name] ?? definition) !== JSON.stringify(definition))
      throw new Error(`${name} is two different schemas; give one of them an id of its own`);
    components.schemas[name] = definition;
  }
  const { id, ...unnamed }: Schema & { id?: string } = tidy;
  if (id === undefined) return tidy;
  components.schemas[id] = unnamed;
  return ref("schemas", id);
}

/** JavaScript shows line breaks in a pattern as escapes that Go cannot read. */
const unescapedPattern = (pattern: string): string => pattern.replaceAll(String.raw`\u2028`, "\u2028");

/** A pattern in words: the error message for a text that does not match it. */
function patternInWords(schema: z.core.$ZodType): string | undefined {
  const [broken] = z.safeParse(schema, "\0").error?.issues.filter(({ code }) => code === "invalid_format") ?? [];
  return broken?.message.startsWith("must") ? `M${broken.message.slice(1)}` : undefined;
}

export const resolve = (schema: Schema, components: Components): Schema =>
  schema.$ref === undefined ? schema : (components.schemas[schema.$ref.slice(SCHEMAS.length)] ?? {});

/** Composed from the examples of the fields. */
export function buildExample(
  schema: Schema,
  components: Components,
  keep: (name: string, of: Schema) => boolean = () => true,
): unknown {
  const { examples, const: only, default: usual, anyOf, items, properties, $ref } = schema;
  const values = schema.enum ?? schema["x-extensible-enum"];
  if (examples !== undefined) return examples[0];
  if ($ref !== undefined) return buildExample(resolve(schema, components), components, keep);
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => keep(name, schema))
        .map(([name, property]) => [name, buildExample(property, components)]),
    );
  if (items !== undefined) return [buildExample(items, components)];
  if (anyOf?.[0] !== undefined) return buildExample(anyOf[0], components);
  return only ?? values?.[0] ?? usual ?? null;
}

/** Required fields and those with a default; if there are none, all fields. */
export const bodyExample = (schema: Schema, components: Components): unknown =>
  buildExample(schema, components, (name, { required = [], properties = {} }) => {
    const isInExample = (each: string) => required.includes(each) || properties[each]?.default !== undefined;
    return isInExample(name) || !Object.keys(properties).some(isInExample);
  });

/** A route's `example` overrides the examples of the fields. */
export function dataExample({ example }: Route, data: Schema, components: Components): unknown {
  const composed = buildExample(data, components);
  return typeof composed === "object" && composed !== null && !Array.isArray(composed) ? { ...composed, ...example } : composed;
}
