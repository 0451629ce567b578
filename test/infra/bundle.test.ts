// The bundles: complete, small, and without the parts that are left out.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, inject, it } from "vitest";
import { parseAst } from "rolldown/parseAst";
import { bundle, bundledSizes, bundleFiles, ENTRIES, pureNames } from "../../infra/bundle.ts";
import { ROOT } from "../../infra/built.ts";
import * as stored from "../../shared/data/stored.ts";
import { bundleAt, bundledContents } from "../../infra/bundle-contents.ts";
import { hasGrown, knownSizes } from "../golden/bundles.ts";
import { scratch } from "./stubs.ts";

it("every function that the tables declare is bundled", async () => {
  expect(Object.keys(await bundledSizes(inject("bundles"))).toSorted()).toEqual(Object.keys(ENTRIES).toSorted());
});

it("no bundle has grown by 5 %", async () => {
  const recordedSizes = knownSizes();
  const grown = Object.entries(await bundledSizes(inject("bundles"))).filter(([id, bytes]) =>
    hasGrown(recordedSizes[id] ?? 0, bytes),
  );
  expect(
    grown.map(([id, bytes]) => `${id}: ${recordedSizes[id]} → ${bytes}`),
    "if that is meant, run `npm run golden`",
  ).toEqual([]);
});

const having = (pattern: RegExp): string[] =>
  Object.keys(ENTRIES).filter((id) => pattern.test(readFileSync(join(inject("bundles"), id, "index.mjs"), "utf8")));

it("bundled functions look for credentials in the environment only", () => {
  expect(having(/AWS_WEB_IDENTITY_TOKEN_FILE|AWS_CONTAINER_CREDENTIALS|credential_process/)).toEqual([]);
});

it("each bundle has its own endpoint only, and the authorizer's bundle has none", () => {
  expect(having(/["`]\/instances\/:id\/clone["`]/)).toEqual(["instances.clone"]);
});

it("bundles load Node's own modules without a wrapper", () => {
  expect(having(/\bfrom\s*["'](node:)?(https?|crypto|fs)["']/)).toEqual([]);
});

it("a list of names bundles only those functions", async () => {
  const sizes = await bundle(scratch(), { only: ["health.get"] });
  expect(Object.keys(sizes)).toEqual(["health.get"]);
});

it("a build keeps the bundles of an earlier one of which no source has changed", async () => {
  const [source, earlier, later] = [scratch(), scratch(), scratch()];
  const write = (name: string, code: string): void => writeFileSync(join(source, name), code);
  write("value.ts", "export const value = 1;");
  write("a.ts", 'import { value } from "./value.ts"; export const handler = () => value;');
  write("b.ts", "export const handler = () => 2;");
  const files = ["a", "b"].map((name) => [name, relative(ROOT, join(source, `${name}.ts`))] as const);
  await bundleFiles(earlier, files);
  for (const id of ["a", "b"]) writeFileSync(bundleAt(earlier, id), "// kept");
  write("value.ts", "export const value = 3;");
  await bundleFiles(later, files, { earlier });
  expect(readFileSync(bundleAt(later, "b"), "utf8")).toBe("// kept");
  expect(readFileSync(bundleAt(later, "a"), "utf8")).toContain("3");
  expect(Object.keys(await bundledContents(later))).toEqual(expect.arrayContaining(["a", "b"]));
});

/** The name with which an expression begins. */
function rootOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("type" in node)) return undefined;
  if (node.type === "Identifier" && "name" in node) return String(node.name);
  if (node.type === "MemberExpression" && "object" in node) return rootOf(node.object);
  if (node.type === "AwaitExpression" && "argument" in node) return rootOf(node.argument);
  return node.type === "CallExpression" && "callee" in node ? rootOf(node.callee) : undefined;
}

/** The names with which calls begin. */
function calledIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const root = "type" in node && node.type === "CallExpression" && "callee" in node ? rootOf(node.callee) : undefined;
  return [...(root === undefined ? [] : [root]), ...Object.values(node).flatMap(calledIn)];
}

/** The names with which statements begin that are nothing but a call, as `items.push(item);` begins with `items`. */
function calledForEffect(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const root =
    "type" in node && node.type === "ExpressionStatement" && "expression" in node ? rootOf(node.expression) : undefined;
  return [...(root === undefined ? [] : [root]), ...Object.values(node).flatMap(calledForEffect)];
}

it("what the bundler takes for ours that only computes is there, and is never called for its effect", () => {
  const exported = new Set(["z", "fields", ...Object.keys(stored)]);
  const pure = pureNames("servers.get");
  expect(pure.filter((name) => !exported.has(name))).toEqual([]);
  const lost = globSync("{shared,functions}/**/*.ts", { cwd: ROOT }).flatMap((file) =>
    calledForEffect(parseAst(readFileSync(join(ROOT, file), "utf8"), { lang: "ts" }).body)
      .filter((name) => pure.includes(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(lost).toEqual([]);
});

it("no library calls anything by a name that the bundler takes for one of ours that only computes", async () => {
  const isLibrary = (file: string) => file.startsWith("node_modules/") && !file.endsWith(".json");
  const bundles = Object.entries(await bundledContents(inject("bundles")));
  const libraries = new Set(bundles.flatMap(([, { inputs }]) => inputs.filter(isLibrary)));
  expect(libraries.size).toBeGreaterThan(100);
  const called = new Map(
    [...libraries].map((file) => [file, new Set(calledIn(parseAst(readFileSync(join(ROOT, file), "utf8")).body))] as const),
  );
  const matches = bundles.flatMap(([id, { inputs }]) =>
    inputs.flatMap((file) =>
      pureNames(id).flatMap((name) => (called.get(file)?.has(name) === true ? [`${id}: ${file}: ${name}`] : [])),
    ),
  );
  expect(matches).toEqual([]);
});
