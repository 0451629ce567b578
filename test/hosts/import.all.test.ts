// An import over SSH: the real script, its Python and a real store; Docker and its databases are stand-ins. Its archives come
// from anyone.
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { strToU8, unzipSync, zipSync, type Zippable } from "fflate";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Job, JobResult } from "../../shared/hosts/host.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { BUCKET } from "../local/services.ts";
import { ownAws } from "./cloud.ts";
import { drivenProgram } from "./files-program.ts";
import { noMachine, PAGES, processesWith, signal, startMachine, type TestMachine, until } from "./machine.ts";
import { LEAVING_TEXTS, NAMED_LIKE_FUNCTIONS } from "./statements.ts";

const MANIFEST = {
  odoo_dump: "1",
  db_name: "Müller & Co",
  version_info: [19, 0, 0, "final", 0, ""],
  major_version: "19.0",
  pg_version: "16.0",
  modules: { base: "19.0.1.3", web_enterprise: "19.0.1.0" },
};
/** The head of a dump, as pg_dump 17 writes it. */
const HEAD = `--
-- PostgreSQL database dump
--

\\restrict abc

-- Dumped by pg_dump version 17.6

SET statement_timeout = 0;
SET transaction_timeout = 0;
SET some_setting_of_tomorrow = 'on';
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);

`;
const TAIL = "\n--\n-- PostgreSQL database dump complete\n--\n\n\\unrestrict abc\n\n";
/** The end of a dump as it is scanned, when the newest clients' lines have been removed. */
const END = TAIL.replace(/\\unrestrict.*\n/, "");
const dumpOf = (sql: string): string => `${HEAD}${sql}${TAIL}`;
const ROWS =
  "CREATE TABLE public.t (a text);\nCOPY public.t (a) FROM stdin;\nset transaction_timeout = 0;\n\\N\n\\\\!\nlo_import(1)\n\\.\n";

const zipOf = (
  entries: Zippable = {},
  { manifest = MANIFEST, sql = ROWS }: { manifest?: object; sql?: string } = {},
): Uint8Array => zipSync({ "dump.sql": strToU8(dumpOf(sql)), "manifest.json": strToU8(JSON.stringify(manifest)), ...entries });

describe("an import over SSH", unless(noMachine), () => {
  let machine: TestMachine;
  let s3: S3Client;
  const note = (name: string): string => join(machine.notes, name);
  beforeAll(async () => {
    const local = await ownAws();
    s3 = new S3Client({ ...local.as("operator"), forcePathStyle: true });
    machine = await startMachine();
    machine.install("ins_1", {});
    machine.docker('echo "$*" >> $NOTES/calls');
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(note(name));
  });
  afterAll(() => machine.stop());

  let imports = 0;
  async function jobOf(
    bytes: Uint8Array,
    sha256 = createHash("sha256").update(bytes).digest("hex"),
  ): Promise<Job<"import_archive">> {
    imports += 1;
    const key = `accounts/acc_1/backups/bak_import_${imports}.zip`;
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: bytes }));
    const archive = { key, size_bytes: bytes.length, sha256 };
    return { id: `op_${imports}-examineArchive`, kind: "import_archive", archive, erp_versions: ["20.0", "19.0"], note: null };
  }
  async function runJob(job: Job<"import_archive">): Promise<JobResult<"import_archive">> {
    let result: { of: JobResult<"import_archive"> } | undefined;
    const advance = async (): Promise<boolean> => {
      const progress = await ssh.run(machine.server, job);
      if (progress.ready) result = { of: progress.result };
      return progress.ready;
    };
    await until(`${job.id} is ready`, advance);
    if (result === undefined) throw new Error("It has no result");
    return result.of;
  }
  const examined = async (bytes: Uint8Array) => runJob(await jobOf(bytes));
  const running = (): number[] => processesWith(`ERP_HOSTING_ROOT=${machine.root}`);
  const expectRemoved = async (): Promise<void> => {
    await until("everything is removed", () => running().length === 0);
    expect(existsSync(join(machine.root, "drill"))).toBe(false);
    expect(existsSync(join(machine.volume, "..", "ran"))).toBe(false);
    const calls = existsSync(note("calls")) ? readFileSync(note("calls"), "utf8").trimEnd().split("\n") : [];
    if (calls.some((call) => call.startsWith("run ")))
      expect(calls.at(-1)).toBe("volume rm -f erp-drill_db erp-drill_odoo erp-drill_code_drill erp-drill_python_drill");
  };
  const expectRejected = async (bytes: Uint8Array, reason: string): Promise<void> => {
    const rejected = { name: "GiveUp", code: "BACKUP_CORRUPT", message: expect.stringContaining(reason) };
    await expect(examined(bytes)).rejects.toMatchObject(rejected);
    await expectRemoved();
  };

  test("a good archive says what it is, is loaded without a network by a role without privileges, and leaves nothing", async () => {
    writeFileSync(note("listed"), "ab/there\ncd/missing\n");
    const sql = `${ROWS}GRANT SELECT ON TABLE public.t TO metabase;\n`;
    expect(await examined(zipOf({ "filestore/ab/there": randomBytes(100) }, { sql }))).toEqual({
      erp_version: "19.0",
      edition: "enterprise",
      database_name: "M_ller___Co",
      missing_files: 1,
      listed_files: 2,
      left_out: [
        { kind: "privileges", count: 1, names: ["GRANT SELECT ON TABLE public.t TO metabase"] },
        { kind: "settings", count: 2, names: ["SET transaction_timeout = 0", "SET some_setting_of_tomorrow = '…'"] },
      ],
      modules: null, // the machine has no enterprise edition
    });
    const calls = readFileSync(note("calls"), "utf8").split("\n");
    expect(calls.find((call) => call.includes("--name erp-drill-db"))).toContain("--network none");
    const restored = readFileSync(note("restored.sql"), "utf8");
    expect(restored).not.toMatch(/restrict|^SET transaction_timeout|some_setting|metabase/m);
    expect(restored).toContain("SET statement_timeout = 0;\nSET client_encoding = 'UTF8';\n");
    expect(restored).toContain(ROWS);
    await expectRemoved();
  });

  test("the ERP's own archives lack what only ours have", async () => {
    const { modules, ...others } = MANIFEST;
    expect(Object.keys(modules)).toContain("base");
    expect(await examined(zipOf({}, { manifest: { ...others, db_name: "" } }))).toMatchObject({
      edition: "community",
      database_name: "imported",
      missing_files: 0,
    });
  });

  test("an archive's modules are compared with those of the image that an instance of it would have", async () => {
    mkdirSync(join(machine.root, "modules"), { recursive: true });
    writeFileSync(join(machine.root, "modules/image"), JSON.stringify({ base: "19.0.1.3" }));
    writeFileSync(note("counted"), '["base","19.0.1.3"]\n["queue_job","19.0.2.1"]\n');
    const { web_enterprise: _, ...modules } = MANIFEST.modules;
    expect(await examined(zipOf({}, { manifest: { ...MANIFEST, modules } }))).toMatchObject({
      edition: "community",
      modules: [{ name: "queue_job", version: "19.0.2.1", image_version: null }],
    });
    rmSync(join(machine.root, "modules"), { recursive: true });
    await expectRemoved();
  });

  test("an archive that an earlier version of the script has listed is listed again", async () => {
    const job = await jobOf(zipOf());
    mkdirSync(join(machine.root, "archives"), { recursive: true });
    writeFileSync(join(machine.root, "archives", `${job.archive.sha256}.json`), '{"dump_bytes":1,"file_bytes":1}');
    expect(await runJob(job)).toMatchObject({ erp_version: "19.0" });
  });

  test("a rejected archive leaves nothing", async () => {
    await expectRejected(zipOf({ "../x": randomBytes(10) }), "it contains ../x, which is not part of an ERP's backup");
    await expectRejected(zipOf({}, { sql: "\\! touch ../ran\n" }), "a command that leaves the database: \\! touch ../ran");
  });

  test("a version that the catalog does not have yet is no fault of the archive", async () => {
    const later = zipOf({}, { manifest: { ...MANIFEST, major_version: "21.0" } });
    const rejected = { name: "GiveUp", code: "HOST_JOB_FAILED", message: expect.stringContaining("it is of version 21.0") };
    await expect(examined(later)).rejects.toMatchObject(rejected);
    await expectRemoved();
  });

  /** What the program says after this code, which may use its classes. */
  const driven = (driver: string, input = ""): unknown => {
    const { stdout, stderr } = spawnSync("python3", ["-I", "-c", drivenProgram(driver)], {
      input,
      encoding: "utf8",
      timeout: 100_000,
    });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  };
  /** What the scan says of each text, in pieces of these sizes. */
  const scanned = (texts: string[]): (string | null)[][] => {
    const driver = `
def verdict(text, size):
    scan = Scan()
    try:
        for place in range(0, len(text), size):
            scan.feed(text[place : place + size])
    except Unusable as error:
        return str(error)
print(json.dumps([[verdict(text.encode(), size) for size in (1 << 20, 7, 1)] for text in json.load(sys.stdin)]))
`;
    return z.array(z.array(z.string().nullable())).parse(driven(driver, JSON.stringify(texts)));
  };

  test("a hostile dump of 256 KB is scanned in seconds", () => {
    // Each took minutes or hours when the time grew with the square of a run's length; all together take two seconds.
    const hostile = [
      ...["\n", ";", "COPY a ", "COPY a TO ", "dblink", "\nCOPY a FROM stdin;\n\\."].map((rest) => ["", rest]),
      ["COPY", " "],
      ["COPY a FROM", "\n"],
      ["\nCOPY ", "a"],
      ["\nCOPY a FROM stdin;\n", "\n\\N"],
      ["\nCREATE", "\n"],
      ["\nCREATE OR REPLACE", " "],
      ["dblink", "\t"],
      ["LANGUAGE", "\n"],
      ["", `${"copy\n".repeat(100)}to`],
      ["E'", "\\"],
      ...["$$", "DO $$ ;", "'", "/*", "$a", '"', "BEGIN COPY "].map((rest) => ["", rest]),
    ];
    const driver = `
for first, rest in json.load(sys.stdin):
    Scan().feed((first + rest * (PIECE // 4 // len(rest))).encode())
table = b"\\nCOPY public.ir_attachment (store_fname) FROM stdin;\\n"
Listed().feed((table + b"\\\\.\\n") * 5000)
for begun in (table, table[:20]):
    listed = Listed()
    listed.feed(begun)
    for _ in range(1000):
        listed.feed(b"a" * 65536)
print("true")
`;
    expect(driven(driver, JSON.stringify(hostile))).toBe(true);
  });

  test("a long line is not scanned anew with each small piece of it", () => {
    const driver = `
class Counting(Scan):
    size = 0
    def feed(self, data):
        self.size += len(self.text) + len(data)
        super().feed(data)
scan = Counting()
loading = Loading(None, scan)
for _ in range(1 << 10):
    loading.write(b"a" * (1 << 12))
loading.pass_on()
print(scan.size)
`;
    expect(driven(driver)).toBeLessThan(10 * 1024 ** 2);
  });

  test("a dump with a command that leaves the database is rejected by the scan, wherever its pieces end", () => {
    const verdicts = scanned(LEAVING_TEXTS.map(([, sql]) => `${ROWS}${sql}${END}`));
    for (const [index, [what]] of LEAVING_TEXTS.entries())
      for (const verdict of verdicts[index] ?? []) expect(verdict, what).toContain("a command that leaves the database");
  });

  test("a dump of the ERP passes the scan, whatever people wrote into its rows and comments", () => {
    const harmless = [
      ROWS,
      "COMMENT ON TABLE public.a IS 'Go to Program';\nCOMMENT ON TABLE public.b IS 'Create User; copy from ''a''';\n",
      "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $_$ begin return 1; end $_$;\nCREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;\n",
      "COMMENT ON COLUMN public.t.a IS 'Copy the file to ''Archive'' folder';\nCOMMENT ON COLUMN t.a IS E'Path \\\\\\\\server\\\\copy t from program \\'x\\'';\n",
      "COMMENT ON COLUMN t.a IS '\n\\! sh\n\\copy a from ''b''\nlo_import(1)';\n-- \\! sh\n/* COPY t FROM PROGRAM 'x'; \\g |x */ SELECT 1;\n",
      "COPY t (a) FROM stdin;\n\\\\! sh\nCOPY x FROM PROGRAM 'id';\npg_read_file('x')\n\\.\n\nCOPY u (a) FROM stdin;\n\\.\n",
      'CREATE TABLE "copy" ("to" text DEFAULT \'program\', copy_to text);\nCREATE INDEX i ON "copy" ("language", c);\n',
      "CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$ begin -- copy t from program 'x'\n return 'copy t from program'; end $$;\n",
      "CREATE VIEW v AS SELECT substring(copy FROM 'a') AS x FROM t;\nCOMMENT ON FUNCTION public.dblink(text) IS 'x';\n",
      NAMED_LIKE_FUNCTIONS,
      "INSERT INTO t VALUES ('copies', E'a\\nb', '\\d+');\nSELECT pg_catalog.setval('public.t_id_seq', 1, true);\n",
    ];
    expect(scanned(harmless.map((sql) => `${sql}${END}`)).flat()).toEqual(harmless.flatMap(() => [null, null, null]));
  });

  test("what the database rejects is the archive's fault, and what stops the database is not", async () => {
    writeFileSync(note("sql-error"), "psql:/in:9: ERROR:  42501: permission denied for function pg_read_file\n");
    await expectRejected(zipOf(), "the database reports: permission denied for function pg_read_file");
    for (const state of [
      "53100: could not extend file",
      "53200: out of shared memory",
      "57P01: terminating connection",
      "58030: could not write",
    ]) {
      writeFileSync(note("sql-error"), `psql:/in:9: ERROR:  ${state}\n`);
      await expect(examined(zipOf())).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining(state.slice(7)),
      });
    }
    writeFileSync(note("sql-error"), "psql: error: connection to server failed\n");
    await expect(examined(zipOf())).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    writeFileSync(note("sql-error"), 'psql:/in:9: ERROR:  42704: type "extensions.vector" does not exist\n');
    await expectRejected(zipOf(), "its database has the extension vector in the schema extensions, but here it is in public");
    writeFileSync(note("sql-error"), 'psql:/in:9: ERROR:  42704: type "public.vector" does not exist\n');
    const expectKept = async (reason: string, sql = ROWS): Promise<void> =>
      expect(examined(zipOf({}, { sql }))).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining(reason),
      });
    await expectKept("its database needs vector of the extension vector (pgvector)");
    for (const [state, message, reason] of [
      ["42704", 'type "public.halfvec" does not exist', "its database needs halfvec of the extension vector (pgvector)"],
      ["22023", 'could not create locale "de_DE.utf8": No such file or directory', "a collation or a locale that PostgreSQL"],
      ["F0000", 'could not open dictionary file "de.dict"', "The throwaway database server reports: could not open dictionary"],
    ] as const) {
      writeFileSync(note("sql-error"), `psql:/in:9: ERROR:  ${state}: ${message}\n`);
      await expectKept(reason);
    }
    writeFileSync(note("sql-error"), "psql:/in:9: ERROR:  42P17: of tomorrow\n");
    await expectKept(
      "is of PostgreSQL 18, but here it is restored to PostgreSQL 16",
      `-- Dumped from database version 18.1\n${ROWS}`,
    );
    await expectRejected(zipOf(), "the database reports: of tomorrow");
    writeFileSync(note("sql-error"), 'psql:/in:9: ERROR:  42704: type "my_vector" does not exist\n');
    await expectRejected(zipOf(), 'the database reports: type "my_vector" does not exist');
    writeFileSync(note("sql-error"), 'psql:/in:9: ERROR:  42704: type "public.geometry" does not exist\n');
    const expectNeeding = async (sql: string, reason: string): Promise<void> =>
      expect(examined(zipOf({}, { sql }))).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining(`${reason}. The database reports: type "public.geometry" does not exist`),
      });
    const without = ["postgis", "pg_cron"].map((name) => `CREATE EXTENSION IF NOT EXISTS ${name} WITH SCHEMA public;\n`);
    await expectNeeding(`${without.join("")}${ROWS}`, "try the import again");
    await expectKept("PostgreSQL does not have here: pg_cron, postgis. Remove what uses it", `${without.join("")}${ROWS}`);
    writeFileSync(note("available"), "plpgsql\npostgis\nvector\n");
    await expectKept(
      "PostgreSQL does not have pg_cron here, and only a superuser can create postgis.",
      `${without.join("")}${ROWS}`,
    );
    await expectKept("which only a superuser can create here: postgis.", `${without[0]}${ROWS}`);
    rmSync(note("available"));
    await expectNeeding(
      `-- Dumped from database version 18.1\n${ROWS}`,
      "it is restored to PostgreSQL 16. Ask the operator of the service for a newer one, and then try the import again",
    );
    writeFileSync(note("sql-error"), "psql:/in:9: ERROR:  23505: duplicate key value\n");
    await expectRejected(zipOf({}, { sql: `${without.join("")}${ROWS}` }), "the database reports: duplicate key value");
    writeFileSync(note("sql-error"), "psql:/in:9: error: connection to server was lost\n");
    writeFileSync(note("sql-status"), "2");
    await expect(examined(zipOf())).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    for (const name of ["sql-error", "sql-status"]) rmSync(note(name));
    for (const query of ["name = 'base'", "distinct store_fname"]) {
      writeFileSync(note("recovers-at"), query);
      await expect(examined(zipOf())).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    }
    rmSync(note("recovers-at"));
    for (const [query, reason] of [
      ["name = 'base'", "its database is not an ERP's"],
      ["distinct store_fname", "its database has no list of its files"],
    ] as const) {
      writeFileSync(note("fails-at"), `${query}\nERROR:  53100: could not extend file\n`);
      await expect(examined(zipOf())).rejects.toMatchObject({
        code: "HOST_JOB_FAILED",
        message: expect.stringContaining("The throwaway database server reports: could not extend file"),
      });
      writeFileSync(note("fails-at"), `${query}\nERROR:  42P01: relation does not exist\n`);
      await expectRejected(zipOf(), reason);
    }
    rmSync(note("fails-at"));
    writeFileSync(note("base"), "17.0.1.3\n");
    await expectRejected(zipOf(), "its database is not of version 19.0");
    await expect(runJob(await jobOf(zipOf(), "0".repeat(64)))).rejects.toMatchObject({ code: "BACKUP_CORRUPT" });
    await expectRemoved();
  });

  test("an archive that was unpacked and packed again is restored from its folder, without what that added", async () => {
    const folder = Object.entries(
      unzipSync(zipOf({ "filestore/ab/there": randomBytes(100), "filestore/.DS_Store": randomBytes(10) })),
    );
    const again = zipSync(Object.fromEntries(folder.map(([path, data]) => [`shop/${path}`, data])));
    writeFileSync(note("listed"), "ab/there\n.DS_Store\n");
    expect(await examined(again)).toMatchObject({ erp_version: "19.0", missing_files: 1 });
    expect(readFileSync(note("restored.sql"), "utf8")).toContain(ROWS);
  });

  test("an import that is killed midway starts again, and one that is undone midway is removed", async () => {
    machine.standIn("nsenter", PAGES);
    const archive = zipOf({ "filestore/ab/file": randomBytes(1000) });
    const [killed, undone] = [await jobOf(archive), await jobOf(archive)];
    // Each is held where it starts a container.
    machine.docker('echo "$*" >> $NOTES/calls; while [ "$1" = run ] && [ -e $NOTES/hold ]; do sleep 0.1; done');
    const untilHeld = async (job: Job): Promise<void> => {
      rmSync(note("calls"), { force: true });
      writeFileSync(note("hold"), "");
      expect((await ssh.run(machine.server, job)).ready).toBe(false);
      await until("it is held", () => existsSync(note("calls")) && /^run /m.test(readFileSync(note("calls"), "utf8")));
    };
    await untilHeld(killed);
    for (const pid of running()) signal(pid, "SIGKILL");
    rmSync(note("hold"));
    expect(existsSync(join(machine.root, "drill"))).toBe(true);
    expect(await runJob(killed)).toMatchObject({ erp_version: "19.0" });
    await untilHeld(undone);
    const undo: Job = { id: "op_undo-removeExamined-try1", kind: "remove_drill", ends: [undone.id] };
    await until("it is removed", async () => (await ssh.run(machine.server, undo)).ready);
    await expectRemoved();
  });
});
