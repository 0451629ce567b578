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
    [
      "indexes that need something that was left out",
      [
        ["extensions", "CREATE EXTENSION IF NOT EXISTS pg_bigm WITH SCHEMA public;"],
        ["loaded", "CREATE TABLE public.devops_ops (\n    id integer\n);"],
        ["extensions", "CREATE INDEX bigm ON public.t USING gin (a public.gin_bigm_ops);"],
        ["extensions", "COMMENT ON INDEX public.bigm IS 'x';"],
        ["loaded", "CREATE INDEX trgm ON public.t USING gin (a public.gin_trgm_ops);"],
        ["loaded", "COMMENT ON INDEX public.trgm IS 'x';"],
        ["loaded", "CREATE INDEX of_ops ON public.devops_ops USING btree (id);"],
        ["loaded", "CREATE INDEX near ON public.t USING hnsw (a public.vector_cosine_ops);"],
        ["loaded", "CREATE UNIQUE INDEX u ON public.t USING btree (a public.bigm_ops);"],
        ["access_methods", "CREATE INDEX pgroonga_idx ON public.t USING pgroonga (a);"],
        ["access_methods", "CREATE INDEX rum_idx ON ONLY public.t USING rum (a public.rum_tsvector_ops);"],
        ["access_methods", "CREATE INDEX bloom_idx ON public.t USING bloom (a) WITH (length='80');"],
        ["access_methods", "COMMENT ON INDEX public.rum_idx IS 'x';"],
        ["access_methods", "ALTER TABLE public.t CLUSTER ON bloom_idx;"],
        ["loaded", "ALTER TABLE public.t CLUSTER ON trgm;"],
        ["access_methods", "ALTER INDEX public.rum_idx ATTACH PARTITION public.other_idx;"],
        ["access_methods", "ALTER INDEX public.other_idx ATTACH PARTITION public.bloom_idx;"],
        [
          "access_methods",
          "CREATE OPERATOR CLASS public.text_like\n    FOR TYPE text USING btree AS\n    OPERATOR 1 ~<~(text,text);",
        ],
        ["access_methods", "CREATE INDEX like_idx ON public.t USING btree (a public.text_like);"],
        ["languages", "CREATE FUNCTION public.fold(text) RETURNS text\n    LANGUAGE plpython3u\n    AS $$x$$;"],
        ["languages", "CREATE INDEX fold_idx ON public.t USING btree (public.fold(a));"],
        ["languages", "CREATE STATISTICS public.fold_stat ON public.fold(a) FROM public.t;"],
        ["languages", "COMMENT ON STATISTICS public.fold_stat IS 'x';"],
      ],
    ],
    [
      "indexes of a dump of single schemas, which creates no extension",
      [
        ["extensions", "CREATE INDEX bigm ON public.t USING gin (a public.gin_bigm_ops);"],
        ["loaded", "CREATE INDEX trgm ON public.t USING gin (a public.gin_trgm_ops);"],
        ["extensions", "CREATE INDEX bigm2 ON public.t USING gin (a public.gin_bigm_ops);"],
      ],
    ],
    [
      "text search with a parser, a template or a dictionary that was left out",
      [
        ["extensions", "CREATE EXTENSION IF NOT EXISTS zhparser WITH SCHEMA public;"],
        ["extensions", "CREATE TEXT SEARCH CONFIGURATION public.zh (\n    PARSER = public.zhparser );"],
        ["extensions", "ALTER TEXT SEARCH CONFIGURATION public.zh\n    ADD MAPPING FOR n WITH simple;"],
        ["extensions", "COMMENT ON TEXT SEARCH CONFIGURATION public.zh IS 'x';"],
        ["extensions", "CREATE INDEX zh_idx ON public.t USING gin (to_tsvector('public.zh'::regconfig, a));"],
        ["languages", "CREATE TEXT SEARCH TEMPLATE public.like_simple (\n    LEXIZE = dsimple_lexize );"],
        ["languages", "CREATE TEXT SEARCH DICTIONARY public.own (\n    TEMPLATE = public.like_simple );"],
        ["loaded", 'CREATE TEXT SEARCH CONFIGURATION public.de (\n    PARSER = pg_catalog."default" );'],
        ["languages", "ALTER TEXT SEARCH CONFIGURATION public.de\n    ADD MAPPING FOR word WITH public.own, simple;"],
        ["loaded", "ALTER TEXT SEARCH CONFIGURATION public.de\n    ADD MAPPING FOR asciiword WITH simple;"],
        ["loaded", "CREATE INDEX de_idx ON public.t USING gin (to_tsvector('public.de'::regconfig, a));"],
        ["loaded", "CREATE TABLE public.zh (\n    id integer\n);"],
        ["loaded", "COMMENT ON TABLE public.zh IS 'x';"],
        ["loaded", "CREATE INDEX of_table ON public.zh USING btree (id);"],
      ],
    ],
    [
      "aggregates, operators and casts that call a function that was left out",
      [
        ["languages", "CREATE FUNCTION public.same(a text, b text) RETURNS boolean\n    LANGUAGE plv8\n    AS $$x$$;"],
        ["languages", "CREATE OPERATOR public.=== (\n    FUNCTION = public.same,\n    LEFTARG = text,\n    RIGHTARG = text\n);"],
        ["languages", "COMMENT ON OPERATOR public.=== (text, text) IS 'x';"],
        ["languages", "CREATE AGGREGATE public.all_same(text) (\n    SFUNC = public.same,\n    STYPE = text\n);"],
        ["languages", "COMMENT ON AGGREGATE public.all_same(text) IS 'x';"],
        ["languages", "CREATE VIEW public.sames AS\n SELECT public.all_same(a) AS s\n   FROM public.t;"],
        ["languages", "CREATE VIEW public.equals AS\n SELECT (a OPERATOR(public.===) 'x'::text) AS e\n   FROM public.t;"],
        ["languages", "CREATE CAST (public.code AS text) WITH FUNCTION public.same(public.code);"],
        ["loaded", "CREATE FUNCTION public.other(a text, b text) RETURNS text\n    LANGUAGE sql\n    AS $$x$$;"],
        ["loaded", "CREATE OPERATOR public.==== (\n    FUNCTION = public.other,\n    LEFTARG = text,\n    RIGHTARG = text\n);"],
        ["loaded", "CREATE AGGREGATE public.all_other(text) (\n    SFUNC = public.other,\n    STYPE = text\n);"],
        ["loaded", "COMMENT ON AGGREGATE public.all_other(text) IS 'x';"],
        ["loaded", "CREATE VIEW public.others AS\n SELECT public.all_other(a) AS s\n   FROM public.t;"],
      ],
    ],
    [
      "a trigger that was left out, by its name",
      [
        ["languages", inPython("public.run()")],
        ["languages", "CREATE TRIGGER runs AFTER UPDATE OF a ON public.t FOR EACH ROW EXECUTE FUNCTION public.run();"],
        ["languages", "COMMENT ON TRIGGER runs ON public.t IS 'x';"],
        ["languages", "ALTER TABLE public.t DISABLE TRIGGER runs;"],
        ["languages", "ALTER TABLE ONLY public.t ENABLE ALWAYS TRIGGER runs;"],
        ["languages", "ALTER TABLE public.t ENABLE REPLICA TRIGGER runs;"],
        ["loaded", trigger("public.t", "public.log()")],
        ["loaded", "COMMENT ON TRIGGER tr ON public.t IS 'x';"],
        ["loaded", "ALTER TABLE public.t DISABLE TRIGGER tr;"],
      ],
    ],
    [
      "a function that leaves the database",
      [
        [
          "functions",
          "CREATE FUNCTION public.export() RETURNS trigger\n    LANGUAGE plpgsql\n    AS $$ begin COPY t TO '/tmp/x.csv'; return new; end $$;",
        ],
        ["functions", "COMMENT ON FUNCTION public.export() IS 'x';"],
        ["functions", trigger("public.t", "public.export()")],
        ["functions", "ALTER TABLE public.t DISABLE TRIGGER tr;"],
        [
          "functions",
          "CREATE FUNCTION public.far(a text) RETURNS text\n    LANGUAGE sql\n    AS $$ select x from dblink('dbname=x', 'select 1') as t(x text) $$;",
        ],
        ["functions", "CREATE VIEW public.from_far AS\n SELECT public.far('x'::text) AS a;"],
        ["loaded", "ALTER TABLE public.t ALTER COLUMN a SET DEFAULT public.far('x'::text);"],
      ],
    ],
  ];

/** Statements of one dump by `pg_dump --quote-all-identifiers`. */
const QUOTED: (typeof NAMESAKES)[number] = [
  "everything in quotes",
  [
    ["extensions", 'CREATE EXTENSION IF NOT EXISTS "pg_bigm" WITH SCHEMA "public";'],
    ["extensions", "COMMENT ON EXTENSION \"pg_bigm\" IS 'x';"],
    ["loaded", 'CREATE TABLE "public"."t_2" (\n    "to" "text",\n    "language" "text"\n);'],
    ["extensions", 'CREATE INDEX "bigm" ON "public"."t" USING "gin" ("a" "public"."gin_bigm_ops");'],
    ["extensions", 'COMMENT ON INDEX "public"."bigm" IS \'x\';'],
    ["extensions", 'ALTER TABLE "public"."t" CLUSTER ON "bigm";'],
    ["loaded", 'CREATE INDEX "trgm" ON "public"."t" USING "gin" ("a" "public"."gin_trgm_ops");'],
    ["loaded", 'ALTER TABLE "public"."t" CLUSTER ON "trgm";'],
    ["access_methods", 'CREATE INDEX "bloom_idx" ON "public"."t" USING "bloom" ("a");'],
    ["languages", 'CREATE FUNCTION "public"."py"() RETURNS "trigger"\n    LANGUAGE "plpython3u"\n    AS $$x$$;'],
    ["languages", 'CREATE TRIGGER "tr" AFTER INSERT ON "public"."t" FOR EACH ROW EXECUTE FUNCTION "public"."py"();'],
    ["languages", 'COMMENT ON TRIGGER "tr" ON "public"."t" IS \'x\';'],
    ["loaded", 'ALTER TABLE "public"."t" RENAME COLUMN "owner" TO "x";'],
    ["loaded", 'CREATE VIEW "public"."v" AS\n SELECT "t"."a"\n   FROM "public"."t";'],
    ["extension_data", 'COPY "public"."bigm_log" ("id") FROM stdin;\n\\.'],
    ["loaded", 'COPY "public"."t_2" ("to") FROM stdin;\n1\n\\.'],
    ["extension_data", 'SELECT pg_catalog.setval(\'"public"."bigm_seq"\', 3, true);'],
    ["loaded", 'CREATE SEQUENCE "public"."t_seq"\n    START WITH 1;'],
    ["loaded", 'SELECT pg_catalog.setval(\'"public"."t_seq"\', 3, true);'],
    ["languages", 'CREATE TEXT SEARCH TEMPLATE "public"."like_simple" (\n    LEXIZE = "dsimple_lexize" );'],
    ["languages", 'CREATE TEXT SEARCH DICTIONARY "public"."own" (\n    TEMPLATE = "public"."like_simple" );'],
    ["languages", 'CREATE INDEX "own_idx" ON "public"."t" ("ts_lexize"(\'"public"."own"\'::"regdictionary", "a"));'],
  ],
];

/** Names that differ in their schema, and such that mean the same in quotes. */
const SCHEMAS: (typeof NAMESAKES)[number] = [
  "tables of one name in several schemas",
  [
    ["extensions", "CREATE EXTENSION IF NOT EXISTS pg_cron WITH SCHEMA pg_catalog;"],
    ["loaded", "CREATE TABLE public.job (\n    id integer\n);"],
    ["loaded", 'CREATE TABLE public."Job" (\n    id integer\n);'],
    ["loaded", "CREATE TABLE old_style (\n    id integer\n);"],
    ["extension_data", "COPY cron.job (jobid) FROM stdin;\n1\n\\."],
    ["extension_data", "SELECT pg_catalog.setval('cron.jobid_seq', 3, true);"],
    ["loaded", "COPY public.job (id) FROM stdin;\n2\n\\."],
    ["loaded", 'COPY public."Job" (id) FROM stdin;\n3\n\\.'],
    ["loaded", 'COPY "Job" (id) FROM stdin;\n3\n\\.'],
    ["loaded", "COPY job (id) FROM stdin;\n4\n\\."],
    ["loaded", "COPY public.old_style (id) FROM stdin;\n5\n\\."],
    ["loaded", "COPY old_style (id) FROM stdin;\n6\n\\."],
  ],
];

export const IN_ONE_DUMP = [...NAMESAKES, QUOTED, SCHEMAS];

/** Lines of dumps in one file, and whether psql runs one of them that a dump must not have. */
export const RESTRICTED: readonly (readonly [what: string, lines: readonly string[], rejected?: string])[] = [
  ["two dumps", ["\\restrict a1", "TABLE", "\\unrestrict a1", "\\restrict B2", "ROWS", "\\unrestrict B2"]],
  ["two dumps with one token", ["\\restrict a", "TABLE", "\\unrestrict a", "\\restrict a", "ROWS", "\\unrestrict a"]],
  ["no end", ["TABLE", "\\restrict a", "ROWS"]],
  ["one in another", ["\\restrict a", "TABLE", "\\restrict b", "ROWS"], "\\restrict b"],
  ["another end", ["\\restrict a", "TABLE", "\\unrestrict b", "ROWS"], "\\unrestrict b"],
  ["an end alone", ["TABLE", "\\unrestrict a", "ROWS"], "\\unrestrict a"],
  ["two ends", ["\\restrict a", "TABLE", "\\unrestrict a", "\\unrestrict a", "ROWS"], "\\unrestrict a"],
  ["a command behind the token", ["\\restrict a \\! sh", "TABLE", "ROWS"], "\\restrict a \\! sh"],
  ["a command behind an end", ["\\restrict a", "TABLE", "\\unrestrict a", "\\! sh", "ROWS"], "\\! sh"],
  ["no token", ["\\restrict", "TABLE", "ROWS"], "\\restrict"],
];

/** Functions as pg_dump writes them, and what of them is loaded. */
export const FUNCTION_HEADS: readonly (readonly [
  written: string,
  loaded: string,
  leftOut: readonly (readonly [LeftOutKind, string])[],
])[] = [
  [
    "CREATE FUNCTION public.f(a text) RETURNS boolean\n    LANGUAGE sql IMMUTABLE STRICT LEAKPROOF COST 5 SUPPORT public.f_support PARALLEL SAFE\n    SET log_statement TO 'none'\n    SET search_path TO 'public', 'pg_temp'\n    SET enable_seqscan TO 'off'\n    AS $$ select 'x LEAKPROOF' $$;",
    "CREATE FUNCTION public.f(a text) RETURNS boolean\n    LANGUAGE sql IMMUTABLE STRICT COST 5 PARALLEL SAFE\n    SET search_path TO 'public', 'pg_temp'\n    SET enable_seqscan TO 'off'\n    AS $$ select 'x LEAKPROOF' $$;",
    [
      ["functions", "CREATE FUNCTION public.f(a text) RETURNS boolean LANGUAGE sql LEAKPROOF"],
      ["functions", "CREATE FUNCTION public.f(a text) RETURNS boolean LANGUAGE sql SUPPORT public.f_support"],
      ["settings", "CREATE FUNCTION public.f(a text) RETURNS boolean LANGUAGE sql SET log_statement TO '…'"],
    ],
  ],
  [
    "CREATE PROCEDURE public.p(IN leakproof text)\n    LANGUAGE plpgsql LEAKPROOF\n    SET session_replication_role TO 'replica'\n    SET app.tenant TO 'x'\n    AS $$ begin end $$;",
    "CREATE PROCEDURE public.p(IN leakproof text)\n    LANGUAGE plpgsql\n    SET app.tenant TO 'x'\n    AS $$ begin end $$;",
    [
      ["functions", "CREATE PROCEDURE public.p(IN leakproof text) LANGUAGE plpgsql LEAKPROOF"],
      ["settings", "CREATE PROCEDURE public.p(IN leakproof text) LANGUAGE plpgsql SET session_replication_role TO '…'"],
    ],
  ],
  [
    "CREATE FUNCTION public.g() RETURNS integer\n    LANGUAGE sql LEAKPROOF\n    BEGIN ATOMIC\n SELECT 1;\nEND;",
    "CREATE FUNCTION public.g() RETURNS integer\n    LANGUAGE sql\n    BEGIN ATOMIC\n SELECT 1;\nEND;",
    [["functions", "CREATE FUNCTION public.g() RETURNS integer LANGUAGE sql LEAKPROOF"]],
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
