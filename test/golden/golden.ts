// The API as committed files, so that reviews see every change of it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { type Route, routes } from "../../shared/api/index.ts";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import {
  BLOCK,
  BLOCKS_PER_LEAF,
  COUNT_ATTRIBUTES,
  BACKUP_KIND_CODES,
  ENTRY_ATTRIBUTES,
  ENTRY_LETTERS,
  PERMISSION_BITS,
  ROLE_CODES,
  POLICY_SHARDS,
  STAMP,
  OPERATION_CODES,
  STATUS_CODES,
} from "../../shared/data/codes.ts";
import { EVENT_TYPES, type EventClass } from "../../shared/domain/event-types.ts";
import { MIGRATIONS } from "../../shared/migrations/migrations.ts";
import { REASONS } from "../../shared/domain/reasons.ts";
import { SENTENCES } from "../../shared/domain/sentences.ts";
import { ID_PREFIXES } from "../../shared/domain/id-kinds.ts";
import { ERROR_TABLE, OPERATION_ERROR_TABLE } from "../../shared/api/openapi/words.ts";

/** The path of a file beside this one. */
export const inThisFolder = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const API_GUIDE = inThisFolder("../../docs/api.md");
const EVENT_GUIDE = inThisFolder("../../docs/events.md");

/** What is stored as a code, each as `table.value`: a line that was released stays as it is. */
export const CODES = "codes.json";
export const codes = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      permission: PERMISSION_BITS,
      role: ROLE_CODES,
      status: STATUS_CODES,
      backup_kind: BACKUP_KIND_CODES,
      entry_kind: ENTRY_LETTERS,
      operation: OPERATION_CODES,
      entry_attribute: ENTRY_ATTRIBUTES,
      count_attribute: COUNT_ATTRIBUTES,
      id: ID_PREFIXES,
      stamp: STAMP,
      list: { block: BLOCK, blocks_per_leaf: BLOCKS_PER_LEAF },
      policies: { shards: POLICY_SHARDS },
      reason: parametersIn({ ...SENTENCES, ...REASONS }),
      migration: Object.fromEntries(MIGRATIONS.map(({ number, name }) => [name, number])),
    }).flatMap(([table, values]) => Object.entries(values).map(([value, code]): [string, unknown] => [`${table}.${value}`, code])),
  );

/** The names of each sentence's parameters. */
const parametersIn = (templates: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(templates).map(([code, template]) => [code, [...new Set(template.match(/(?<=\{)\w+/g))].toSorted().join(" ")]),
  );

/** Those of the committed file. */
export const knownCodes = (): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(inThisFolder(CODES), "utf8")));

/** Each file and its expected content. The test environment has everything of the live one, and the sandbox. */
export const goldens: Record<string, () => string> = {
  "routes.txt": () =>
    columns(
      ["METHOD", "PATH", "FILE", "ACCESS", "RATE", "STATUS", "ONLY", "WORKFLOWS"],
      ...routes.map((route) => [
        route.method,
        route.path,
        route.entry,
        accessOf(route),
        route.rate,
        String(route.status),
        route.only ?? "-",
        route.starts.join(" ") || "-",
      ]),
    ),
  "openapi.json": () => `${JSON.stringify(openapiDocument("test"), null, 2)}\n`,
  "../../docs/events.md": () => [eventTypes("audit"), eventTypes("outcomes")].reduce(withTable, readFileSync(EVENT_GUIDE, "utf8")),
  "../../docs/api.md": () => [ERROR_TABLE, OPERATION_ERROR_TABLE, filters()].reduce(withTable, readFileSync(API_GUIDE, "utf8")),
};

function accessOf({ access, bodyPermission }: Route): string {
  if (bodyPermission === undefined) return Array.isArray(access) ? access.join(" ") : String(access);
  const values = Object.keys(bodyPermission.permissions);
  return Object.entries(Object.groupBy(values, (value) => bodyPermission.permissions[value] ?? ""))
    .map(([permission, of]) => `${permission}(${of?.join(",")})`)
    .join(" ");
}

function columns(...rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()}\n`).join("");
}

/** A text with the table that has these heads replaced, in the form that the formatter gives to tables. */
function withTable(text: string, [head = [], ...rows]: readonly string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill = " ") =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  const present = new RegExp(`^\\| ${head.join(" +\\| ")} +\\|\n(?:\\|.*\n)+`, "m");
  if (!present.test(text)) throw new Error(`A page of docs has no table ${head.join(", ")}`);
  return text.replace(present, () => [line(head), line(head.map(() => "-"), "-"), ...rows.map((row) => line(row))].join(""));
}

/** The types of a class of events. */
const eventTypes = (of: EventClass): string[][] => [
  [of === "audit" ? "Type in the audit log" : "Type of outcome", "What has happened"],
  ...Object.entries(EVENT_TYPES)
    .filter(([, each]) => each.class === of)
    .map(([type, { text }]) => [`\`${type}\``, text]),
];

/** What each list can be filtered by. */
function filters(): string[][] {
  const paging = new Set(["page", "per_page", "cursor"]);
  const lists = routes
    .filter(({ list }) => list)
    .map(({ path }) => ({
      path: `\`${path}\``,
      filters: (openapiDocument("test").paths[path.replace(":id", "{id}")]?.get?.parameters ?? []).flatMap((parameter) =>
        "name" in parameter && parameter.in === "query" && !paging.has(parameter.name) ? [`\`${parameter.name}\``] : [],
      ),
    }));
  const unfiltered = lists.filter((list) => list.filters.length === 0).map(({ path }) => path);
  const filtered = lists.filter((list) => list.filters.length > 0).map((list) => [list.path, list.filters.join(", ")]);
  return [["List", "Filters"], ...filtered, ...(unfiltered.length > 0 ? [[unfiltered.join(", "), "none"]] : [])];
}
