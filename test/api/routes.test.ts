// The route table: every endpoint has its file, and names that you can find if you know the path.
import { existsSync, globSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { ID_PREFIXES } from "../../shared/domain/id-kinds.ts";
import { toGatewayResource, routes } from "../../shared/api/index.ts";
import { createShaper } from "../../shared/runtime/shape.ts";

/** Folders of functions that no request invokes by a route. */
const NOT_OF_RESOURCES = ["workflows", "schedules"];

test.each(routes)("the handler of $id is in the file that its name implies", ({ entry }) => {
  expect(existsSync(entry), `${entry} is missing`).toBe(true);
});

test.each(routes)("$id has tests in its resource's folder, as the README says", ({ entry }) => {
  expect(globSync(`test/${entry.split("/")[1]}/*.test.ts`)).not.toEqual([]);
});

test.each(routes)("the path of $id is lowercase and names its IDs :id, and what else it has by what that is", ({ path }) => {
  expect(path).toMatch(/^(?:\/(?:[a-z][a-z-]*(?:\.json)?|:id|:delivery_id|:name|:secret))+$/);
});

test.each(routes.filter(({ path }) => path.includes(":id")))("the :id in $path names a kind of resource", ({ path }) => {
  const collection = /\/([a-z-]+)s\/:id/.exec(path)?.[1];
  expect(Object.keys(ID_PREFIXES)).toContain(collection?.replace("-", "_"));
});

test.each(routes)("the summary of $id is one line without a full stop", ({ summary }) => {
  expect(summary).toMatch(/^[A-Z][^\n]*[^.\n]$/);
});

test.each(routes)("$id takes a body exactly if it is a POST or a PUT", ({ body, method }) => {
  expect(body !== undefined).toBe(method === "POST" || method === "PUT");
});

test("only GET routes have a query, and a deletion that says what else goes", () => {
  expect(routes.flatMap(({ query, method, id }) => (query !== undefined && method !== "GET" ? [id] : []))).toEqual([
    "users.delete",
  ]);
});

test("public endpoints create nothing and start no workflow", () => {
  expect(routes.filter(({ access, status, starts }) => access === "public" && (status === 201 || starts.length > 0))).toEqual([]);
});

test("no two endpoints share an ID, or a method and a path", () => {
  const places = routes.map(({ method, path }) => `${method} ${toGatewayResource(path)}`);
  expect(new Set(places).size).toBe(routes.length);
  expect(new Set(routes.map(({ id }) => id)).size).toBe(routes.length);
});

test("every handler belongs to a route of the table", () => {
  const files = globSync("functions/*/*.ts").filter((file) => !NOT_OF_RESOURCES.includes(file.split("/")[1] ?? ""));
  expect(files.filter((file) => !routes.some(({ entry }) => entry === file))).toEqual([]);
});

const isWrapper = (schema: z.core.$ZodType) =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;

/** The object of a choice between one and plain values; the first of plain values alone. */
function firstOf({ options }: z.ZodUnion): z.core.$ZodType {
  const [object, another] = options.filter((option) => option instanceof z.ZodObject);
  const first = object ?? options[0];
  if (first === undefined || another !== undefined) throw new Error("A choice of a response has one object at most");
  return first;
}

/** A value of a schema with a field more in each object. */
function withMore(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodArray) return [withMore(schema.element)];
  if (isWrapper(schema)) return withMore(schema.unwrap());
  if (schema instanceof z.ZodUnion) return withMore(firstOf(schema));
  if (!(schema instanceof z.ZodObject)) return "value";
  return {
    ...Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, withMore(field)])),
    undeclared: "leaks",
  };
}

/** Types that hold no other value, or any (as what a change replaces): nothing can be cut from them. */
const WHOLE = ["string", "number", "boolean", "enum", "literal", "record", "unknown", "custom"];

function typesIn(schema: z.core.$ZodType): string[] {
  if (schema instanceof z.ZodArray) return typesIn(schema.element);
  if (isWrapper(schema)) return typesIn(schema.unwrap());
  if (schema instanceof z.ZodUnion) return typesIn(firstOf(schema));
  return schema instanceof z.ZodObject
    ? Object.values(schema.shape).flatMap(typesIn)
    : [schema instanceof z.ZodType ? schema.def.type : ""];
}

test.each(routes.filter(({ unenveloped }) => !unenveloped))(
  "the response of $id contains only what its schema declares",
  ({ data }) => {
    expect(JSON.stringify(createShaper(data)(withMore(data)))).not.toContain("leaks");
    expect(WHOLE).toEqual(expect.arrayContaining(typesIn(data)));
  },
);
