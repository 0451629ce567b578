// The statements of a dump in the sandbox: which of them are about the server that it comes from. The same tables decide as on a
// machine, in the same order (script/files/statements.py). Of what is left, a sandbox's dump has nothing but its own tables.
import type { LeftOutKind } from "../../domain/left-out.ts";
import { because } from "../../domain/reasons.ts";
import type { LeftOut } from "../host.ts";
import { SERVER_STATEMENTS, STATEMENT_FORMS } from "../server-statements.ts";
import { Unusable } from "./layout.ts";

/** The dump without its comments, and without the statements that are about its server, which are counted and named. */
export function leaveOut(dump: string): { kept: string; left_out: LeftOut[] } {
  const leftOut = new Map<string, LeftOut>();
  const kept: string[] = [];
  const seen: Seen = { begun: false, connected: undefined, relations: new Set(), gone: new Map(), goneExtensions: [] };
  for (const { text, outline } of statementsOf(dump)) {
    const kind = classify(seen, outline, text);
    if (kind === undefined) kept.push(text);
    else if (kind !== "here") note(leftOut, kind, outline);
  }
  return { kept: kept.join("\n"), left_out: [...leftOut.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)) };
}

const form = (pattern: string): RegExp => new RegExp(pattern, "i");
const TABLE = SERVER_STATEMENTS.map(({ kind, pattern }) => ({ kind, pattern: form(pattern) }));
const ABOUT = STATEMENT_FORMS.about.map(form);
const [ROWS_OF, POSITION, EXTENSION, SETTING] = [
  form(STATEMENT_FORMS.rows),
  form(STATEMENT_FORMS.position),
  form(STATEMENT_FORMS.extension),
  form(STATEMENT_FORMS.setting),
];
const [PUBLIC, REMOVAL, RELATION, IDENTITY] = [
  form(STATEMENT_FORMS.public_schema),
  form(STATEMENT_FORMS.removal),
  form(STATEMENT_FORMS.relation),
  form(STATEMENT_FORMS.identity),
];
const [POLICY, VIEW] = [form(STATEMENT_FORMS.policy), form(STATEMENT_FORMS.view)];
const NAMES = new RegExp(STATEMENT_FORMS.name, "g");
const SESSION = /^(?:\\(?:un)?restrict |SELECT pg_catalog\.set_config\()/i;

/** What the sandbox's database server has. */
const EXTENSIONS: ReadonlySet<string> = new Set(["plpgsql", "vector", "pg_trgm", "unaccent"]);
/** Of a real server's, which knows some 360, those that a client may set and a dump may name. */
const SETTINGS: ReadonlySet<string> = new Set(
  (
    "application_name array_nulls backslash_quote bytea_output check_function_bodies client_connection_check_interval client_encoding " +
    "client_min_messages commit_delay constraint_exclusion cursor_tuple_fraction datestyle default_statistics_target " +
    "default_table_access_method default_tablespace default_text_search_config default_toast_compression " +
    "default_transaction_deferrable default_transaction_isolation default_transaction_read_only effective_cache_size " +
    "escape_string_warning exit_on_error extra_float_digits from_collapse_limit gin_fuzzy_search_limit " +
    "idle_in_transaction_session_timeout idle_session_timeout intervalstyle jit join_collapse_limit lc_messages lc_monetary " +
    "lc_numeric lc_time lo_compat_privileges lock_timeout log_min_messages log_statement maintenance_work_mem " +
    "max_parallel_workers_per_gather quote_all_identifiers random_page_cost row_security search_path seq_page_cost " +
    "session_replication_role standard_conforming_strings statement_timeout synchronize_seqscans synchronous_commit temp_buffers " +
    "temp_tablespaces timezone timezone_abbreviations transform_null_equals vacuum_cost_delay work_mem xmlbinary xmloption"
  ).split(" "),
);

type Kind = LeftOutKind | "here" | undefined;

/** What came before a statement in its dump. What was left out decides about those that are about it. */
interface Seen {
  begun: boolean;
  connected: string | undefined;
  relations: Set<string>;
  gone: Map<string, LeftOutKind>;
  goneExtensions: string[];
}

/** Why a statement is left out: `here` if there is nothing to do for it; undefined if it is the ERP's. */
function classify(seen: Seen, outline: string, text: string): Kind {
  if (outline.startsWith("\\")) return ofCommand(seen, outline);
  const [, filled] = ROWS_OF.exec(outline) ?? [];
  if (filled !== undefined) {
    seen.begun = true;
    return ofRows(seen, filled);
  }
  const row = TABLE.find(({ pattern }) => pattern.test(outline));
  if (row !== undefined) return without(seen, outline, row.kind);
  if (!seen.begun && REMOVAL.test(outline)) return "drops";
  const [, , extension, schema] = EXTENSION.exec(outline) ?? [];
  if (extension !== undefined) return ofExtension(seen, extension, schema);
  const [, setting] = SETTING.exec(outline) ?? [];
  if (setting !== undefined) return SETTINGS.has(setting.toLowerCase()) ? "here" : "settings";
  if (PUBLIC.test(outline) || SESSION.test(outline)) return "here";
  const [, sequence] = POSITION.exec(text) ?? [];
  if (sequence !== undefined) return ofRows(seen, sequence.replaceAll("''", "'"));
  const kind = ofSubject(seen, outline);
  if (kind !== undefined) return without(seen, outline, kind);
  const [, created] = RELATION.exec(outline) ?? IDENTITY.exec(outline) ?? [];
  if (created !== undefined) seen.relations.add(created).add(unqualified(created));
  seen.begun ||= /^CREATE /i.test(outline);
  return undefined;
}

function ofCommand(seen: Seen, line: string): Kind {
  if (TABLE.find(({ pattern }) => pattern.test(line))?.kind !== "databases") return SESSION.test(line) ? "here" : undefined;
  if (seen.begun && seen.connected !== line) throw new Unusable(because("archive_pg_dumpall"));
  seen.connected = line;
  return "databases";
}

/** Rows of a table that the dump does not create are those of an extension. In doubt they are loaded. */
const ofRows = ({ goneExtensions, relations }: Seen, relation: string): Kind =>
  goneExtensions.length === 0 || relations.has(unqualified(relation)) ? undefined : "extension_data";

function ofExtension({ goneExtensions }: Seen, quoted: string, schema = "public"): Kind {
  const name = quoted.replaceAll('"', "");
  if (EXTENSIONS.has(name)) return "here";
  goneExtensions.push(`${schema}.${name}`);
  return "extensions";
}

/** Why what a statement is about was left out. */
function ofSubject({ gone, goneExtensions, relations }: Seen, outline: string): LeftOutKind | undefined {
  const about = ABOUT.map((each) => each.exec(outline)?.[1]).find((name) => name !== undefined);
  const names = VIEW.test(outline) ? (outline.match(NAMES) ?? []) : about === undefined ? [] : [about];
  for (const name of names) {
    const table = name.slice(0, Math.max(0, name.lastIndexOf("."))); // of a column
    const isOwn = relations.has(name) || relations.has(table);
    const isExtension = !isOwn && goneExtensions.some((each) => name.startsWith(each));
    const kind = gone.get(name) ?? gone.get(table) ?? (isExtension ? "extensions" : undefined);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function without({ gone }: Seen, outline: string, kind: LeftOutKind): LeftOutKind {
  const name = (RELATION.exec(outline) ?? POLICY.exec(outline))?.[1];
  if (name !== undefined) gone.set(name, kind);
  return kind;
}

const unqualified = (name: string): string =>
  (name.split(/\.(?=(?:"(?:[^"]|"")*"|[^".]+)$)/).at(-1) ?? name).replace(/^"+|"+$/g, "");

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
