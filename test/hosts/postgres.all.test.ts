// Dumps as a real PostgreSQL writes them, loaded by the script's own statements and by a role without privileges.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import { drivenProgram } from "./files-program.ts";

const INSTALLED = "/usr/lib/postgresql";
const [bin] = (existsSync(INSTALLED) ? readdirSync(INSTALLED) : [])
  .map((version) => join(INSTALLED, version, "bin"))
  .filter((folder) => existsSync(join(folder, "initdb")));
const isRoot = process.getuid?.() === 0;
const noPostgres = bin === undefined || !isRoot ? "they need Debian's PostgreSQL, and root" : undefined;

/** Its database server, in a folder of its own. */
const SERVER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"];

/** The script's functions, which ask that server instead of a container's. */
const SCRIPT = `set -euo pipefail
for part in jobs files instance restore import; do source "shared/hosts/script/$part.sh"; done
docker() { while [[ $1 != psql ]]; do shift; done; "$BIN/psql" -h "$SOCKET" "\${@:2}"; }
superuser() { echo postgres; }
PROJECT=erp-test
P[OUTSIDE]=yes
`;

/** Loads a dump by what the program on a machine passes on of it. */
const LOAD = `
with open(sys.argv[1], "rb") as dump, open(sys.argv[2], "wb") as out:
    origin = Origin(json.loads(sys.argv[3]))
    Statements(iter(lambda: dump.read(1 << 20), b""), origin, out.write).run()
print(json.dumps(origin.report()))
`;

describe("dumps of a real PostgreSQL", unless(noPostgres), () => {
  let folder: string;
  const run = (command: string, ...parameters: string[]): string => execFileSync(command, parameters, { encoding: "utf8" });
  const postgres = (program: string, ...parameters: string[]): string => {
    const [command = "", ...options] = SERVER;
    return run(command, ...options, join(bin ?? "", program), ...parameters);
  };
  const script = (commands: string, variables: Readonly<Record<string, string>> = {}, input = "") => {
    const environment = { PATH: process.env["PATH"], BIN: bin, SOCKET: folder, ...variables };
    return spawnSync("bash", ["--norc", "-c", `${SCRIPT}${commands}`], { encoding: "utf8", env: environment, input });
  };
  const psql = (database: string, sql: string): string =>
    run(join(bin ?? "", "psql"), "-XqAtv", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", "-d", database, "-c", sql).trim();
  const unaccents = (database: string): string =>
    psql(database, "select string_agg(distinct provolatile::text, '') from pg_proc where proname = 'unaccent' and pronargs = 1");
  const leftOvers = (database: string): string =>
    psql(database, "select count(*) from pg_event_trigger, pg_proc where proname like 'erp_hosting%'");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "postgres-"));
    chmodSync(folder, 0o777);
    postgres("initdb", "-D", join(folder, "data"), "-A", "trust", "-N");
    const options = `-k ${folder} -c listen_addresses= -c fsync=off`;
    postgres("pg_ctl", "-D", join(folder, "data"), "-o", options, "-l", join(folder, "log"), "-w", "start");
    psql("postgres", "create role odoo login; create role erp_restore login");
  });
  afterAll(() => {
    postgres("pg_ctl", "-D", join(folder, "data"), "-m", "immediate", "stop");
    rmSync(folder, { recursive: true, force: true });
  });

  let loads = 0;
  /** What is left out, and the name of the database that a dump of these statements was loaded to. */
  function loaded(sql: string, ...options: string[]) {
    loads += 1;
    const [source, target] = [`source_${loads}`, `target_${loads}`];
    const [dump, filtered] = [join(folder, `${source}.sql`), join(folder, `${target}.sql`)];
    psql("postgres", `create database ${source} template template0`);
    psql(source, sql);
    run(join(bin ?? "", "pg_dump"), "-h", folder, "-U", "postgres", "--no-owner", "-f", dump, ...options, source);
    const creation = script(`make_database ${target} erp_restore; known_here ${target}`);
    expect(creation.stderr).toBe("");
    const { stdout, stderr } = spawnSync("python3", ["-I", "-c", drivenProgram(LOAD), dump, filtered, creation.stdout], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    const load = ["-Xqv", "ON_ERROR_STOP=1", "-h", folder, "-U", "erp_restore", "-d", target, "-1f", filtered];
    expect(spawnSync(join(bin ?? "", "psql"), load, { encoding: "utf8" }).stderr).toBe("");
    expect(script(`end_unaccent ${target}`).stderr).not.toContain("ERROR");
    expect(leftOvers(target)).toBe("0");
    return { target, left_out: stdout };
  }

  const TABLE = "create table res_partner (name jsonb, city text); insert into res_partner values ('{\"en_US\":\"é\"}', 'Köln');";
  const UNACCENT = `create extension pg_trgm; create extension unaccent; alter function unaccent(text) immutable; ${TABLE}
    create index name_idx on res_partner using gin (unaccent((name)::text) gin_trgm_ops);
    create index city_idx on res_partner using gin (city gin_trgm_ops);`;
  const indexes = (database: string): string =>
    psql(database, "select string_agg(indexname, ' ' order by indexname) from pg_indexes where tablename = 'res_partner'");

  test("an index of unaccent is loaded, and the function stays immutable", () => {
    const { target, left_out } = loaded(UNACCENT);
    expect([indexes(target), unaccents(target), left_out.includes("extensions")]).toEqual(["city_idx name_idx", "i", false]);
    expect(psql(target, "select count(*) from res_partner where unaccent(city) = 'Koln'")).toBe("1");
  });

  test("a dump of one schema, which creates no extension, is loaded", () => {
    const { target } = loaded(UNACCENT, "-n", "public");
    expect([indexes(target), unaccents(target)]).toEqual(["city_idx name_idx", "i"]);
  });

  test("unaccent in a schema of its own with a function of the ERP's host in public is loaded", () => {
    const { target } = loaded(`create schema unaccent_schema; create extension unaccent with schema unaccent_schema;
      create function public.unaccent(text) returns text language sql immutable as $$ select unaccent_schema.unaccent($1) $$;
      ${TABLE} create index city_idx on res_partner (public.unaccent(city));`);
    expect([indexes(target), unaccents(target)]).toEqual(["city_idx", "is"]);
  });

  test("what only a superuser may define is loaded without that", () => {
    const { target, left_out } = loaded(`${TABLE} create function own(a text) returns boolean language sql immutable leakproof
      set log_statement to 'none' set search_path to public as $$ select true $$;
      create index own_idx on res_partner (own(city));`);
    expect([indexes(target), left_out.match(/LEAKPROOF|log_statement/g)]).toEqual(["own_idx", ["LEAKPROOF", "log_statement"]]);
  });

  test("what needs an extension that is left out goes with it", () => {
    const { target, left_out } = loaded(`create extension bloom; create extension dblink; ${TABLE}
      create index bloom_idx on res_partner using bloom (city);
      create function export() returns trigger language plpgsql as $$ begin perform dblink('x', 'y'); return new; end $$;
      create trigger exports after insert on res_partner for each row execute function export();
      alter table res_partner disable trigger exports; comment on trigger exports on res_partner is 'x';`);
    expect(psql(target, "select count(*) from res_partner")).toBe("1");
    expect(indexes(target)).toBe("");
    expect(left_out).toMatch(/"kind": "access_methods", "count": 1.*"kind": "functions", "count": 4/);
  });

  const FAR = `create function far(a text) returns text language plpgsql immutable as
    $$ begin if false then perform dblink('x', 'y'); end if; return a; end $$;`;

  test("what needs something that is left out goes with it where every name is in quotes", () => {
    const { target, left_out } = loaded(
      `create extension bloom; create extension pg_trgm; ${TABLE} ${FAR}
      create index bloom_idx on res_partner using bloom (city);
      create index city_idx on res_partner using gin (city gin_trgm_ops);
      create index far_idx on res_partner (far(city)); alter table res_partner cluster on far_idx;`,
      "--quote-all-identifiers",
    );
    expect(indexes(target)).toBe("city_idx");
    expect(left_out).toMatch(/"kind": "access_methods", "count": 1.*"kind": "functions", "count": 3/);
  });

  test("a view without rows that breaks a cycle goes with what replaces it, unless something needs it", () => {
    const { target } = loaded(`${FAR} create table t (id integer primary key, a text);
      create view alone as select id, far(a) as a from t group by id;
      create view needed as select id, far(a) as a from t group by id;
      create view of_needed as select * from needed;
      create view other as select id, a from t group by id;`);
    expect(psql(target, "select string_agg(viewname, ' ' order by viewname) from pg_views where schemaname = 'public'")).toBe(
      "needed of_needed other",
    );
  });

  const LACKS = [
    ["create collation c (provider = libc, locale = 'xx_XX.utf8')", 15, "needs a collation or a locale"],
    ['create table a (b text collate "xx_XX")', 15, "needs a collation or a locale"],
    ["create table a (b halfvec)", 15, "needs halfvec of the extension vector (pgvector)"],
    ["create table a (b text); create index on a using hnsw (b)", 15, "needs hnsw of the extension vector (pgvector)"],
    ["create table a (b vector_of_ours)", 15, ""],
    ["create collation c (provider = builtin, locale = 'C.UTF-8')", 99, "is of PostgreSQL 99"],
    ["create table a (b integer not null no inherit)", 99, "is of PostgreSQL 99"],
    ["create collation c (provider = libc, locale = 'xx_XX.utf8')", 99, "needs a collation or a locale"],
    ["select 1 / 0", 99, ""],
  ] as const;
  test.each(LACKS)("what PostgreSQL says of %s, in a dump of its version %i", (sql, version, reason) => {
    const failed = spawnSync(
      join(bin ?? "", "psql"),
      ["-Xqv", "VERBOSITY=verbose", "-h", folder, "-U", "postgres", "-d", "postgres", "-c", sql],
      { encoding: "utf8" },
    );
    const [, state = "", message = ""] = /ERROR: +(\w{5}): (.*)/.exec(failed.stderr) ?? [];
    const report = JSON.stringify({ left_out: [], postgres: version });
    const output = script(
      `JOB=$(mktemp -d); mkdir $JOB/work; cat > $JOB/work/report; broken() { echo "$1"; exit; }; reject_lack ${state} "$MESSAGE"; rm -r $JOB`,
      { MESSAGE: message },
      report,
    );
    expect([output.stderr, state]).toEqual(["", expect.stringMatching(/^\w{5}$/)]);
    expect(output.stdout).toContain(reason);
    expect(output.stdout === "").toBe(reason === "");
  });

  test("an operator of the dump does not run as the superuser when the load ends", () => {
    loaded(`create extension unaccent; ${TABLE}
      create function public.become(oid, regclass) returns boolean language plpgsql as
        $$ begin execute 'alter role erp_restore superuser'; return true; exception when others then return true; end $$;
      create operator public.= (function = public.become, leftarg = oid, rightarg = regclass);`);
    expect(psql("postgres", "select rolsuper from pg_roles where rolname = 'erp_restore'")).toBe("f");
  });

  test("without an index of it the function is as an earlier version of the service can load it again", () => {
    const { target } = loaded(`create extension unaccent; ${TABLE}`);
    expect(unaccents(target)).toBe("s");
  });

  test("a new instance's database has unaccent as PostgreSQL creates it", () => {
    const creation = script("make_database fresh; make_extensions fresh pg_trgm unaccent vector; end_unaccent fresh");
    expect(creation.stderr).not.toContain("ERROR");
    expect([creation.status, unaccents("fresh"), leftOvers("fresh")]).toEqual([0, "s", "0"]);
  });
});
