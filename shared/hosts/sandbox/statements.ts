// The statements of a dump in the sandbox: which of them are about the server that it comes from. The same tables decide as on a
// machine, in the same order (script/files/statements.py). Of what is left, a sandbox's dump has nothing but its own tables.
import type { LeftOutKind } from "../../domain/left-out.ts";
import { because } from "../../domain/reasons.ts";
import type { LeftOut } from "../host.ts";
import { FUNCTION_HEAD, LANGUAGES, LEAVING, SERVER_STATEMENTS, SETTINGS, STATEMENT_FORMS } from "../server-statements.ts";
import { Unusable } from "./layout.ts";

/** The dump without its comments, and without the statements that are about its server, which are counted and named. */
export function filterDump(dump: string): { sql: string; left_out: LeftOut[] } {
  const leftOut = new Map<string, LeftOut>();
  const statements: string[] = [];
  const history: History = {
    hasBegun: false,
    connected: undefined,
    token: undefined,
    relations: new Set(),
    unqualified: new Set(),
    goneRelations: new Map(),
    goneObjects: new Map(),
    functions: new Set(),
    goneFunctions: new Map(),
    goneExtensions: [],
    namesExtensions: false,
    languages: new Set(LANGUAGES),
  };
  for (const statement of statementsOf(dump)) {
    const { text } = statement;
    const outline = unquoted(statement.outline);
    const kind = classify(history, { ...statement, outline });
    const isKept = kind === undefined || (kind === "here" && !RESTRICT.test(outline));
    const command = isKept && !SESSION.test(outline) ? findLeaving(statement) : undefined;
    if (command !== undefined) throw new Unusable(because("archive_leaves_database", { command }));
    if (kind === undefined) statements.push(FUNCTION.test(outline) ? withoutPrivileges(leftOut, text) : text);
    else if (kind !== "here") note(leftOut, kind, outline);
  }
  return { sql: statements.join("\n"), left_out: [...leftOut.values()].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)) };
}

const form = (pattern: string): RegExp => new RegExp(pattern, "i");
const TABLE = SERVER_STATEMENTS.map(({ kind, pattern }) => ({ kind, pattern: form(pattern) }));
const ABOUT = STATEMENT_FORMS.about.map(form);
const [ROWS_OF, POSITION, EXTENSION, LANGUAGE, SETTING] = [
  form(STATEMENT_FORMS.rows),
  form(STATEMENT_FORMS.position),
  form(STATEMENT_FORMS.extension),
  form(STATEMENT_FORMS.language),
  form(STATEMENT_FORMS.setting),
];
const [PUBLIC, REMOVAL, RELATION, IDENTITY] = [
  form(STATEMENT_FORMS.public_schema),
  form(STATEMENT_FORMS.removal),
  form(STATEMENT_FORMS.relation),
  form(STATEMENT_FORMS.identity),
];
const [POLICY, INDEX, OBJECT, AGGREGATE, TRIGGER_NAME] = [
  form(STATEMENT_FORMS.policy),
  form(STATEMENT_FORMS.index),
  form(STATEMENT_FORMS.object),
  form(STATEMENT_FORMS.aggregate),
  form(STATEMENT_FORMS.trigger_name),
];
const [MADE_OF, MADE_OF_FUNCTIONS, OPERATOR_CLASS] = [
  form(STATEMENT_FORMS.made_of),
  form(STATEMENT_FORMS.made_of_functions),
  form(STATEMENT_FORMS.operator_class),
];
const ABOUT_OBJECT = STATEMENT_FORMS.about_object.map(form);
const [ABOUT_TRIGGER, ALTERED_TRIGGER] = [form(STATEMENT_FORMS.about_trigger), form(STATEMENT_FORMS.altered_trigger)];
const [FUNCTION, ABOUT_FUNCTION, TRIGGER] = [
  form(STATEMENT_FORMS.function),
  form(STATEMENT_FORMS.about_function),
  form(STATEMENT_FORMS.trigger),
];
const NAMES = new RegExp(STATEMENT_FORMS.name, "g");
const SEARCH_NAMES = new RegExp(STATEMENT_FORMS.search_name, "gi");
const [HEAD, PLANNER] = [form(FUNCTION_HEAD.head), new RegExp(FUNCTION_HEAD.planner)];
const [ATTRIBUTES, HEAD_SETTINGS] = [new RegExp(FUNCTION_HEAD.attribute, "gi"), new RegExp(FUNCTION_HEAD.setting, "gi")];
const SESSION = /^SELECT pg_catalog\.set_config\(/i;
const RESTRICT = form(STATEMENT_FORMS.restrict);
const NEEDLESS_QUOTES = new RegExp(STATEMENT_FORMS.needless_quotes, "g");
const unquoted = (text: string): string => text.replaceAll(NEEDLESS_QUOTES, "$1");

/** What the sandbox's database server has. */
const EXTENSIONS: ReadonlySet<string> = new Set(["plpgsql", "vector", "pg_trgm", "unaccent"]);

type Kind = LeftOutKind | "here" | undefined;

/** What came before a statement in its dump. What was left out decides about those that are about it. */
interface History {
  hasBegun: boolean;
  connected: string | undefined;
  /** The token of the dump that is being read: see STATEMENT_FORMS.restrict. */
  token: string | undefined;
  relations: Set<string>;
  /** Created without a schema, which is the one of `search_path` then. */
  unqualified: Set<string>;
  goneRelations: Map<string, LeftOutKind>;
  /** Neither relations nor functions: a table may have the same name. */
  goneObjects: Map<string, LeftOutKind>;
  /** Those with a name, and those without parameters as `f()`: as in script/files/statements.py. */
  functions: Set<string>;
  goneFunctions: Map<string, LeftOutKind>;
  goneExtensions: string[];
  namesExtensions: boolean;
  languages: Set<string>;
}

/** Why a statement is left out: `here` if there is nothing to do for it; undefined if it is the ERP's. */
function classify(history: History, statement: Statement): Kind {
  const { outline, text } = statement;
  if (outline.startsWith("\\")) return ofCommand(history, outline);
  const [, filled] = ROWS_OF.exec(outline) ?? [];
  if (filled !== undefined) {
    history.hasBegun = true;
    return ofRows(history, filled);
  }
  const row = TABLE.find(({ pattern }) => pattern.test(outline));
  if (row !== undefined) return without(history, outline, row.kind);
  if (!history.hasBegun && REMOVAL.test(outline)) return "drops";
  const [, , extension, schema] = EXTENSION.exec(outline) ?? [];
  if (extension !== undefined) return ofExtension(history, extension, schema);
  const [, created, bare] = FUNCTION.exec(outline) ?? [];
  if (created !== undefined) return ofFunction(history, statement, bare === undefined ? [created] : [created, `${created}()`]);
  const [, setting] = SETTING.exec(outline) ?? [];
  if (setting !== undefined) return SETTINGS.includes(setting.toLowerCase()) ? "here" : "settings";
  if (PUBLIC.test(outline) || SESSION.test(outline)) return "here";
  const [, sequence] = POSITION.exec(text) ?? [];
  if (sequence !== undefined) return ofRows(history, unquoted(sequence.replaceAll("''", "'")));
  const kind = ofSubject(history, outline, text);
  if (kind !== undefined) return without(history, outline, kind);
  const [, aggregate] = AGGREGATE.exec(outline) ?? [];
  if (aggregate !== undefined) history.functions.add(aggregate);
  const [, relation] = RELATION.exec(outline) ?? IDENTITY.exec(outline) ?? [];
  if (relation !== undefined) {
    history.relations.add(relation).add(unqualified(relation));
    if (isUnqualified(relation)) history.unqualified.add(unqualified(relation));
  }
  history.hasBegun ||= /^CREATE /i.test(outline);
  return undefined;
}

function ofCommand(history: History, line: string): Kind {
  const [, ends, token] = RESTRICT.exec(line) ?? [];
  if (token !== undefined && history.token === (ends && token)) {
    history.token = ends === undefined ? token : undefined;
    return "here";
  }
  if (TABLE.find(({ pattern }) => pattern.test(line))?.kind !== "databases") return undefined;
  if (history.hasBegun && history.connected !== line) throw new Unusable(because("archive_pg_dumpall"));
  history.connected = line;
  return "databases";
}

/** Rows of a table that the dump does not create are those of an extension. In doubt they are loaded. */
const ofRows = ({ goneExtensions, relations, unqualified: bare }: History, relation: string): Kind =>
  goneExtensions.length === 0 ||
  relations.has(isUnqualified(relation) ? unqualified(relation) : relation) ||
  bare.has(unqualified(relation))
    ? undefined
    : "extension_data";

function ofExtension(history: History, quoted: string, schema = "public"): Kind {
  const { goneExtensions, languages } = history;
  const name = quoted.replaceAll('"', "");
  history.namesExtensions = true;
  if (EXTENSIONS.has(name)) {
    languages.add(name);
    return "here";
  }
  goneExtensions.push(`${schema}.${name}`);
  return "extensions";
}

function ofFunction(history: History, statement: Statement, keys: readonly string[]): Kind {
  const kind = ofCreated(history, statement);
  if (kind !== undefined) {
    for (const key of keys) history.goneFunctions.set(key, kind);
    return kind;
  }
  history.hasBegun = true;
  for (const key of keys) {
    history.functions.add(key);
    history.goneFunctions.delete(key);
  }
  return undefined;
}

/** Why a function is left out. */
function ofCreated({ languages }: History, statement: Statement): LeftOutKind | undefined {
  const [, , language] = LANGUAGE.exec(statement.outline) ?? [];
  if (language !== undefined && !languages.has(language.toLowerCase())) return "languages";
  return findLeaving(statement, 1) === undefined ? undefined : "functions";
}

/** The function without what only a superuser may say in its head. */
function withoutPrivileges(leftOut: Map<string, LeftOut>, text: string): string {
  return text.replace(HEAD, (_, begin: string, head: string) => {
    const remove = (kind: LeftOutKind, clause: string): string => {
      const [{ outline } = { outline: "" }] = statementsOf(`${begin} ${clause}`);
      note(leftOut, kind, unquoted(outline));
      return "";
    };
    const rest = head
      .replaceAll(ATTRIBUTES, (clause) => remove("functions", clause))
      .replaceAll(HEAD_SETTINGS, (clause, quoted: string) => {
        const name = quoted.replaceAll('"', "").toLowerCase();
        return SETTINGS.includes(name) || PLANNER.test(name) ? clause : remove("settings", clause);
      });
    return begin + rest;
  });
}

/** Why what a statement is about was left out. */
function ofSubject(history: History, outline: string, text: string): LeftOutKind | undefined {
  const [madeOf] = MADE_OF.exec(outline) ?? [];
  if (madeOf !== undefined) return ofParts(history, outline, madeOf.length, text);
  const [, described] = ABOUT_FUNCTION.exec(outline) ?? [];
  if (described !== undefined) return ofGoneFunction(history, described, described);
  const [, altered, name] = ALTERED_TRIGGER.exec(outline) ?? [];
  const [, trigger = name, table = altered] = ABOUT_TRIGGER.exec(outline) ?? [];
  if (trigger !== undefined) return history.goneObjects.get(`${trigger} ON ${table}`) ?? ofGoneRelation(history, table);
  const [, called] = TRIGGER.exec(outline) ?? [];
  return (
    firstOf(ABOUT_OBJECT, (each) => history.goneObjects.get(each.exec(outline)?.[1] ?? "")) ??
    firstOf(ABOUT, (each) => ofGoneRelation(history, each.exec(outline)?.[1])) ??
    (called === undefined ? undefined : ofGoneFunction(history, called, `${called}()`))
  );
}

function firstOf<T>(all: Iterable<T>, kindOf: (one: T) => LeftOutKind | undefined): LeftOutKind | undefined {
  for (const one of all) {
    const kind = kindOf(one);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Checks all that a view, an index, an operator and the like is made of. They may call any of the functions of a name. */
function ofParts(history: History, outline: string, start: number, text: string): LeftOutKind | undefined {
  const { functions, relations, goneObjects } = history;
  const [calls, isIndex] = [MADE_OF_FUNCTIONS.test(outline), INDEX.test(outline)];
  return (
    firstOf(outline.slice(start).matchAll(NAMES), ({ 0: name, index }) => {
      const isCall = outline[start + index + name.length] === "(";
      const called = (calls || isCall) && !functions.has(name) ? ofGoneFunction(history, name, name) : undefined;
      if (isCall || called !== undefined) return called;
      const kind = ofGoneRelation(history, name) ?? (relations.has(name) ? undefined : goneObjects.get(name));
      return kind ?? (isIndex && !relations.has(name) && lacksOperatorClass(history, name) ? "extensions" : undefined);
    }) ??
    firstOf(unquoted(text).matchAll(SEARCH_NAMES), ([, name = ""]) => goneObjects.get(name) ?? ofGoneRelation(history, name))
  );
}

/** Whether it is that of an extension that was left out, or that a dump of single schemas (pg_dump -n) does not create. */
const lacksOperatorClass = ({ goneExtensions, namesExtensions }: History, name: string): boolean =>
  OPERATOR_CLASS.test(name) && (goneExtensions.length > 0 || !namesExtensions);

function ofGoneRelation({ goneRelations, goneExtensions, relations }: History, name = ""): LeftOutKind | undefined {
  const table = name.slice(0, Math.max(0, name.lastIndexOf("."))); // of a column
  const isOwn = relations.has(name) || relations.has(table);
  const isExtension = !isOwn && goneExtensions.some((each) => name.startsWith(each));
  return goneRelations.get(name) ?? goneRelations.get(table) ?? (isExtension ? "extensions" : undefined);
}

function ofGoneFunction(history: History, name: string, key: string): LeftOutKind | undefined {
  const isExtension = !history.functions.has(name) && history.goneExtensions.some((each) => name.startsWith(each));
  return history.goneFunctions.get(key) ?? (isExtension ? "extensions" : undefined);
}

function without({ goneRelations, goneObjects, goneFunctions }: History, outline: string, kind: LeftOutKind): LeftOutKind {
  const relation = (RELATION.exec(outline) ?? POLICY.exec(outline))?.[1];
  const [, index, indexed = ""] = INDEX.exec(outline) ?? [];
  const [, trigger, table] = TRIGGER_NAME.exec(outline) ?? [];
  const [, aggregate] = AGGREGATE.exec(outline) ?? [];
  const [, object] = OBJECT.exec(outline) ?? [];
  if (relation !== undefined) goneRelations.set(relation, kind);
  if (index !== undefined) {
    goneObjects.set(`${indexed.slice(0, indexed.length - lastPart(indexed).length)}${index}`, kind);
    goneObjects.set(`${indexed} CLUSTER ON ${index}`, kind);
  }
  if (trigger !== undefined) goneObjects.set(`${trigger} ON ${table}`, kind);
  if (aggregate !== undefined) goneFunctions.set(aggregate, kind);
  if (object !== undefined) goneObjects.set(object, kind);
  return kind;
}

const lastPart = (name: string): string => name.split(/\.(?=(?:"(?:[^"]|"")*"|[^".]+)$)/).at(-1) ?? name;
const isUnqualified = (name: string): boolean => lastPart(name) === name;
const unqualified = (name: string): string => lastPart(name).replace(/^"+|"+$/g, "");

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 120;

function note(leftOut: Map<string, LeftOut>, kind: string, outline: string): void {
  const { count, names }: LeftOut = leftOut.get(kind) ?? { kind, count: 0, names: [] };
  const name = outline.slice(0, NAME_CHARACTERS_MAX);
  const isNew = names.length < NAMES_MAX && !names.includes(name);
  leftOut.set(kind, { kind, count: count + 1, names: isNew ? [...names, name] : names });
}

const TOKEN =
  /(?<gap>(?:\s|--[^\n]*)+|\/\*)|(?<text>[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|\$(?<tag>[a-z_]\w*)?\$[^]*?\$\k<tag>\$)|(?<command>\\[^\n]*)|(?<end>;)|"[^"]*"|[\w$]+|[^]/giy;
/** How an outline shows a text. */
const TEXT = "'…'";
const ROWS = /[^\n]*\n(?:[^]*?\n)??\\\.\r?(?:\n|$)/y;

interface Statement {
  text: string;
  /** The statement on one line, without texts and comments. */
  outline: string;
  /** Its texts in dollars. */
  bodies: string[];
  /** psql's, up to the end of its line. */
  command: string | undefined;
}

/** Each with its rows. */
function* statementsOf(dump: string): Generator<Statement> {
  let [begin, outline, at, depth] = [0, "", 0, 0];
  let bodies: string[] = [];
  let command: string | undefined;
  while (at < dump.length) {
    TOKEN.lastIndex = at;
    const { 0: token = "", groups = {} } = TOKEN.exec(dump) ?? {};
    at = token === "/*" ? endOfComment(dump, at) : at + token.length;
    command ??= groups["command"];
    const isCommand = outline === "" && groups["command"] !== undefined;
    if (groups["gap"] !== undefined) {
      if (outline === "") begin = at;
      else if (!outline.endsWith(" ")) outline += " ";
    } else {
      if (groups["text"]?.startsWith("$") === true) bodies.push(token.replaceAll(/^\$\w*\$|\$\w*\$$/g, ""));
      outline += groups["text"] === undefined ? token : /^[eE]?''$/.test(token) ? "''" : TEXT;
      depth = Math.max(0, depth + nesting(token, outline));
    }
    if ((groups["end"] !== undefined && depth === 0) || isCommand) {
      outline = outline.replace(/\s*;?\s*$/, "");
      if (/^COPY .* FROM STDIN\b/i.test(outline)) at += rowsAt(dump, at).length;
      yield { text: dump.slice(begin, at).trimEnd(), outline, bodies, command };
      [begin, outline, bodies, command] = [at, "", [], undefined];
    }
  }
  if (outline !== "") yield { text: dump.slice(begin), outline: outline.trim(), bodies, command };
}

/** Comments may contain others. */
function endOfComment(dump: string, begin: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = begin;
  let depth = 0;
  for (let match = mark.exec(dump); match !== null; match = mark.exec(dump)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return dump.length;
}

function rowsAt(dump: string, at: number): string {
  ROWS.lastIndex = at;
  const [rows = ""] = ROWS.exec(dump) ?? [];
  if (rows.slice(0, rows.indexOf("\n")).trim() !== "") throw new Unusable(because("archive_no_pg_dump"));
  return rows;
}

const DEPTH_MAX = 5;
const COMMAND_CHARACTERS_MAX = 40;
const [BODY, MENTION, COPY, FILE] = [form(LEAVING.body), form(LEAVING.about), form(LEAVING.copy), form(LEAVING.file)];
const [COMMAND, UNTRUSTED, CALL] = [form(LEAVING.command), form(LEAVING.language), form(LEAVING.call)];
const TABLE_NAMES = new RegExp(LEAVING.table, "gi");

/** What in a statement, or in the statements of its body, leaves the database: as Scan in script/files/dump.py. */
function findLeaving({ outline, bodies, command }: Statement, depth = 0): string | undefined {
  const words = outline.replaceAll(TEXT, "''");
  // In psql's eyes, a body is text.
  if (depth === 0 && command !== undefined) return command.slice(0, COMMAND_CHARACTERS_MAX).trim();
  const isBody = BODY.test(words);
  const copy = COPY.exec(words);
  const file = copy && FILE.exec(words.slice(copy.index + copy[0].length));
  if (copy && file) return words.slice(copy.index, copy.index + copy[0].length + file.index + file[0].length).trim();
  const match =
    (MENTION.test(words) ? null : CALL.exec(words.replaceAll(TABLE_NAMES, ""))) ??
    COMMAND.exec(words) ??
    (isBody ? UNTRUSTED.exec(words) : null);
  if (match !== null || !isBody || depth === DEPTH_MAX) return match?.[0].trim();
  for (const body of bodies)
    for (const statement of statementsOf(body)) {
      const inside = findLeaving(statement, depth + 1);
      if (inside !== undefined) return inside;
    }
  return undefined;
}

/** Statements of a rule are in parentheses, those of a function since PostgreSQL 14 between `begin` and `end`. */
function nesting(token: string, outline: string): number {
  if (/^[()]$/.test(token)) return token === "(" ? 1 : -1;
  if (!/^(?:begin|case|end)$/i.test(token) || !/^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b.* BEGIN\b/i.test(outline))
    return 0;
  return /^end$/i.test(token) ? -1 : 1;
}
