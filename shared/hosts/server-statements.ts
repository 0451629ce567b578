// Which statements of a dump are about the server that it comes from, not about the ERP: they are left out, counted and named.
// Everything else is the ERP's, and loaded strictly. It covers what pg_dump 12 to 18 can write. The program on a machine and the
// sandbox both read this table.
//
// Patterns are matched, case ignored, against a statement on one line without its semicolon and comments; texts in it are '…',
// empty ones ''. They are written for both Python and JavaScript. What depends on more than the statement is decided in
// script/files/statements.py and sandbox/statements.ts by STATEMENT_FORMS: extensions, languages, settings, what a dump drops
// before it creates anything, and what belongs to something that was left out.
import type { LeftOutKind } from "../domain/left-out.ts";

const NAME = String.raw`(?:"(?:[^"]|"")*"|[^\s".;,()]+)(?:\.(?:"(?:[^"]|"")*"|[^\s".;,()]+))*`;
const of = (objectTypes: string): string => String.raw`^(?:CREATE|ALTER|DROP|COMMENT ON) (?:${objectTypes})\b`;

/** The first row that matches decides. */
export const SERVER_STATEMENTS: readonly { kind: LeftOutKind; pattern: string }[] = [
  { kind: "privileges", pattern: String.raw`^(?:GRANT|REVOKE|ALTER DEFAULT PRIVILEGES)\b` },
  { kind: "security_labels", pattern: String.raw`^SECURITY LABEL\b` },
  { kind: "owners", pattern: String.raw`^ALTER .+ OWNER TO ${NAME}$` },
  { kind: "owners", pattern: String.raw`^(?:SET|RESET) (?:(?:SESSION|LOCAL) )?(?:SESSION AUTHORIZATION|ROLE)\b` },
  { kind: "foreign_data", pattern: of("FOREIGN DATA WRAPPER|FOREIGN TABLE|SERVER|USER MAPPING") },
  { kind: "foreign_data", pattern: String.raw`^IMPORT FOREIGN SCHEMA\b` },
  { kind: "roles", pattern: of("ROLE|USER|GROUP") },
  { kind: "tablespaces", pattern: of("TABLESPACE") },
  { kind: "tablespaces", pattern: String.raw`^ALTER .+ SET TABLESPACE ${NAME}$` },
  { kind: "tablespaces", pattern: String.raw`^SET default_tablespace (?:=|TO) (?!''$)` },
  { kind: "databases", pattern: of("DATABASE") },
  { kind: "databases", pattern: String.raw`^\\c(?:onnect)?\s` },
  { kind: "databases", pattern: String.raw`^UPDATE pg_catalog\.pg_database\b` },
  { kind: "event_triggers", pattern: of("EVENT TRIGGER") },
  { kind: "publications", pattern: of("PUBLICATION") },
  { kind: "subscriptions", pattern: of("SUBSCRIPTION") },
  { kind: "access_methods", pattern: of("ACCESS METHOD") },
  { kind: "access_methods", pattern: String.raw`^ALTER .+ SET ACCESS METHOD ${NAME}$` },
  { kind: "access_methods", pattern: String.raw`^SET default_table_access_method (?:=|TO) (?!"?heap"?$|''$)` },
  {
    kind: "languages",
    pattern: String.raw`^(?:CREATE(?: OR REPLACE)?|ALTER|DROP|COMMENT ON)(?: TRUSTED)?(?: PROCEDURAL)? LANGUAGE\b`,
  },
  { kind: "languages", pattern: of("TRANSFORM") },
  // Their access method is an extension's: of those that are unique, PostgreSQL has only its own.
  {
    kind: "access_methods",
    pattern: String.raw`^CREATE INDEX (?:IF NOT EXISTS )?${NAME} ON (?:ONLY )?${NAME} USING (?!"?(?:btree|hash|gist|gin|brin|spgist|hnsw|ivfflat)\b)`,
  },
  // They are made of functions in C, and only a superuser may create them.
  { kind: "access_methods", pattern: of("OPERATOR (?:CLASS|FAMILY)") },
  { kind: "languages", pattern: of("TEXT SEARCH (?:PARSER|TEMPLATE)") },
  // Casts between two built-in types, which have no schema here, are left out, too: the ERP's role owns neither type.
  {
    kind: "languages",
    pattern: String.raw`^(?:CREATE CAST (?:.* WITHOUT FUNCTION\b|\([^.()]+ AS [^.()]+\))|COMMENT ON CAST\b)`,
  },
  // Policies for other roles. The ERP's role owns all tables, so row security binds it only with FORCE, which would also hide
  // rows from backups.
  {
    kind: "policies",
    pattern: String.raw`^CREATE POLICY ${NAME} ON ${NAME}(?: AS \w+)?(?: FOR \w+)? TO (?!PUBLIC\b|CURRENT_USER\b|CURRENT_ROLE\b|SESSION_USER\b)`,
  },
  { kind: "policies", pattern: String.raw`^ALTER TABLE .+ FORCE ROW LEVEL SECURITY$` },
  { kind: "statistics", pattern: String.raw`^SELECT (?:\* FROM )?pg_catalog\.pg_(?:restore|clear)_\w+_stats ?\(` },
];

const parentheses = (levels: number): string =>
  levels === 1 ? String.raw`\([^()]*\)` : String.raw`\((?:[^()]|${parentheses(levels - 1)})*\)`;
/** Parentheses as deep as a parameter's default may have them: patterns do not recurse. */
const PARENTHESES = parentheses(6);

/** The languages that every database has; others come with an extension. */
export const LANGUAGES: readonly string[] = ["sql", "plpgsql"];

/** The settings of PostgreSQL 16, the oldest here, that a dump may name and that any role may set. All others are left out. */
export const SETTINGS: readonly string[] = (
  "application_name array_nulls backslash_quote bytea_output check_function_bodies client_connection_check_interval " +
  "client_encoding client_min_messages constraint_exclusion cursor_tuple_fraction datestyle default_statistics_target " +
  "default_table_access_method default_tablespace default_text_search_config default_toast_compression " +
  "default_transaction_deferrable default_transaction_isolation default_transaction_read_only effective_cache_size " +
  "escape_string_warning exit_on_error extra_float_digits from_collapse_limit gin_fuzzy_search_limit " +
  "idle_in_transaction_session_timeout idle_session_timeout intervalstyle jit join_collapse_limit lc_monetary " +
  "lc_numeric lc_time lock_timeout maintenance_work_mem max_parallel_workers_per_gather quote_all_identifiers " +
  "random_page_cost row_security search_path seq_page_cost standard_conforming_strings statement_timeout " +
  "synchronize_seqscans synchronous_commit temp_buffers temp_tablespaces timezone timezone_abbreviations " +
  "transform_null_equals vacuum_cost_delay work_mem xmlbinary xmloption"
).split(" ");

const SEARCH = "TEXT SEARCH (?:CONFIGURATION|DICTIONARY)";

/** Those that must be named in an index, of the extensions that PostgreSQL trusts and of pgvector. */
const OPERATOR_CLASSES = [
  "g(?:in|ist)_trgm_ops|(?:btree|hash|gin|gist)_hstore_ops|(?:gist_|gist__|hash_)?ltree_ops|g(?:in|ist)__int(?:big)?_ops",
  "(?:gist_)?(?:cube|seg)_ops|citext(?:_pattern)?_ops|g(?:in|ist)_(?!bigm_)[a-z0-9]+_ops",
  "(?:vector|halfvec|sparsevec)_(?:l1|l2|ip|cosine)_ops|bit_(?:hamming|jaccard)_ops",
];

/**
 * Extensions that the ERP creates itself, and which a dump of single schemas (pg_dump -n) uses without creating them, by what in
 * a statement needs them.
 *
 * @public Python alone reads it.
 */
export const REQUIRED_EXTENSIONS: readonly { name: string; pattern: string; function: string }[] = [
  { name: "pg_trgm", pattern: String.raw`(?<![\w.$"])(?:public\.)?g(?:in|ist)_trgm_ops\b`, function: "public.similarity" },
  { name: "unaccent", pattern: String.raw`(?<![\w.$"])(?:public\.)?unaccent\(`, function: "public.unaccent" },
];

/** What only a superuser may say in the head of a function, or a server may not know, in the form in which pg_dump writes it. */
export const FUNCTION_HEAD = {
  /** The second group is what is looked at. */
  head: String.raw`^([^$]*?\n    LANGUAGE (?:"[^"\n]*"|\w+)(?=[ \n]))([^\n]*(?:\n    SET [^\n]*)*)(?=\n    (?:AS|BEGIN ATOMIC|RETURN)\b)`,
  attribute: String.raw` (?:LEAKPROOF|SUPPORT ${NAME})(?=\s|$)`,
  /** The group is the setting. */
  setting: String.raw`\n    SET ("?\w+"?) (?:TO|=) [^\n]*`,
  /** Settings of the planner, which any role may set and which last in a function. */
  planner:
    "^(?:enable_|geqo|plan_cache_mode$|(?:max_|min_)?parallel_|cpu_|hash_mem_multiplier$|jit_(?:above_cost|expressions|inline_above_cost|optimize_above_cost|tuple_deforming)$)",
} as const;

const KINDS = "(?:(?:OR REPLACE|GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|FOREIGN|MATERIALIZED|RECURSIVE) )*(?:TABLE|SEQUENCE|VIEW)";

/** Words of the forms below, which stay in quotes: they would be read as those. */
const WORDS = "as|for|from|language|on|only|owner|role|schema|set|table|tablespace|to|trigger|using|with";

/** What statements look like whose meaning depends on others. The groups are the names in them. */
export const STATEMENT_FORMS = {
  name: NAME,
  /**
   * A name that means the same without its quotes: statements are matched, and names compared, without them. With
   * --quote-all-identifiers, pg_dump quotes every name.
   */
  needless_quotes: String.raw`(?<!")"(?!(?:${WORDS})")([a-z_][a-z0-9_$]*)"(?!")`,
  /** psql's own commands around a dump, with their token: those of several dumps in one file have several. */
  restrict: String.raw`^\\(un)?restrict ([0-9A-Za-z]+)$`,
  rows: `^(?:COPY|INSERT INTO) (${NAME})`,
  /** Matched against the statement's text, because the name is a string in it. */
  position: String.raw`^\s*SELECT\s+pg_catalog\.setval\('((?:[^']|'')*)'`,
  extension: `^(CREATE|ALTER|DROP|COMMENT ON) EXTENSION (?:IF (?:NOT )?EXISTS )?(${NAME})(?:.* SCHEMA (${NAME}))?`,
  /** What is in parentheses is none of it: a parameter may be called "language". */
  language: String.raw`^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (${NAME}) ?${PARENTHESES}(?:[^()]|${PARENTHESES})*? LANGUAGE "?(\w+)`,
  /** The second group is there if it has no parameters. */
  function: String.raw`^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (${NAME}) ?(\(\))?`,
  setting: String.raw`^SET (?:(?:SESSION|LOCAL) )?(\w+) (?:=|TO) `,
  public_schema: `^CREATE SCHEMA (?:IF NOT EXISTS )?"?public"?$`,
  /**
   * What replaces a view without rows that breaks a cycle. The name goes into a statement of ours, so it is a plain one: another
   * could end that statement's text.
   */
  cycle: String.raw`^CREATE OR REPLACE VIEW ([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)(?=[ (])`,
  removal: String.raw`^(?:(?:DROP|ALTER)\b|SELECT pg_catalog\.lo_unlink\b|CREATE OR REPLACE VIEW .* AS SELECT NULL\b)`,
  relation: `^CREATE ${KINDS} (?:IF NOT EXISTS )?(${NAME})`,
  identity: String.raw`^ALTER TABLE .* AS IDENTITY \( SEQUENCE NAME (${NAME})`,
  policy: `^CREATE POLICY (${NAME} ON ${NAME})`,
  trigger_name: `^CREATE (?:CONSTRAINT )?TRIGGER (${NAME}) .*? ON (${NAME})`,
  /** What it may be left out for is anywhere behind this, other than its own name: it has no rows, and is no constraint. */
  made_of: `^(?:CREATE (?:(?:OR REPLACE )?(?:(?:RECURSIVE |MATERIALIZED )?VIEW|AGGREGATE)|INDEX|STATISTICS|OPERATOR|CAST|${SEARCH})(?: (?:IF NOT EXISTS )?${NAME})?|ALTER ${SEARCH})`,
  /** In these statements, a function's name has no parentheses. */
  made_of_functions: "^CREATE (?:(?:OR REPLACE )?AGGREGATE|OPERATOR)\\b",
  /** The name of a text search configuration or dictionary in a text, as in `to_tsvector('public.german'::regconfig, name)`. */
  search_name: String.raw`'([^']{1,130})'::(?:pg_catalog\.)?reg(?:config|dictionary)\b`,
  index: `^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(${NAME}) ON (?:ONLY )?(${NAME})`,
  /** An operator class of an index that neither PostgreSQL nor an extension that a server may have here brings. */
  operator_class: String.raw`\.(?!(?:${OPERATOR_CLASSES.join("|")})$)\w+_ops(?:_\w+)?$`,
  aggregate: `^CREATE (?:OR REPLACE )?AGGREGATE (${NAME})`,
  /** What is neither a relation nor a function, by its name. */
  object: `^CREATE (?:OPERATOR(?: CLASS| FAMILY)?|STATISTICS(?: IF NOT EXISTS)?|TEXT SEARCH [A-Z]+) (${NAME})`,
  about_object: [
    `^(?:COMMENT ON|ALTER) (?:INDEX|OPERATOR|STATISTICS|TEXT SEARCH [A-Z]+) (${NAME})`,
    `^ALTER INDEX .* ATTACH PARTITION (${NAME})`,
    `^ALTER TABLE (?:ONLY )?(${NAME} CLUSTER ON ${NAME})`,
  ],
  about_trigger: `^(?:COMMENT ON|ALTER) TRIGGER (${NAME}) ON (${NAME})`,
  /** The first group is the table. */
  altered_trigger: `^ALTER TABLE (?:ONLY )?(${NAME}) (?:DISABLE|ENABLE(?: ALWAYS| REPLICA)?) TRIGGER (${NAME})`,
  /** What these are about, other than functions. None of them has rows, or is a constraint. */
  about: [
    `^COMMENT ON POLICY (${NAME} ON ${NAME})`,
    `^COMMENT ON (?:(?:TRIGGER|RULE|CONSTRAINT) ${NAME} ON|MATERIALIZED VIEW|(?!FUNCTION|PROCEDURE|AGGREGATE)[A-Z]+) (${NAME})`,
    `^ALTER (?:TABLE|SEQUENCE) .*(?:ATTACH PARTITION|OWNED BY) (${NAME})`,
    `^(?:ALTER (?:FOREIGN )?TABLE|REFRESH MATERIALIZED VIEW) (?:ONLY )?(${NAME})`,
    `^CREATE (?:UNIQUE )?INDEX .*? ON (?:ONLY )?(${NAME})`,
    `^CREATE (?:CONSTRAINT )?TRIGGER .*? ON (${NAME})`,
    `^CREATE (?:OR REPLACE )?RULE .*? TO (${NAME})`,
  ],
  about_function: `^(?:COMMENT ON|ALTER) (?:FUNCTION|PROCEDURE|AGGREGATE) (${NAME})`,
  trigger: `^CREATE (?:CONSTRAINT )?TRIGGER .* EXECUTE (?:FUNCTION|PROCEDURE) (${NAME})`,
} as const;

/** They read or write the server's files, or connect elsewhere. */
const LEAVING_FUNCTIONS = [
  "pg_read_(?:binary_)?file|pg_stat_file|lo_import|lo_export",
  "pg_ls_(?:log|wal|tmp|archive_status|logicalmap|logicalsnap|replslot|summaries)?dir",
  "pg_file_(?:read|write|length|rename|unlink|sync)",
  "dblink(?:_(?:connect(?:_u)?|exec|open|send_query))?",
].join("|");

/**
 * Commands that leave the database, which no ERP's dump has: one with them is rejected. Whoever wants to hide them from this can;
 * what keeps them inside is that the dump is loaded by a role without privileges, in containers without a network. Of a statement
 * on one line, in which texts are ''.
 */
export const LEAVING = {
  /** Statements whose text in dollars is statements again. */
  body: String.raw`^(?:DO|CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE))\b`,
  /** Statements that only mention functions. */
  about: String.raw`^(?:COMMENT ON|ALTER (?:FUNCTION|PROCEDURE)|DROP|GRANT|REVOKE|SECURITY LABEL)\b`,
  copy: String.raw`(?:^|\b(?:BEGIN|THEN|ELSE|LOOP) )COPY\b`,
  /** The file or program behind COPY. */
  file: String.raw`\b(?:FROM|TO) ?(?:PROGRAM\b|'')`,
  command: [
    String.raw`^(?:CREATE|ALTER) (?:SYSTEM|ROLE|USER|GROUP|DATABASE|TABLESPACE|SUBSCRIPTION|SERVER|FOREIGN DATA|EVENT TRIGGER)\b`,
    String.raw`^CREATE (?:OR REPLACE )?(?:TRUSTED )?(?:PROCEDURAL )?LANGUAGE\b|^LOAD ''`,
    String.raw`^CREATE EXTENSION (?:IF NOT EXISTS )?"?(?:plpython|plperlu|pltclu|plsh|dblink|postgres_fdw|file_fdw|adminpack)\w*`,
  ].join("|"),
  /** Matched against statements with a body. */
  language: String.raw`\bLANGUAGE "?(?:c|internal|plpython\w*|plperlu|pltclu|plsh)\b`,
  /** Names of tables in front of a parenthesis, which are no functions. They are removed before `call` is looked for. */
  table: String.raw`\b(?:TABLE(?: IF NOT EXISTS)?|COPY|INTO|REFERENCES|^CREATE (?:UNIQUE )?INDEX .*? ON(?: ONLY)?) ${NAME}`,
  call: String.raw`\b(?:${LEAVING_FUNCTIONS})"? ?\(`,
} as const;
