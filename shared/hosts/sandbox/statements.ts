// The statements of a dump in the sandbox: which of them are about the server that it comes from. The same table decides as on a
// machine (script/files/statements.py). Of what is left, a sandbox's dump has nothing but its own tables.
import type { LeftOut } from "../host.ts";
import { SERVER_STATEMENTS } from "../server-statements.ts";

/** The dump without its comments, and without the statements that are about its server, which are counted and named. */
export function leaveOut(dump: string): { kept: string; left_out: LeftOut[] } {
  const leftOut = new Map<string, LeftOut>();
  const kept: string[] = [];
  for (const { text, outline } of statementsOf(dump)) {
    const kind = classify(outline, kept.length === 0);
    if (kind === undefined) kept.push(text);
    else if (kind !== "here") note(leftOut, kind, outline);
  }
  return { kept: kept.join("\n"), left_out: [...leftOut.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)) };
}

const TABLE = SERVER_STATEMENTS.map(({ kind, pattern }) => ({ kind, pattern: new RegExp(pattern, "i") }));
const EXTENSION = /^(?:CREATE|ALTER|COMMENT ON) EXTENSION (?:IF NOT EXISTS )?"?([\w-]+)"?/i;
const SETTING = /^SET (?:(?:SESSION|LOCAL) )?(\w+) (?:=|TO) /i;
const OF_EACH_DUMP = /^(?:\\(?:un)?restrict |CREATE SCHEMA "?public"?$|SELECT pg_catalog\.set_config\()/i;

/** What the sandbox's database server has. */
const EXTENSIONS: ReadonlySet<string> = new Set(["plpgsql", "vector", "pg_trgm", "unaccent"]);
const SETTINGS: ReadonlySet<string> = new Set([
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
  "client_encoding",
  "standard_conforming_strings",
  "check_function_bodies",
  "xmloption",
  "client_min_messages",
  "row_security",
  "default_tablespace",
  "default_table_access_method",
]);

/** Why a statement is left out: `here` if there is nothing to do for it; undefined if it is the ERP's. */
function classify(outline: string, isFirst: boolean): string | undefined {
  const row = TABLE.find(({ pattern }) => pattern.test(outline));
  if (row !== undefined) return row.kind;
  if (isFirst && /^(?:DROP|ALTER)\b/i.test(outline)) return "drops";
  const [, extension] = EXTENSION.exec(outline) ?? [];
  if (extension !== undefined) return EXTENSIONS.has(extension) ? "here" : "extensions";
  const [, setting] = SETTING.exec(outline) ?? [];
  if (setting !== undefined) return SETTINGS.has(setting.toLowerCase()) ? "here" : "settings";
  return OF_EACH_DUMP.test(outline) ? "here" : undefined;
}

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 120;

function note(leftOut: Map<string, LeftOut>, kind: string, outline: string): void {
  const { count, names }: LeftOut = leftOut.get(kind) ?? { kind, count: 0, names: [] };
  const name = outline.slice(0, NAME_CHARACTERS_MAX);
  const isNew = names.length < NAMES_MAX && !names.includes(name);
  leftOut.set(kind, { kind, count: count + 1, names: isNew ? [...names, name] : names });
}

const TOKEN =
  /(?<gap>(?:\s|--[^\n]*|\/\*[^]*?\*\/)+)|(?<text>[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|\$(?<tag>[a-z_]\w*)?\$[^]*?\$\k<tag>\$)|(?<command>\\[^\n]*)|(?<end>;)|"[^"]*"|[\w$]+|[^]/giy;
const ROWS = /[^\n]*\n(?:[^]*?\n)??\\\.\r?(?:\n|$)/y;

/** Each with its rows, and on one line without texts and comments. */
function* statementsOf(dump: string): Generator<{ text: string; outline: string }> {
  let [begin, outline, at, depth] = [0, "", 0, 0];
  while (at < dump.length) {
    TOKEN.lastIndex = at;
    const { 0: token = "", groups = {} } = TOKEN.exec(dump) ?? {};
    at += token.length;
    const isCommand = outline === "" && groups["command"] !== undefined;
    if (groups["gap"] !== undefined) {
      if (outline === "") begin = at;
      else outline += " ";
    } else {
      outline += groups["text"] === undefined ? token : /^[eE]?''$/.test(token) ? "''" : "'…'";
      depth = Math.max(0, depth + nesting(token, outline));
    }
    if ((groups["end"] !== undefined && depth === 0) || isCommand) {
      outline = outline.replace(/\s*;?\s*$/, "");
      ROWS.lastIndex = at;
      if (/^COPY .* FROM STDIN\b/i.test(outline)) at += (ROWS.exec(dump)?.[0] ?? "").length;
      yield { text: dump.slice(begin, at).trimEnd(), outline };
      [begin, outline] = [at, ""];
    }
  }
  if (outline !== "") yield { text: dump.slice(begin), outline: outline.trim() };
}

/** Statements of a rule are in parentheses, those of a function since PostgreSQL 14 between `begin` and `end`. */
function nesting(token: string, outline: string): number {
  if (/^[()]$/.test(token)) return token === "(" ? 1 : -1;
  if (!/^(?:begin|case|end)$/i.test(token) || !/^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b.* BEGIN\b/i.test(outline))
    return 0;
  return /^end$/i.test(token) ? -1 : 1;
}
