// The route table: every endpoint has its file, and names that can be found by whoever knows the path.
import { existsSync, globSync } from "node:fs";
import { expect, test } from "vitest";
import { ID_PREFIXES } from "../../shared/domain/id-kinds.ts";
import { resourceOf, routes } from "../../shared/api/index.ts";

/** Files in folders of endpoints that are no endpoint: none. Shrink only. */
const OTHER_FILES: readonly string[] = [];

const inResourceFolders = [...new Set(routes.map(({ entry }) => entry.slice(0, entry.lastIndexOf("/"))))];

test.each(routes)("$id is in the file that its name says", ({ entry }) => {
  expect(existsSync(entry), `${entry} is missing`).toBe(true);
});

test.each(routes)("$id has tests in its resource's folder, where the README says they are", ({ entry }) => {
  expect(globSync(`test/${entry.split("/")[1]}/*.test.ts`)).not.toEqual([]);
});

test.each(routes)("the path of $id is lower case, its identifiers named :id", ({ path }) => {
  expect(path).toMatch(/^(?:\/(?:[a-z][a-z-]*(?:\.json)?|:id))+$/);
});

test.each(routes.filter(({ path }) => path.includes(":")))("what :id names in $path is a kind of resource", ({ path }) => {
  const collection = /\/([a-z-]+)s\/:id/.exec(path)?.[1];
  expect(Object.keys(ID_PREFIXES)).toContain(collection?.replace("-", "_"));
});

test.each(routes)("the summary of $id is one line of words, without a full stop", ({ summary }) => {
  expect(summary).toMatch(/^[A-Z][^\n]*[^.\n]$/);
});

test.each(routes)("$id has a body if it is a POST or a PUT, and only then", ({ body, method }) => {
  expect(body !== undefined).toBe(method === "POST" || method === "PUT");
});

test("only what is read has a query", () => {
  expect(routes.filter(({ query, method }) => query !== undefined && method !== "GET")).toEqual([]);
});

test("what is open to all makes and starts nothing", () => {
  expect(routes.filter(({ access, status, starts }) => access === "public" && (status !== 200 || starts.length > 0))).toEqual([]);
});

test("no two endpoints share a method and a path, or an id", () => {
  const places = routes.map(({ method, path }) => `${method} ${resourceOf(path)}`);
  expect(new Set(places).size).toBe(routes.length);
  expect(new Set(routes.map(({ id }) => id)).size).toBe(routes.length);
});

test("there is no handler that the table does not know", () => {
  const files = inResourceFolders.flatMap((folder) => globSync(`${folder}/*.ts`));
  expect(files.filter((file) => !routes.some(({ entry }) => entry === file) && !OTHER_FILES.includes(file))).toEqual([]);
});
