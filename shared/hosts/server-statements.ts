// Which statements of a dump are about the server that it comes from, not about the ERP: they are left out, counted and named.
// Everything else is the ERP's, and loaded strictly. It covers what pg_dump 12 to 18 can write. The program on a machine and the
// sandbox both read this table.
//
// Patterns are matched, case ignored, against a statement on one line without its semicolon and comments; texts in it are '…',
// empty ones ''. They are written for both Python and JavaScript. What depends on more than the statement is decided in
// script/files/statements.py and sandbox/statements.ts by STATEMENT_FORMS: extensions, settings, what a dump drops before it
// creates anything, and what belongs to something that was left out.
import type { LeftOutKind } from "../domain/left-out.ts";

const NAME = String.raw`(?:"(?:[^"]|"")*"|[^\s".;(]+)(?:\.(?:"(?:[^"]|"")*"|[^\s".;(]+))*`;
const of = (what: string): string => String.raw`^(?:CREATE|ALTER|DROP|COMMENT ON) (?:${what})\b`;

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
  // Whose policies name roles. The ERP's role owns all tables, which only "force" would keep rows from: those of its own backups,
  // too.
  {
    kind: "policies",
    pattern: String.raw`^CREATE POLICY ${NAME} ON ${NAME}(?: AS \w+)?(?: FOR \w+)? TO (?!PUBLIC\b|CURRENT_USER\b|CURRENT_ROLE\b|SESSION_USER\b)`,
  },
  { kind: "policies", pattern: String.raw`^ALTER TABLE .+ FORCE ROW LEVEL SECURITY$` },
  { kind: "statistics", pattern: String.raw`^SELECT (?:\* FROM )?pg_catalog\.pg_(?:restore|clear)_\w+_stats ?\(` },
];

const KINDS = "(?:(?:OR REPLACE|GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|FOREIGN|MATERIALIZED|RECURSIVE) )*(?:TABLE|SEQUENCE|VIEW)";

/** What statements look like whose meaning depends on others. The groups are the names in them. */
export const STATEMENT_FORMS = {
  name: NAME,
  rows: `^(?:COPY|INSERT INTO) (${NAME})`,
  /** Of the statement's text, because a text in it is the name. */
  position: String.raw`^\s*SELECT\s+pg_catalog\.setval\('((?:[^']|'')*)'`,
  extension: `^(CREATE|ALTER|DROP|COMMENT ON) EXTENSION (?:IF (?:NOT )?EXISTS )?(${NAME})(?:.* SCHEMA (${NAME}))?`,
  setting: String.raw`^SET (?:(?:SESSION|LOCAL) )?(\w+) (?:=|TO) `,
  public_schema: `^CREATE SCHEMA (?:IF NOT EXISTS )?"?public"?$`,
  removal: String.raw`^(?:(?:DROP|ALTER)\b|SELECT pg_catalog\.lo_unlink\b|CREATE OR REPLACE VIEW .* AS SELECT NULL\b)`,
  relation: `^CREATE ${KINDS} (?:IF NOT EXISTS )?(${NAME})`,
  identity: String.raw`^ALTER TABLE .* AS IDENTITY \( SEQUENCE NAME (${NAME})`,
  policy: `^CREATE POLICY (${NAME} ON ${NAME})`,
  view: "^CREATE (?:OR REPLACE )?(?:RECURSIVE |MATERIALIZED )?VIEW ",
  /** What these are about. None of them has rows, or is a constraint. */
  about: [
    `^COMMENT ON POLICY (${NAME} ON ${NAME})`,
    `^COMMENT ON (?:(?:TRIGGER|RULE|CONSTRAINT) ${NAME} ON|MATERIALIZED VIEW|[A-Z]+) (${NAME})`,
    `^ALTER (?:TABLE|SEQUENCE) .*(?:ATTACH PARTITION|OWNED BY) (${NAME})`,
    `^(?:ALTER (?:FOREIGN )?TABLE|REFRESH MATERIALIZED VIEW) (?:ONLY )?(${NAME})`,
    `^CREATE (?:UNIQUE )?INDEX .*? ON (?:ONLY )?(${NAME})`,
    `^CREATE (?:CONSTRAINT )?TRIGGER .*? ON (${NAME})`,
    `^CREATE (?:OR REPLACE )?RULE .*? TO (${NAME})`,
  ],
} as const;
