// The import rule: which folder may import which (docs/decisions/0053-the-layers-inside-shared-have-one-direction.md says why).
// An allow-list below may only shrink.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { SOURCES } from "../infra/dashboard-build.ts";

interface Import {
  file: string;
  /** A path from the root of the repository, or a package's name. */
  from: string;
}

const imports: Import[] = ["shared", "functions", "infra", "dashboard"].flatMap((folder) =>
  globSync(`${folder}/**/*.{ts,tsx,mts,mjs}`, { exclude: ["**/node_modules/**", "**/dist/**"] }).flatMap((file) =>
    [
      ...readFileSync(file, "utf8").matchAll(/^\s*(?:import|export)\b(?:[^"';]*\bfrom)?\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm),
    ].map(([, fixed, dynamic]) => {
      const from = fixed ?? dynamic ?? "";
      return { file, from: from.startsWith(".") ? join(dirname(file), from) : from };
    }),
  ),
);

const isIn = (place: string, ...folders: string[]): boolean => folders.some((folder) => place.startsWith(`${folder}/`));
const isWorkflow = (place: string): boolean => /^functions\/workflows\/(?:index|[a-z-]+\/workflow)\.ts$/.test(place);
const isOurs = (place: string): boolean => isIn(place, "shared", "functions", "infra", "dashboard", "test");
const breaking = (rule: (each: Import) => boolean) =>
  imports.filter((each) => !rule(each)).map(({ file, from }) => `${file} → ${from}`);

test("the test finds the imports of the code", () => {
  expect(imports.length).toBeGreaterThan(200);
  expect(imports).toContainEqual({ file: "functions/openapi/get.ts", from: "shared/api/openapi/describe.ts" });
});

test("shared imports nothing from the other folders", () => {
  expect(breaking(({ file, from }) => !isIn(file, "shared") || !isOurs(from) || isIn(from, "shared"))).toEqual([]);
});

/** The layers from the bottom up: a file imports from its own layer and from those before it in this list. */
const LAYERS = [
  "domain",
  "platform",
  "mail",
  "api",
  "data",
  "records",
  "storage",
  "operations",
  "migrations",
  "providers",
  "hosts",
  "runtime",
];
const layerOf = (place: string): number => LAYERS.indexOf(place.split("/")[1] ?? "");

/** The shelves from the bottom up: a file imports from its own shelf and from those before it in the list. */
const SHELVES: Readonly<Record<string, readonly string[]>> = {
  "shared/operations": [
    "credentials",
    "backups",
    "code",
    "work",
    "monitoring",
    "events",
    "sign-in",
    "accounts",
    "forecasts",
    "bulk",
  ],
  "dashboard/src/resource": ["words", "page", "list", "dialog", "form"],
};

test.each(Object.entries(SHELVES))("the shelves of %s import in one direction", (folder, shelves) => {
  const shelfOf = (place: string): number => shelves.indexOf(place.slice(folder.length + 1).split("/")[0] ?? "");
  expect(globSync(`${folder}/**/*.{ts,tsx}`).filter((file) => shelfOf(file) === -1)).toEqual([]);
  expect(breaking(({ file, from }) => !isIn(file, folder) || !isIn(from, folder) || shelfOf(from) <= shelfOf(file))).toEqual([]);
});

test("the layers inside shared import in one direction", () => {
  expect(globSync("shared/**/*.ts").filter((file) => layerOf(file) === -1)).toEqual([]);
  expect(breaking(({ file, from }) => !isIn(file, "shared") || !isIn(from, "shared") || layerOf(from) <= layerOf(file))).toEqual([
    // A task that gets the API's own error decides whether to retry.
    "shared/platform/task-errors.ts → shared/api/errors.ts",
  ]);
});

/** The files that reach themselves by their imports, those of types among them. */
function inCircles(): string[] {
  const importsOf = Map.groupBy(imports, ({ file }) => file);
  return [...importsOf.keys()].filter((start) => {
    const reached = new Set<string>();
    const next = [start];
    for (let file = next.pop(); file !== undefined; file = next.pop())
      for (const { from } of importsOf.get(file) ?? [])
        if (!reached.has(from)) {
          reached.add(from);
          next.push(from);
        }
    return reached.has(start);
  });
}

test("no files import each other in a circle", () => {
  expect(inCircles()).toEqual([]);
});

test("functions, infra and dashboard import shared and never each other, except that infra reads the workflow tables", () => {
  for (const folder of ["functions", "infra", "dashboard"])
    expect(
      breaking(
        ({ file, from }) =>
          !isIn(file, folder) || !isOurs(from) || isIn(from, "shared", folder) || (folder === "infra" && isWorkflow(from)),
      ),
    ).toEqual([]);
});

test("whatever the dashboard imports makes it be built again", () => {
  const reached = new Set(globSync("dashboard/src/**/*.{ts,tsx}"));
  for (const file of reached) for (const each of imports) if (each.file === file && isOurs(each.from)) reached.add(each.from);
  expect(reached.size).toBeGreaterThan(200);
  expect([...reached].filter((file) => !SOURCES.some((source) => file === source || isIn(file, source)))).toEqual([]);
});

test("shared/api and shared/domain are pure: they import zod, each other, three modules for IDs and texts, and the cron parser", () => {
  const pure = ["shared/api", "shared/domain"];
  const alsoInDomain = ["node:crypto", "node:zlib", "croner"];
  expect(
    breaking(
      ({ file, from }) =>
        !isIn(file, ...pure) ||
        isIn(from, ...pure) ||
        from === "zod" ||
        (isIn(file, "shared/domain") && alsoInDomain.includes(from)),
    ),
  ).toEqual([]);
});

test("shared/api imports nothing that a browser cannot run", () => {
  const rules = new Set(imports.filter(({ file }) => isIn(file, "shared/api")).map(({ from }) => from));
  const impure = imports
    .filter(({ file, from }) => isIn(file, "shared/domain") && from.startsWith("node:"))
    .map(({ file }) => file);
  expect(impure.filter((file) => rules.has(file))).toEqual([]);
});

test("only the data layer talks to DynamoDB", () => {
  expect(breaking(({ file, from }) => from !== "@aws-sdk/lib-dynamodb" || isIn(file, "shared/data"))).toEqual([]);
});

test("every AWS client takes its timeouts from one place", () => {
  const clients = globSync("{shared,functions}/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/new (?:sdk\.)?\w+Client\(((?:[A-Z]+_)?CALLS\)|\{[^}]*\.\.\.(?:ARCHIVE_)?CALLS\b)?/g)]
      .filter(([match]) => !match.startsWith("new Client("))
      .map(([, calls]) => ({ file, bounded: calls !== undefined })),
  );
  expect(clients.length).toBeGreaterThanOrEqual(6);
  expect(clients.filter(({ bounded }) => !bounded)).toEqual([]);
});

test("zod is imported as a namespace, which bundles small", () => {
  const files = globSync("{shared,functions,infra}/**/*.ts").filter((file) =>
    /^import (?!type \* as z from|\* as z from)[^;]*from "zod"/m.test(readFileSync(file, "utf8")),
  );
  expect(files).toEqual([]);
});

test("the folders of the dashboard import in one direction: shell, pages, then their parts", () => {
  const order = [
    "messages",
    "session",
    "app",
    "resource",
    "operations",
    "alerts",
    "metrics",
    "allowed",
    "bulk",
    "ssh-keys",
    "servers",
  ];
  order.push("uploads", "backups", "policies", "code", "instances", "tokens", "people", "webhooks", "events", "settings");
  order.push("home", "login", "shell");
  const placeOf = (place: string): number => {
    const [, folder = "", below] = /^dashboard\/src\/([^/]+)(\/.+)?$/.exec(place) ?? [];
    return below === undefined ? order.length : order.indexOf(folder);
  };
  const within = imports.filter(({ file, from }) => isIn(file, "dashboard/src") && isIn(from, "dashboard/src"));
  expect(within.filter(({ file }) => placeOf(file) === -1).map(({ file }) => file)).toEqual([]);
  expect(within.filter(({ file, from }) => placeOf(from) > placeOf(file))).toEqual([]);
});
