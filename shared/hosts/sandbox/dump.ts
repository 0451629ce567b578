// Writes an ERP's database as plain SQL, like pg_dump, and parses it again; anything unexpected is an error.
import { ErpDatabase } from "../../providers/sandbox/machines.ts";
import type { LeftOut } from "../host.ts";
import { filterDump } from "./statements.ts";

/** The tables of the dump, as in their CREATE statements. The names are the ERP's own, except `sandbox_note`. */
const TABLES = {
  ir_config_parameter: { key: "character varying NOT NULL", value: "text" },
  ir_cron: { id: "integer NOT NULL", cron_name: "character varying", active: "boolean" },
  ir_mail_server: { id: "integer NOT NULL", name: "character varying", active: "boolean" },
  res_users: { id: "integer NOT NULL", login: "character varying", password: "character varying" },
  res_users_apikeys: { id: "integer NOT NULL", user_id: "integer NOT NULL", key: "character varying" },
  ir_attachment: { id: "integer NOT NULL", name: "character varying", store_fname: "character varying" },
  ir_module_module: {
    id: "integer NOT NULL",
    name: "character varying",
    state: "character varying",
    latest_version: "character varying",
  },
  sandbox_note: { id: "integer NOT NULL", content: "text" },
} as const satisfies Record<string, Record<string, string>>;
type Table = keyof typeof TABLES;
const NAMES = Object.keys(TABLES).filter((name): name is Table => name in TABLES);

/** Older dumps lack them. */
const ADDED_LATER: ReadonlySet<Table> = new Set<Table>(["res_users_apikeys", "ir_module_module"]);

type Rows = Record<Table, string[][]>;

const HEAD = [
  "--",
  "-- PostgreSQL database dump",
  "--",
  "",
  "SET statement_timeout = 0;",
  "SET client_encoding = 'UTF8';",
  "SET standard_conforming_strings = on;",
  "SET check_function_bodies = false;",
  "SET client_min_messages = warning;",
  "SET row_security = off;",
  "",
];
const COMPLETE = "-- PostgreSQL database dump complete\n";
const FOOT = ["--", COMPLETE.trimEnd(), "--", ""];
const END_OF_ROWS = "\\.";

const formatCreate = (table: Table): string =>
  `CREATE TABLE public.${table} (${Object.entries(TABLES[table])
    .map(([column, type]) => `${column} ${type}`)
    .join(", ")});`;
const formatCopy = (table: Table): string => `COPY public.${table} (${Object.keys(TABLES[table]).join(", ")}) FROM stdin;`;

export function toDump(database: ErpDatabase): string {
  const rows = toRows(database);
  const tables = NAMES.flatMap((table) => [
    formatCreate(table),
    "",
    formatCopy(table),
    ...rows[table].map((fields) => fields.map(escapeField).join("\t")),
    END_OF_ROWS,
    "",
  ]);
  return [...HEAD, ...tables, ...FOOT].join("\n");
}

/** The rows of each table. */
export const countRows = (database: ErpDatabase): Record<string, number> =>
  Object.fromEntries(Object.entries(toRows(database)).map(([table, rows]) => [`public.${table}`, rows.length]));

/** Throws a plain error whose message says what is wrong with the dump. */
export function fromDump(dump: string): { database: ErpDatabase; left_out: LeftOut[] } {
  if (!dump.includes(COMPLETE)) throw new Error("the dump is truncated");
  const { sql, left_out } = filterDump(dump);
  return { database: fromStatements(sql), left_out };
}

function fromStatements(dump: string): ErpDatabase {
  const lines = dump.split("\n");
  let at = 0;
  const expect = (line: string): void => {
    if (lines[at] !== line) throw new Error(`the dump has no ${line}`);
    at += 1;
  };
  const rows: Rows = {
    ir_config_parameter: [],
    ir_cron: [],
    ir_mail_server: [],
    res_users: [],
    res_users_apikeys: [],
    ir_attachment: [],
    ir_module_module: [],
    sandbox_note: [],
  };
  for (const table of NAMES) {
    if (ADDED_LATER.has(table) && lines[at] !== formatCreate(table)) continue;
    for (const line of [formatCreate(table), formatCopy(table)]) expect(line);
    const columns = Object.keys(TABLES[table]).length;
    for (; at < lines.length && lines[at] !== END_OF_ROWS; at++) {
      const fields = (lines[at] ?? "").split("\t").map(unescapeField);
      if (fields.length !== columns) throw new Error(`a row of ${table} in the dump has not ${columns} columns`);
      rows[table].push(fields);
    }
    expect(END_OF_ROWS);
  }
  if (at !== lines.length) throw new Error(`the dump has more than a sandbox's: ${lines[at]}`);
  return toDatabase(rows);
}

/** Dumps from before it was noted, and those of other hosts, lack it. */
const UPDATED_WITH = "hosting.updated_with";

function toRows(database: ErpDatabase): Rows {
  return {
    ir_config_parameter: [
      ["database.uuid", database.uuid],
      ["database.secret", database.secret],
      ["web.base.url", database.base_url],
      ["database.is_neutralized", String(database.neutralized)],
      ...(database.updated_with === null ? [] : [[UPDATED_WITH, database.updated_with]]),
    ],
    ir_cron: numbered(database.crons.map(({ name, active }) => [name, flag(active)])),
    ir_mail_server: numbered(database.mail_servers.map(({ name, active }) => [name, flag(active)])),
    res_users: numbered([
      [database.admin_login, database.admin_password_hash],
      ...database.users.map(({ login, password_hash }) => [login, password_hash]),
    ]),
    res_users_apikeys: numbered(
      database.users.flatMap(({ api_keys }, index) => api_keys.map((key) => [String(index + ADMIN_ID + 1), key])),
    ),
    ir_attachment: numbered(database.attachments.map(({ name, file }) => [name, file])),
    ir_module_module: numbered(byName(database.modules).map(([name, version]) => [name, INSTALLED, version])),
    sandbox_note: numbered([[database.data]]),
  };
}

/** The table keeps no order of a map's fields. */
export const byName = (modules: Readonly<Record<string, string>>): [name: string, version: string][] =>
  Object.entries(modules).toSorted(([a], [b]) => (a < b ? -1 : 1));

const INSTALLED = "installed";
/** States of a module whose code the ERP loads. */
const HAS_CODE: ReadonlySet<string> = new Set([INSTALLED, "to upgrade", "to remove"]);

/** The first row of the users is the administrator's. */
const ADMIN_ID = 1;

const numbered = (rows: string[][]): string[][] => rows.map((row, index) => [String(index + 1), ...row]);

function toDatabase(rows: Rows): ErpDatabase {
  const parameters = new Map(rows.ir_config_parameter.map(([key = "", value = ""]) => [key, value]));
  const parameter = (key: string): string => {
    const value = parameters.get(key);
    if (value === undefined) throw new Error(`the dump lacks the parameter ${key}`);
    return value;
  };
  const [[, admin_login, admin_password_hash] = [], ...users] = rows.res_users;
  const splitKeys = (id: string): (string | undefined)[] =>
    rows.res_users_apikeys.filter(([, userId]) => userId === id).map(([, , key]) => key);
  const [[, data] = []] = rows.sandbox_note;
  const parsed = ErpDatabase.safeParse({
    uuid: parameter("database.uuid"),
    secret: parameter("database.secret"),
    base_url: parameter("web.base.url"),
    neutralized: parameter("database.is_neutralized") === "true",
    crons: rows.ir_cron.map(([, name, active]) => ({ name, active: isOn(active) })),
    mail_servers: rows.ir_mail_server.map(([, name, active]) => ({ name, active: isOn(active) })),
    admin_login,
    admin_password_hash,
    users: users.map(([id = "", login, password_hash]) => ({ login, password_hash, api_keys: splitKeys(id) })),
    data,
    attachments: rows.ir_attachment.map(([, name, file]) => ({ name, file })),
    updated_with: parameters.get(UPDATED_WITH) ?? null,
    modules: Object.fromEntries(
      rows.ir_module_module.flatMap(([, name = "", state = "", version = ""]) => (HAS_CODE.has(state) ? [[name, version]] : [])),
    ),
  });
  if (!parsed.success) throw new Error("the dump lacks the administrator or what people wrote");
  return parsed.data;
}

const flag = (active: boolean): string => (active ? "t" : "f");

function isOn(field: string | undefined): boolean {
  if (field !== "t" && field !== "f") throw new Error("a flag of the dump is neither t nor f");
  return field === "t";
}

/** PostgreSQL's text format of COPY. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};
const MEANINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ESCAPES).map(([character, escaped]) => [escaped, character]),
);

export const escapeField = (text: string): string =>
  text.replace(/[\\\b\f\n\r\t\v]/g, (character) => ESCAPES[character] ?? character);

export const unescapeField = (field: string): string =>
  field.replace(/\\(.|$)/gs, (escaped) => {
    const character = MEANINGS[escaped];
    if (character === undefined) throw new Error(`the dump has an escape that nobody writes: ${escaped}`);
    return character;
  });
