// Statements as pg_dump 12 to 18 writes them: which of them are left out, and of which kind. They hold for machines and for the
// sandbox.
import type { LeftOutKind } from "../../shared/domain/left-out.ts";

export const LEFT_OUT: readonly (readonly [kind: LeftOutKind, statement: string])[] = [
  ["privileges", "GRANT SELECT ON TABLE public.ir_attachment TO metabase;"],
  ["privileges", 'GRANT ALL ON SCHEMA public TO "reporting; team" WITH GRANT OPTION;'],
  ["privileges", "REVOKE ALL ON FUNCTION public.f(text) FROM PUBLIC;"],
  ["privileges", "REVOKE USAGE ON SCHEMA public FROM PUBLIC;"],
  ["privileges", "GRANT ALL ON LARGE OBJECT 16385 TO metabase;"],
  ["privileges", "ALTER DEFAULT PRIVILEGES FOR ROLE odoo IN SCHEMA public GRANT SELECT ON TABLES  TO metabase;"],
  ["owners", "ALTER TABLE public.res_partner OWNER TO odoo_prod;"],
  ["owners", 'ALTER FUNCTION public.f(a text, b integer) OWNER TO "an ""odd"" role";'],
  ["owners", "ALTER LARGE OBJECT 16385 OWNER TO odoo_prod;"],
  ["owners", "ALTER SCHEMA public OWNER TO azure_pg_admin;"],
  ["owners", "SET SESSION AUTHORIZATION 'odoo_prod';"],
  ["owners", "SET SESSION AUTHORIZATION DEFAULT;"],
  ["owners", "RESET SESSION AUTHORIZATION;"],
  ["owners", "SET ROLE odoo_prod;"],
  ["roles", "CREATE ROLE metabase;"],
  ["roles", "ALTER ROLE metabase WITH NOSUPERUSER LOGIN PASSWORD 'SCRAM-SHA-256$4096:x';"],
  ["roles", "ALTER ROLE odoo SET search_path TO 'a', 'b';"],
  ["roles", "CREATE USER metabase;"],
  ["roles", "COMMENT ON ROLE metabase IS 'reads';"],
  ["tablespaces", "CREATE TABLESPACE fast OWNER postgres LOCATION '/mnt/fast';"],
  ["tablespaces", "SET default_tablespace = fast;"],
  ["tablespaces", "SET default_tablespace = 'fast';"],
  ["tablespaces", "ALTER INDEX public.t_idx SET TABLESPACE fast;"],
  [
    "databases",
    "CREATE DATABASE shop WITH TEMPLATE = template0 ENCODING = 'UTF8' LOCALE_PROVIDER = icu LOCALE = 'de_DE.UTF-8' ICU_LOCALE = 'de';",
  ],
  ["databases", "ALTER DATABASE shop SET search_path TO 'public';"],
  ["roles", "ALTER ROLE odoo IN DATABASE shop SET work_mem TO '64MB';"],
  ["databases", "COMMENT ON DATABASE shop IS 'of the shop';"],
  ["databases", "UPDATE pg_catalog.pg_database SET datistemplate = false WHERE datname = 'shop';"],
  ["databases", "DROP DATABASE IF EXISTS shop;"],
  ["databases", "\\connect shop"],
  ["databases", "\\connect -reuse_previous=on \"dbname='a shop'\""],
  ["security_labels", "SECURITY LABEL FOR anon ON COLUMN public.res_partner.email IS 'MASKED WITH FUNCTION anon.fake_email()';"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS pg_stat_statements WITH SCHEMA public;"],
  ["extensions", "COMMENT ON EXTENSION pg_stat_statements IS 'track planning and execution statistics; of all statements';"],
  ["extensions", 'CREATE EXTENSION IF NOT EXISTS "address-standardizer" WITH SCHEMA public;'],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS dblink WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS postgres_fdw WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS file_fdw WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS adminpack WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS plpython3u WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS plperlu WITH SCHEMA public;"],
  ["extensions", "CREATE EXTENSION IF NOT EXISTS pltclu WITH SCHEMA public;"],
  [
    "event_triggers",
    "CREATE EVENT TRIGGER guard ON ddl_command_start\n         WHEN TAG IN ('CREATE TABLE')\n   EXECUTE FUNCTION public.guard();",
  ],
  ["event_triggers", "ALTER EVENT TRIGGER guard DISABLE;"],
  ["publications", "CREATE PUBLICATION all_tables FOR ALL TABLES WITH (publish = 'insert, update');"],
  ["publications", "ALTER PUBLICATION some ADD TABLE ONLY public.res_partner WHERE ((id > 3));"],
  ["publications", "ALTER PUBLICATION some ADD TABLES IN SCHEMA public;"],
  [
    "subscriptions",
    "CREATE SUBSCRIPTION s CONNECTION 'host=db.example.com password=secret' PUBLICATION p WITH (connect = false, slot_name = 's');",
  ],
  ["subscriptions", "ALTER SUBSCRIPTION s ENABLE;"],
  ["foreign_data", "CREATE FOREIGN DATA WRAPPER w HANDLER public.w_handler;"],
  ["foreign_data", "CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw OPTIONS (\n    host 'db.example.com'\n);"],
  ["foreign_data", "CREATE USER MAPPING FOR odoo SERVER away OPTIONS (\n    password 'it''s; secret',\n    \"user\" 'u'\n);"],
  ["foreign_data", "CREATE FOREIGN TABLE public.away (\n    id integer\n)\nSERVER away;"],
  ["foreign_data", "ALTER FOREIGN TABLE ONLY public.away ALTER COLUMN id OPTIONS (\n    column_name 'n'\n);"],
  ["foreign_data", "COMMENT ON FOREIGN TABLE public.away IS 'x';"],
  ["access_methods", "CREATE ACCESS METHOD columnar TYPE TABLE HANDLER public.columnar_handler;"],
  ["access_methods", "SET default_table_access_method = columnar;"],
  ["access_methods", "ALTER TABLE public.part SET ACCESS METHOD columnar;"],
  ["languages", "CREATE OR REPLACE PROCEDURAL LANGUAGE plpgsql;"],
  ["languages", "CREATE TRUSTED LANGUAGE plv8;"],
  ["languages", "COMMENT ON PROCEDURAL LANGUAGE plpgsql IS 'x';"],
  ["languages", "CREATE FUNCTION public.f(a text) RETURNS text\n    LANGUAGE plpython3u\n    AS $$ import os; return a $$;"],
  ["languages", "CREATE OR REPLACE PROCEDURE public.f(IN language text, b numeric(10,2))\n    LANGUAGE plperlu\n    AS $$x$$;"],
  ["languages", "CREATE FUNCTION public.f(internal) RETURNS internal\n    LANGUAGE c IMMUTABLE\n    AS '$libdir/x', 'f';"],
  ["languages", "CREATE FUNCTION public.f() RETURNS TABLE(a text)\n    LANGUAGE plv8\n    AS $$x$$;"],
  ["languages", "CREATE FUNCTION public.f(text) RETURNS text\n    LANGUAGE internal\n    AS $$upper$$;"],
  [
    "languages",
    "CREATE FUNCTION public.g(a integer DEFAULT ((1)::numeric(1,0))::integer) RETURNS integer\n    LANGUAGE plpython3u\n    AS $$x$$;",
  ],
  [
    "languages",
    "CREATE FUNCTION public.g(a integer DEFAULT ((((1)::numeric(1,0) + (2)::numeric))::integer), b text) RETURNS integer\n    LANGUAGE c\n    AS '$libdir/x', 'g';",
  ],
  ["languages", "CREATE TRANSFORM FOR hstore LANGUAGE plpython3u (FROM SQL WITH FUNCTION public.f(internal));"],
  ["access_methods", "CREATE OPERATOR FAMILY public.text_like USING btree;"],
  [
    "access_methods",
    "CREATE OPERATOR CLASS public.text_like\n    FOR TYPE text USING btree FAMILY public.text_like AS\n    OPERATOR 1 ~<~(text,text);",
  ],
  ["access_methods", "ALTER OPERATOR FAMILY public.text_like USING btree ADD\n    FUNCTION 1 (text, text) bttextcmp(text,text);"],
  [
    "languages",
    "CREATE TEXT SEARCH PARSER public.words (\n    START = prsd_start,\n    GETTOKEN = prsd_nexttoken,\n    END = prsd_end,\n    LEXTYPES = prsd_lextype );",
  ],
  ["languages", "CREATE TEXT SEARCH TEMPLATE public.like_simple (\n    LEXIZE = dsimple_lexize );"],
  ["languages", "CREATE CAST (public.code AS text) WITHOUT FUNCTION AS IMPLICIT;"],
  ["languages", "CREATE CAST (character varying AS integer) WITH INOUT AS IMPLICIT;"],
  ["languages", 'CREATE CAST ("char" AS timestamp without time zone) WITH FUNCTION public.since("char");'],
  ["languages", "COMMENT ON CAST (public.code AS text) IS 'x';"],
  ["policies", "CREATE POLICY p ON public.res_partner FOR SELECT TO metabase USING ((id > 3));"],
  ["policies", 'CREATE POLICY "p ON q" ON public.res_partner AS RESTRICTIVE TO metabase, other USING (true);'],
  ["policies", "ALTER TABLE ONLY public.res_partner FORCE ROW LEVEL SECURITY;"],
  ["statistics", "SELECT * FROM pg_catalog.pg_restore_relation_stats(\n\t'version', '180000'::integer,\n\t'relname', 't'\n);"],
  ["statistics", "SELECT * FROM pg_catalog.pg_restore_attribute_stats(\n\t'version', '180000'::integer\n);"],
  ["settings", "SET transaction_timeout = 0;"],
  ["settings", "SET default_with_oids = false;"],
  ["settings", "SET session_replication_role = replica;"],
  ["settings", "SET enable_seqscan = off;"],
  ["settings", "SET some_setting_of_tomorrow = 'on';"],
];

/** What looks like it, and is the ERP's. */
export const LOADED: readonly string[] = [
  "COMMENT ON TABLE public.t IS 'GRANT SELECT ON a TO b;\nALTER TABLE a OWNER TO b;';",
  "COMMENT ON COLUMN public.t.a IS E'CREATE ROLE x;\\'\\n;CREATE ROLE y;';",
  "ALTER TABLE ONLY public.t ALTER COLUMN a SET DEFAULT 'x OWNER TO y';",
  "ALTER TABLE public.t ADD CONSTRAINT c CHECK ((a <> ' OWNER TO b'::text));",
  'ALTER TABLE public.t RENAME COLUMN a TO "OWNER TO";',
  "CREATE FUNCTION public.f() RETURNS void\n    LANGUAGE plpgsql\n    AS $_$ begin execute 'x;'; GRANT a TO b; end; $_$;",
  "CREATE FUNCTION public.g() RETURNS integer\n    LANGUAGE sql\n    BEGIN ATOMIC\n SELECT CASE WHEN true THEN 1 ELSE 2 END;\n SELECT 2;\nEND;",
  "CREATE FUNCTION public.h(a integer, language text DEFAULT 'c'::text) RETURNS TABLE(language text)\n    LANGUAGE sql\n    AS $$x$$;",
  'CREATE FUNCTION public.i(numeric(3,1), "in language" text) RETURNS text\n    LANGUAGE plpgsql\n    AS $$ LANGUAGE c $$;',
  "CREATE RULE r AS\n    ON UPDATE TO public.t DO ALSO ( DELETE FROM public.t;\n GRANT a TO b;\n);",
  "CREATE POLICY p ON public.t USING ((a = 'b'::text));",
  "CREATE POLICY q ON public.t FOR SELECT TO PUBLIC USING (true);",
  "ALTER TABLE public.t ENABLE ROW LEVEL SECURITY;",
  "ALTER TABLE ONLY public.t REPLICA IDENTITY FULL;",
  "CREATE STATISTICS public.s ON a FROM public.t;",
  "SELECT pg_catalog.lo_create('16385');",
  "SELECT pg_catalog.lowrite(0, '\\x01');",
  "SELECT pg_catalog.setval('public.t_id_seq', 3, true);",
  "INSERT INTO public.t VALUES ('GRANT', E'\\';GRANT a TO b;', '\\');",
  '/* GRANT /* nested; */ a TO b; */ CREATE TABLE public."GRANT; x" (a text);',
  "CREATE INDEX i ON public.t USING gin (a public.gin_trgm_ops);",
  "DROP TABLE public.gone;",
  "CREATE OPERATOR public.=== (\n    FUNCTION = public.same,\n    LEFTARG = text,\n    RIGHTARG = text\n);",
  "CREATE CAST (public.code AS text) WITH INOUT AS ASSIGNMENT;",
  "CREATE CAST (public.code AS integer) WITH FUNCTION public.number(public.code);",
  "CREATE TEXT SEARCH DICTIONARY public.german (\n    TEMPLATE = pg_catalog.snowball,\n    language = 'german' );",
  'CREATE TEXT SEARCH CONFIGURATION public.german (\n    PARSER = pg_catalog."default" );',
];

const inPython = (signature: string): string =>
  `CREATE FUNCTION ${signature} RETURNS trigger\n    LANGUAGE plpython3u\n    AS $$x$$;`;
const inSql = (signature: string): string => `CREATE FUNCTION ${signature} RETURNS trigger\n    LANGUAGE plpgsql\n    AS $$x$$;`;
const trigger = (on: string, calls: string): string =>
  `CREATE TRIGGER tr AFTER INSERT ON ${on} FOR EACH ROW EXECUTE FUNCTION ${calls};`;

/** Statements of one dump: what has the name of something that was left out stays. */
export const NAMESAKES: readonly (readonly [what: string, statements: readonly (readonly [LeftOutKind | "loaded", string])[]])[] =
  [
    [
      "a table with a function's name",
      [
        ["languages", inPython("public.x(a integer)")],
        ["loaded", "CREATE TABLE public.x (\n    id integer NOT NULL\n);"],
        ["loaded", "COMMENT ON TABLE public.x IS 'x';"],
        ["loaded", "COMMENT ON COLUMN public.x.id IS 'x';"],
        ["languages", "COMMENT ON FUNCTION public.x(a integer) IS 'x';"],
        ["loaded", "CREATE VIEW public.of_table AS\n SELECT id\n   FROM public.x;"],
        ["languages", "CREATE VIEW public.of_function AS\n SELECT public.x(1) AS id;"],
        ["loaded", "ALTER TABLE ONLY public.x ADD CONSTRAINT x_pkey PRIMARY KEY (id);"],
        ["loaded", "CREATE INDEX x_idx ON public.x USING btree (id);"],
        ["loaded", trigger("public.x", "public.log()")],
      ],
    ],
    [
      "a function with a foreign table's name",
      [
        ["foreign_data", "CREATE FOREIGN TABLE public.away (\n    id integer\n)\nSERVER away;"],
        ["loaded", inSql("public.away()")],
        ["loaded", "COMMENT ON FUNCTION public.away() IS 'x';"],
        ["loaded", "CREATE VIEW public.of_function AS\n SELECT public.away() AS id;"],
        ["foreign_data", "CREATE VIEW public.of_table AS\n SELECT id\n   FROM public.away;"],
        ["foreign_data", "CREATE VIEW public.of_both AS\n SELECT t.a\n   FROM public.away,\n    public.t;"],
        ["loaded", trigger("public.t", "public.away()")],
        ["foreign_data", trigger("public.away", "public.log()")],
      ],
    ],
    [
      "functions of one name, of which the trigger's is loaded",
      [
        ["loaded", inSql("public.f()")],
        ["loaded", "COMMENT ON FUNCTION public.f() IS 'x';"],
        ["languages", inPython("public.f(a integer DEFAULT 1)")],
        ["languages", "COMMENT ON FUNCTION public.f(a integer) IS 'x';"],
        ["languages", "ALTER FUNCTION public.f(a integer) DEPENDS ON EXTENSION plpython3u;"],
        ["loaded", "CREATE VIEW public.v AS\n SELECT public.f() AS a;"],
        ["loaded", trigger("public.t", "public.f()")],
      ],
    ],
    [
      "functions of one name, of which the trigger's is left out",
      [
        ["languages", inPython("public.f()")],
        ["languages", "COMMENT ON FUNCTION public.f() IS 'x';"],
        ["loaded", inSql("public.f(a integer)")],
        ["loaded", "COMMENT ON FUNCTION public.f(a integer) IS 'x';"],
        ["loaded", "CREATE VIEW public.v AS\n SELECT public.f(1) AS a;"],
        ["languages", trigger("public.t", "public.f('x')")],
      ],
    ],
    [
      "a function whose name begins like an extension's",
      [
        ["extensions", "CREATE EXTENSION IF NOT EXISTS pg_cron WITH SCHEMA public;"],
        ["loaded", inSql("public.pg_cron_log()")],
        ["loaded", trigger("public.t", "public.pg_cron_log()")],
        ["extensions", trigger("public.t", "public.pg_cron_other()")],
      ],
    ],
  ];

/** Tables of a module whose models are called as functions that leave the database. */
export const NAMED_LIKE_FUNCTIONS = `CREATE TABLE public.dblink_log (\n    id integer\n);
CREATE TABLE public.dblink (\n    id integer,\n    log_id integer\n);
COPY public.dblink_log (id) FROM stdin;\n1\n\\.\n
COPY public.dblink (id, log_id) FROM stdin;\n1\t1\n\\.\n
INSERT INTO public.dblink (id) VALUES (2);
CREATE INDEX dblink_id ON public.dblink (id);
CREATE UNIQUE INDEX pg_file_name ON ONLY public.dblink (id);
ALTER TABLE ONLY public.t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES public.dblink(id) ON DELETE CASCADE;
CREATE VIEW public.v AS\n SELECT public.dblink_error(1), public.pg_file_size('x'::text) AS s;
`;

/** Commands that leave the database, or would. */
export const LEAVING_TEXTS: readonly (readonly [what: string, sql: string])[] = [
  ["a shell command", "\\! touch ../ran\n"],
  ["a shell command behind a statement", "SELECT 1 \\! touch ../ran\n"],
  ["a shell command in rows that are none", "/*\nCOPY public.t (a) FROM stdin;\n*/\n\\! touch ../ran\n"],
  ["output to a program", "\\o | sh\n"],
  ["another file", "\\i /etc/passwd\n"],
  ["a copy from the client's files", "\\copy t from '/etc/passwd'\n"],
  ["another connection", "\\c postgres\n"],
  ["a copy from a program", "COPY public.t FROM PROGRAM 'id';\n"],
  ["a copy to a program", "copy (select 1) to\n  program 'id';\n"],
  ["a copy from the server's files", "COPY public.t FROM '/etc/passwd';\n"],
  ["a server's setting", "ALTER SYSTEM SET ssl = on;\n"],
  ["a file of the server", "SELECT pg_read_file('/etc/passwd');\n"],
  ["a large object from a file", "SELECT lo_import('/etc/passwd');\n"],
  ["an untrusted extension", "CREATE EXTENSION IF NOT EXISTS plpython3u;\n"],
  ["a function in an untrusted language", "CREATE FUNCTION f() RETURNS int AS $$ import os $$ LANGUAGE plpython3u;\n"],
  ["a function of the server's library", "CREATE FUNCTION f() RETURNS int AS '/lib/libc.so.6', 'system' LANGUAGE C;\n"],
  ["a role", "CREATE ROLE me SUPERUSER;\n"],
  ["output of a query to a program", "SELECT 1 \\g |sh\n"],
  ["output of a query to a file", "SELECT 1 \\g /tmp/x\n"],
  ["a result that is run", "SELECT 'x' \\gexec\n"],
  ["a query in a file", "\\w /tmp/x\n"],
  ["a variable of the shell", "\\setenv PATH /tmp\n"],
  ["a shell command behind a copy", "COPY t FROM stdin; \\! id\n1\n\\.\n"],
  ["a copy to a file behind a text with a quote", "COMMENT ON TABLE t IS 'it''s'; COPY t TO E'/tmp/x';\n"],
  ["a copy from a program behind an escaped quote", "SELECT E'a''b\\'c'; COPY t FROM PROGRAM 'id';\n"],
  ["a shell command behind a text in dollars", "SELECT $a$ ' $b$ $a$; \\! id\n"],
  ["a shell command behind comments with quotes", "-- '\n/* ' /* */ ' */ \\! id\n"],
  ["a copy with comments in it", "COPY/**/t/**/FROM --\nPROGRAM/**/'id';\n"],
  ["a file's name in dollars", "COPY t (a, b) FROM $$/etc/passwd$$;\n"],
  ["a block that copies", "DO $do$ begin if true then copy t to '/tmp/x'; end if; end $do$;\n"],
  [
    "a function that connects elsewhere",
    "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $_$ begin perform dblink('x', 'y'); end $_$;\n",
  ],
  ["a row from elsewhere", "INSERT INTO public.dblink_log SELECT * FROM dblink('x', 'y') AS t(a text);\n"],
  ["a join with elsewhere", "CREATE VIEW v AS SELECT * FROM t JOIN u ON public.dblink_connect('x') = 'OK';\n"],
  ["an index of what is elsewhere", "CREATE INDEX i ON public.dblink (pg_read_file(a));\n"],
  ["a library of the server", "LOAD '/tmp/x.so';\n"],
  ["a default that reads a file", "ALTER TABLE t ADD COLUMN c text DEFAULT pg_catalog.\"pg_read_file\"('/etc/passwd');\n"],
];
