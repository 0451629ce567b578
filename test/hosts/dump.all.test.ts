// What of a dump is loaded: the ERP's statements and rows as they are, and nothing about the server that it comes from.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import * as z from "zod";
import { Unusable } from "../../shared/hosts/sandbox/layout.ts";
import { filterDump } from "../../shared/hosts/sandbox/statements.ts";
import { drivenProgram } from "./files-program.ts";
import { FUNCTION_HEADS, LEAVING_TEXTS, IN_ONE_DUMP, LEFT_OUT, LOADED, NAMED_LIKE_FUNCTIONS, RESTRICTED } from "./statements.ts";

const KNOWN = {
  outside: true,
  present: ["plpgsql", "vector"],
  creatable: ["pg_trgm", "unaccent", "hstore"],
  settings: [
    "statement_timeout",
    "standard_conforming_strings",
    "default_tablespace",
    "default_table_access_method",
    "datestyle",
    "search_path",
    "timezone",
    "work_mem",
    "enable_seqscan",
    "log_statement",
    "session_replication_role",
  ],
};
const DRIVER = `
def passed(text, size):
    origin, scan, out = Origin(json.loads(KNOWN)), Scan(), []
    def write(data):
        scan.feed(data)
        out.append(data)
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    try:
        Statements(pieces, origin, write).run()
    except Unusable as error:
        return {"error": str(error)}
    return {"kept": re.sub("\\n+", "\\n", b"".join(out).decode()), "left_out": origin.report()}
for text, size in json.load(sys.stdin):
    print(json.dumps(passed(text.encode(), size) | {"seconds": time.process_time()}))
`;
const Passed = z.object({
  error: z.string().optional(),
  kept: z.string().default(""),
  /** Processor time so far. */
  seconds: z.number().default(0),
  left_out: z.array(z.object({ kind: z.string(), count: z.number(), names: z.array(z.string()) })).default([]),
});
type Passed = z.infer<typeof Passed>;

/** What the program on a machine makes of each dump, in pieces of this size. */
function passedOn(dumps: readonly string[], size = 1 << 20): Passed[] {
  const program = drivenProgram(`KNOWN = ${JSON.stringify(JSON.stringify(KNOWN))}\n${DRIVER}`);
  const input = JSON.stringify(dumps.map((dump) => [dump, size]));
  const { stdout, stderr } = spawnSync("python3", ["-I", "-c", program], { input, encoding: "utf8", maxBuffer: 1e9 });
  expect(stderr).toBe("");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => Passed.parse(JSON.parse(line)));
}
const passOn = (dump: string, size?: number): Passed => passedOn([dump], size)[0] ?? Passed.parse({});

const HEAD = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\n";
const TABLE = "CREATE TABLE public.t (\n    a text\n);\n\n";
const ROWS = "COPY public.t (a) FROM stdin;\nGRANT a TO b;\n\\N\nit's $$ /* \\\\. \\.x\n\\.\n\n";
const TAIL = "\n--\n-- PostgreSQL database dump complete\n--\n\n\\unrestrict abc\n\n";
/** psql's own commands come before everything else. */
const dumpOf = (...statements: string[]): string => {
  const [commands, others] = [true, false].map((isCommand) => statements.filter((each) => each.startsWith("\\") === isCommand));
  const lines = (some: string[] = []): string => some.map((each) => `${each}\n`).join("");
  return `${HEAD}${lines(commands)}${TABLE}${lines(others)}${ROWS}${TAIL}`;
};
/** Removes empty lines, which say nothing. */
const squeezed = (text: string): string => text.replaceAll(/\n+/g, "\n");
const WHOLE = squeezed(dumpOf().replaceAll(/\\(un)?restrict abc\n/g, ""));

test("what is about the server that a dump comes from is left out, counted and named, on machines and in the sandbox", () => {
  const dumps = LEFT_OUT.map(([, statement]) => dumpOf(statement));
  for (const [index, result] of passedOn(dumps).entries()) {
    const [kind, statement] = LEFT_OUT[index] ?? [];
    const left_out = [{ kind, count: 1, names: [expect.any(String)] }];
    expect(result, statement).toMatchObject({ kept: WHOLE, left_out });
    expect(filterDump(dumps[index] ?? "").left_out, statement).toEqual(result.left_out);
  }
});

test("what is the ERP's is loaded as it is, on machines and in the sandbox", () => {
  const dumps = LOADED.map((statement) => dumpOf(statement));
  for (const [index, result] of passedOn(dumps).entries()) {
    const statement = LOADED[index] ?? "";
    const expected = WHOLE.replace(squeezed(TABLE), (table) => `${table}${statement}\n`);
    expect(result, statement).toMatchObject({ kept: squeezed(expected), left_out: [] });
    const { sql: inSandbox, left_out } = filterDump(dumps[index] ?? "");
    expect(left_out, statement).toEqual([]);
    expect(inSandbox).toContain(statement.replace(/^\/\*.*\*\/ /, ""));
  }
});

test("what has the name of something that was left out is loaded, on machines and in the sandbox", () => {
  const dumps = IN_ONE_DUMP.map(([, statements]) => dumpOf(...statements.map(([, statement]) => statement)));
  for (const [index, { kept, left_out }] of passedOn(dumps).entries()) {
    const [what, statements = []] = IN_ONE_DUMP[index] ?? [];
    const inSandbox = filterDump(dumps[index] ?? "");
    for (const [kind, statement] of statements)
      for (const each of [kept, inSandbox.sql]) expect(each.includes(statement), `${what}: ${statement}`).toBe(kind === "loaded");
    const counts = Map.groupBy(statements, ([kind]) => kind);
    counts.delete("loaded");
    const expected = Object.fromEntries([...counts].map(([kind, { length }]) => [kind, length]));
    expect(Object.fromEntries(left_out.map(({ kind, count }) => [kind, count])), what).toEqual(expected);
    expect(inSandbox.left_out, what).toEqual(left_out);
  }
});

test("several dumps in one file are loaded, and no other command of psql is, on machines and in the sandbox", () => {
  const lineOf = (line: string): string => (line === "TABLE" ? TABLE : line === "ROWS" ? ROWS : `${line}\n`);
  const dumps = RESTRICTED.map(([, lines]) => `--\n-- PostgreSQL database dump\n--\n\n${lines.map(lineOf).join("")}`);
  for (const [index, { error, kept }] of passedOn(dumps).entries()) {
    const [what, , rejected] = RESTRICTED[index] ?? [];
    const message = rejected === undefined ? undefined : `its dump contains a command that leaves the database: ${rejected}`;
    expect(error, what).toBe(message);
    const inSandbox = () => filterDump(dumps[index] ?? "").left_out;
    if (message !== undefined) {
      expect(inSandbox, what).toThrow(expect.objectContaining({ message }));
      continue;
    }
    expect(inSandbox(), what).toEqual([]);
    expect(kept, what).toContain(squeezed(`${TABLE}${ROWS}`));
    expect(kept, what).not.toContain("restrict");
  }
});

test("a view without rows goes with the view that was left out", () => {
  const view = (or: string, name: string, select: string): string => `CREATE ${or}VIEW public.${name} AS\n${select};`;
  const dump = dumpOf(
    inPython,
    view("", "v", " SELECT\n    NULL::integer AS id"),
    view("", "w", " SELECT\n    NULL::integer AS id"),
    view("OR REPLACE ", "v", " SELECT public.py(a) AS id\n   FROM public.t"),
    view("OR REPLACE ", "w", " SELECT 1 AS id\n   FROM public.t"),
    view("OR REPLACE ", "x", " SELECT public.py(a) AS id\n   FROM public.t"),
  );
  const { kept } = passOn(dump);
  expect(kept.match(/drop view if exists \S+;/g)).toEqual(['drop view if exists "public"."v";']);
});

test("a view's name cannot end the statement that removes it, and run what is behind", () => {
  const name = '"v$erp_hosting$ \\! touch /tmp/seen"';
  const dump = dumpOf(
    inPython,
    `CREATE VIEW public.${name} AS\n SELECT\n    NULL::integer AS id;`,
    `CREATE OR REPLACE VIEW public.${name} AS\n SELECT public.py(a) AS id\n   FROM public.t;`,
  );
  expect(passOn(dump).kept).not.toMatch(/drop view/);
});
const inPython = "CREATE FUNCTION public.py(a text) RETURNS integer\n    LANGUAGE plpython3u\n    AS $$x$$;";

test("a function is loaded without what only a superuser may say in its head, on machines and in the sandbox", () => {
  const dumps = FUNCTION_HEADS.map(([written]) => dumpOf(written));
  for (const [index, { kept, left_out }] of passedOn(dumps).entries()) {
    const [, loaded = "", names = []] = FUNCTION_HEADS[index] ?? [];
    const inSandbox = filterDump(dumps[index] ?? "");
    for (const each of [kept, inSandbox.sql]) expect(each).toContain(loaded);
    expect(left_out.flatMap(({ kind, names: some }) => some.map((name) => [kind, name]))).toEqual(names);
    expect(inSandbox.left_out).toEqual(left_out);
  }
});

test("a dump of single schemas gets the extensions that it uses and does not create", () => {
  const trgm = "CREATE INDEX i ON public.t USING gin (public.unaccent((a)::text) public.gin_trgm_ops);";
  const again = "CREATE INDEX j ON public.t USING gist (a public.gist_trgm_ops);";
  const create = (name: string): string => `CREATE EXTENSION IF NOT EXISTS ${name} WITH SCHEMA public;\n`;
  const without = squeezed(dumpOf(trgm, again).replaceAll(/\\(un)?restrict abc\n/g, ""));
  expect(passOn(dumpOf(trgm, again)).kept).toBe(without.replace(trgm, `${create("pg_trgm")}${create("unaccent")}${trgm}`));
  const extensions = ["pg_trgm", "unaccent"].map((name) => create(name).trimEnd());
  expect(passOn(dumpOf(...extensions, trgm)).kept.match(/CREATE EXTENSION/g)).toHaveLength(2);
  const ownFunction = "CREATE FUNCTION public.unaccent(text) RETURNS text\n    LANGUAGE sql\n    AS $$x$$;";
  expect(passOn(dumpOf(ownFunction, "CREATE INDEX i ON public.t USING btree (public.unaccent(a));")).kept).not.toContain(
    "EXTENSION",
  );
  expect(passOn(dumpOf("INSERT INTO public.t VALUES (public.unaccent('x'));")).kept).not.toContain("EXTENSION");
});

test("tables that are called as functions which leave the database are loaded, on machines and in the sandbox", () => {
  const dump = `${HEAD}${TABLE}${NAMED_LIKE_FUNCTIONS}${TAIL}`;
  const { error, left_out } = passOn(dump);
  expect([error, left_out]).toEqual([undefined, []]);
  expect(filterDump(dump).left_out).toEqual([]);
});

test("what leaves the database is rejected in the same words, or left out, on machines and in the sandbox", () => {
  const dumps = LEAVING_TEXTS.map(([, statement]) => `${HEAD}${TABLE}${statement}${ROWS}${TAIL}`);
  const inSandbox = (dump: string) => {
    try {
      return { left_out: filterDump(dump).left_out };
    } catch (error) {
      return { error: error instanceof Error ? error.message : undefined };
    }
  };
  for (const [index, { error, left_out }] of passedOn(dumps).entries()) {
    const [what] = LEAVING_TEXTS[index] ?? [];
    expect(inSandbox(dumps[index] ?? ""), what).toEqual(error === undefined ? { left_out } : { error });
    if (error === undefined) expect(left_out, what).toHaveLength(1);
  }
});

test("a dump is divided the same wherever its pieces end, and its last statement needs no end", () => {
  const dump = dumpOf(...LEFT_OUT.map(([, statement]) => statement), ...LOADED);
  const expected = passOn(dump);
  for (const size of [1, 2, 3, 7, 127, 128, 129, 4096])
    expect(passOn(dump, size), `pieces of ${size}`).toEqual({ ...expected, seconds: expect.any(Number) });
  expect(passOn(`${TABLE}GRANT a TO b`)).toMatchObject({ kept: squeezed(TABLE), left_out: [{ kind: "privileges" }] });
  expect(passOn(`${TABLE}COPY public.t (a) FROM stdin;\nGRANT a TO b;`).kept).toContain("GRANT a TO b;");
});

test("a dump with a byte order mark, with the line ends of Windows, or with other strings is divided as psql does it", () => {
  expect(passOn(`\uFEFF${dumpOf()}`).kept).toBe(WHOLE);
  const windows = passOn(dumpOf("GRANT a TO b;").replaceAll("\n", "\r\n"));
  expect(windows).toMatchObject({ left_out: [{ kind: "privileges", count: 1 }] });
  expect(windows.kept).toContain("GRANT a TO b;\r\n\\N\r\n");
  const old = dumpOf(
    "SET standard_conforming_strings = off;",
    "INSERT INTO public.t VALUES ('\\';GRANT a TO b;');",
    "GRANT a TO b;",
  );
  expect(passOn(old)).toMatchObject({ kept: expect.stringContaining("('\\';GRANT a TO b;')"), left_out: [{ count: 1 }] });
});

test("a function of our own backups stays, whatever its body says", () => {
  const ownFunction = "CREATE FUNCTION public.export() RETURNS void LANGUAGE plpgsql AS $$ begin copy t to '/tmp/x'; end $$;";
  const driver = `
out = []
Statements([sys.stdin.buffer.read()], Origin(json.loads(KNOWN) | {"outside": False}), out.append).run()
print(json.dumps(b"".join(out).decode()))
`;
  const program = drivenProgram(`KNOWN = ${JSON.stringify(JSON.stringify(KNOWN))}\n${driver}`);
  const { stdout } = spawnSync("python3", ["-I", "-c", program], { input: dumpOf(ownFunction), encoding: "utf8" });
  expect(JSON.parse(stdout)).toContain(ownFunction);
});

test("names are no secrets, and bounded", () => {
  const [mapping] = passOn(dumpOf("CREATE USER MAPPING FOR odoo SERVER away OPTIONS (password 'it''s; secret');")).left_out;
  expect(mapping?.names).toEqual(["CREATE USER MAPPING FOR odoo SERVER away OPTIONS (password '…')"]);
  const [grants] = passOn(dumpOf(...Array.from({ length: 50 }, (_, index) => `GRANT x${index} TO ${"y".repeat(500)};`))).left_out;
  expect(grants).toMatchObject({ kind: "privileges", count: 50 });
  expect(grants?.names).toHaveLength(20);
  expect(Math.max(...(grants?.names ?? []).map(({ length }) => length))).toBe(120);
});

test("what a dump drops before it creates anything is of the database that it replaces; what it drops then, it drops", () => {
  const clean = [
    "ALTER TABLE ONLY public.t DROP CONSTRAINT t_pkey;",
    "DROP TABLE public.t;",
    "DROP EXTENSION pg_trgm;",
    "DROP SCHEMA public;",
    "SELECT pg_catalog.lo_unlink('16385');",
    "CREATE OR REPLACE VIEW public.v AS SELECT NULL::integer AS id;",
  ];
  const create = ["CREATE SCHEMA public;", "CREATE EXTENSION pg_trgm;", TABLE];
  const dump = [...clean, ...create, "DROP TABLE public.t;"].join("\n");
  const { kept, left_out } = passOn(dump);
  expect(left_out).toEqual([{ kind: "drops", count: 6, names: expect.arrayContaining(["DROP SCHEMA public"]) }]);
  expect(filterDump(dump).left_out).toEqual(left_out);
  expect(kept).toBe(squeezed(`CREATE EXTENSION pg_trgm;\n${TABLE}DROP TABLE public.t;`));
});

test("what belongs to something that was left out goes with it, and nothing that has rows or is a constraint does", () => {
  const dropped = [
    "CREATE EXTENSION IF NOT EXISTS pg_stat_statements WITH SCHEMA public;",
    "CREATE VIEW public.slow AS\n SELECT query FROM public.pg_stat_statements;",
    "COMMENT ON VIEW public.slow IS 'x';",
    "CREATE EXTENSION IF NOT EXISTS pg_cron WITH SCHEMA pg_catalog;",
    "COPY cron.job (jobid) FROM stdin;\n1\n\\.\n",
    "SELECT pg_catalog.setval('cron.jobid_seq', 1, true);",
    "CREATE FOREIGN TABLE public.away (\n    id integer\n)\nSERVER away;",
    "COMMENT ON COLUMN public.away.id IS 'x';",
    "CREATE MATERIALIZED VIEW public.far AS\n SELECT id FROM public.away\n  WITH NO DATA;",
    "CREATE UNIQUE INDEX far_idx ON public.far USING btree (id);",
    "CREATE TRIGGER tr AFTER INSERT ON public.away FOR EACH ROW EXECUTE FUNCTION public.f();",
    "ALTER TABLE ONLY public.part ATTACH PARTITION public.away DEFAULT;",
    "REFRESH MATERIALIZED VIEW public.far;",
    "CREATE POLICY p ON public.t TO metabase USING (true);",
    "COMMENT ON POLICY p ON public.t IS 'x';",
    "CREATE FUNCTION public.run() RETURNS trigger\n    LANGUAGE plpython3u\n    AS $$x$$;",
    "COMMENT ON FUNCTION public.run() IS 'x';",
    "ALTER FUNCTION public.run() DEPENDS ON EXTENSION plpython3u;",
    "CREATE TRIGGER runs AFTER UPDATE OF a ON public.t FOR EACH ROW EXECUTE FUNCTION public.run();",
    "CREATE VIEW public.ran AS\n SELECT public.run() AS a;",
  ];
  const { kept, left_out } = passOn(dumpOf(...dropped));
  expect(kept).toBe(WHOLE);
  expect(left_out.map(({ kind, count }) => [kind, count])).toEqual([
    ["extension_data", 2],
    ["extensions", 4],
    ["foreign_data", 7],
    ["languages", 5],
    ["policies", 2],
  ]);
  expect(filterDump(dumpOf(...dropped)).left_out).toEqual(left_out);
  const loaded = [
    "CREATE TABLE public.awayness (\n    id integer\n);",
    "COMMENT ON TABLE public.awayness IS 'public.away';",
    "CREATE TABLE public.pg_stat_statements_kept (\n    id integer\n);",
    "ALTER TABLE ONLY public.pg_stat_statements_kept ADD CONSTRAINT k PRIMARY KEY (id);",
    "ALTER TABLE ONLY public.t ADD CONSTRAINT c CHECK (public.pg_stat_statements());",
    "COPY public.awayness (id) FROM stdin;\n1\n\\.",
    'INSERT INTO "awayness" VALUES (2);',
    "SELECT pg_catalog.setval('public.t_a_seq', 1, true);",
    "CREATE TRIGGER tr AFTER INSERT ON public.t FOR EACH ROW EXECUTE FUNCTION public.running();",
    "ALTER TABLE ONLY public.t ADD CONSTRAINT d CHECK (public.run());",
  ];
  const identity =
    "ALTER TABLE public.t ALTER COLUMN a ADD GENERATED BY DEFAULT AS IDENTITY (\n    SEQUENCE NAME public.t_a_seq\n);";
  const dump = dumpOf(...dropped, identity, ...loaded);
  for (const text of [passOn(dump).kept, filterDump(dump).sql])
    for (const statement of loaded) expect(text, statement).toContain(statement);
});

test("extensions that are there stay as they are, and settings that the server has are made", () => {
  const dump = dumpOf(
    "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;",
    "COMMENT ON EXTENSION vector IS 'x';",
    "SET DateStyle = 'German';",
    "SET app.tenant = '1';",
    "SET search_path = public;",
    "SET TimeZone TO 'UTC';",
    "SET work_mem = '64MB';",
  );
  const { kept, left_out } = passOn(dump);
  expect(left_out).toEqual([]);
  expect(filterDump(dump).left_out).toEqual([]);
  expect(kept).toContain(
    "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;\nSET DateStyle = 'German';\nSET app.tenant = '1';",
  );
});

test("a dump of a whole server is recognized, and one made with its CREATE DATABASE is not taken for it", () => {
  const connect = String.raw`\connect shop`;
  const createDatabase = `CREATE DATABASE shop;\n\\unrestrict abc\n${connect}\n\\restrict abc\n`;
  for (const one of [passOn(`${HEAD}${createDatabase}${TABLE}${TAIL}`), filterDump(`${HEAD}${createDatabase}${TABLE}${TAIL}`)])
    expect(one).toMatchObject({ left_out: [{ kind: "databases", count: 2 }] });
  const several = `${HEAD}${createDatabase}${TABLE}\\connect other\n${TABLE}`;
  expect(passOn(several).error).toMatch(/several databases/);
  expect(() => filterDump(several)).toThrow(/several databases/);
});

test("hostile dumps are divided in a time that grows with their length", () => {
  const units = [
    "/*",
    "*/",
    "$a$",
    "a$b$",
    "''",
    "'",
    "E'",
    "\\",
    '"',
    "(",
    ";",
    "--",
    "begin ",
    "CREATE ",
    " OWNER TO ",
    ' OWNER TO "',
    "\n\\.",
    "GRANT;",
    "E'\\'",
    "()",
    "(a",
    "((a)",
    "(((a)))",
    ")",
  ];
  const heads = [
    "",
    "CREATE FUNCTION ",
    "CREATE FUNCTION a(",
    "CREATE FUNCTION a() ",
    "ALTER TABLE ",
    "CREATE POLICY a ON b ",
    "COPY a FROM stdin;\n",
    "'",
    "/*",
    "CREATE EXTENSION x;CREATE VIEW ",
  ];
  const hostile = heads.flatMap((head) => units.map((unit) => `${head}${unit.repeat((1 << 15) / unit.length)}`));
  expect(passedOn(hostile).at(-1)?.seconds).toBeLessThan(30);
  const before = process.cpuUsage();
  for (const dump of hostile)
    try {
      filterDump(dump);
    } catch (error) {
      expect(error).toBeInstanceOf(Unusable);
    }
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(30);
});
