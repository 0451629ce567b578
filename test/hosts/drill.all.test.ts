// A restore drill over SSH: the real script, its Python and a real store; Docker and its databases are stand-ins.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { reasonIn } from "../../shared/domain/reasons.ts";
import type { Job, JobKind, JobResult } from "../../shared/hosts/host.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import type { StoredArchive } from "../../shared/storage/stored-archive.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { runToEnd } from "./jobs.ts";
import { noMachine, PAGES, processesWith, signal, startMachine, type TestMachine, until } from "./machine.ts";

const FILES = { a: randomBytes(2_000_000), b: randomBytes(10) };
const sha1 = (bytes: Buffer): string => createHash("sha1").update(bytes).digest("hex");
const ATTACHMENTS = Object.entries(FILES).map(([name, bytes]) => [name, sha1(bytes)]);
const COUNTS = [
  ["public.ir_attachment", 2],
  ["public.sale_order", 41],
];
const linesOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

describe("a restore drill over SSH", unless(noMachine), () => {
  let machine: TestMachine;
  let archive: StoredArchive;
  const note = (name: string): string => join(machine.notes, name);
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", FILES);
    machine.docker(
      `case "$*" in *"--name erp-drill-builder "*) cat > $NOTES/request; cat $NOTES/code ;; esac
      echo "$*" | head -n 1 >> $NOTES/calls
      case "$*" in *"--name erp-drill-db"*) cp ${machine.root}/drill/database.env $NOTES ;; esac`,
    );
    machine.standIn(
      "nsenter",
      `if [[ "$*" == *--config* ]]; then ${PAGES}; else cat $NOTES/login 2> /dev/null || printf 200; fi`,
    );
    restoredAs(COUNTS, ATTACHMENTS);
    const key = "accounts/acc_1/backups/bak_drill.zip";
    const result = await runJob({ id: "op_made-makeArchive", kind: "make_archive", instance_id: "ins_1", key, note: null });
    archive = { key, size_bytes: result.size_bytes, sha256: result.sha256, erp_version: "19.0" };
  });
  beforeEach(() => restoredAs(COUNTS, ATTACHMENTS));
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(note(name));
  });
  afterAll(() => machine.stop());

  /** What the database says, of the instance or of the drill. */
  function restoredAs(counts: readonly unknown[], attachments: readonly unknown[]): void {
    writeFileSync(note("counted"), linesOf(counts));
    writeFileSync(note("attachments"), linesOf(attachments));
  }

  const runJob = <K extends JobKind>(job: Job<K>): Promise<JobResult<K>> => runToEnd(machine, job);

  let drills = 0;
  const drill = (): Job<"drill_archive"> => {
    drills += 1;
    return { id: `op_${drills}-drillArchive`, kind: "drill_archive", archive, edition: "community", note: null };
  };
  const checksOf = async (job = drill()) => {
    const { checks } = await runJob(job);
    for (const { detail } of checks) expect(reasonIn(detail), detail).not.toBeNull();
    return checks;
  };
  const expectRemoved = async (): Promise<void> => {
    expect(existsSync(join(machine.root, "drill"))).toBe(false);
    expect(calls().at(-1)).toBe("volume rm -f erp-drill_db erp-drill_odoo erp-drill_code_drill erp-drill_python_drill");
    await until("no process is left", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
  };
  const calls = (): string[] => readFileSync(note("calls"), "utf8").trimEnd().split("\n");

  const CODE = {
    repositories: [{ url: "https://git.example.com/acme", ref: "main", path: null, commit: "1".repeat(40), credential: null }],
    packages: [],
    allow_source_builds: false,
    environment: [],
    from: undefined,
  };

  test("a drill of a backup with code starts the ERP with that code", async () => {
    const modules = [{ name: "acme", version: "19.0.1.0", hash: "a".repeat(40) }];
    const resolved = { subjects: ["Prices"], problems: [], folders: ["1-acme"], modules, known_hosts: [] };
    writeFileSync(note("code"), JSON.stringify(resolved));
    const checks = await checksOf({ ...drill(), code: CODE });
    expect(checks.map(({ passed }) => passed)).toEqual([true, true, true, true]);
    expect(readFileSync(note("request"), "utf8")).toContain(`"commit":"${"1".repeat(40)}"`);
    const [, erp = ""] = calls().filter((call) => call.startsWith("run -d"));
    expect(erp).toContain("-v erp-drill_code_drill:/mnt/extra-addons:ro");
    expect(erp).toMatch(/--max-cron-threads=0 --addons-path=\/mnt\/extra-addons\/1-acme$/);
    await expectRemoved();
  });

  test("code that cannot be had any more fails the drill, and no check", async () => {
    const problem = "The repository https://git.example.com/acme does not exist, or what it is read with may not read it";
    const problems = [{ code: "CODE_UNREACHABLE", repository: 0, module: null, problem }];
    const resolved = { subjects: [null], problems, folders: [], modules: [], known_hosts: [] };
    writeFileSync(note("code"), JSON.stringify(resolved));
    await expect(runJob({ ...drill(), code: CODE })).rejects.toMatchObject({
      code: "CODE_UNREACHABLE",
      message: expect.stringContaining(problem),
    });
  });

  test("a drill of a good archive passes every check, without a network, and leaves nothing", async () => {
    expect(await checksOf()).toEqual([
      { name: "restores", passed: true, detail: expect.any(String) },
      { name: "rows", passed: true, detail: "All 2 tables have as many rows as in the backup" },
      { name: "files", passed: true, detail: "All 2 files have their content" },
      { name: "boots", passed: true, detail: expect.any(String) },
    ]);
    const [database = "", erp = ""] = calls().filter((call) => call.startsWith("run -d"));
    expect(database).toContain("--name erp-drill-db");
    expect(database).toContain("--network none");
    expect(readFileSync(note("database.env"), "utf8"), "the dump's commands need a password, too").toContain(
      "POSTGRES_INITDB_ARGS=--auth-host=scram-sha-256\n",
    );
    expect(erp).toMatch(/--name erp-drill .*--network container:erp-drill-db .*--workers=0 --max-cron-threads=0$/);
    expect(readFileSync(note("restored.sql"), "utf8")).toContain("create table t ();");
    await until("everything is removed", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
    await expectRemoved();
  });

  test("a drill names the table and the file that are not as they were", async () => {
    restoredAs(
      [["public.ir_attachment", 1]],
      [...ATTACHMENTS, ["c/../../../etc/passwd", null], ["gone", sha1(Buffer.from("x"))]],
    );
    const checks = await checksOf();
    expect(checks).toContainEqual({
      name: "rows",
      passed: false,
      detail: "2 tables differ: public.ir_attachment has 1 rows instead of 2",
    });
    expect(checks).toContainEqual({ name: "files", passed: false, detail: expect.stringContaining("2 of 4 files are missing") });
    const detailsOfRows = async () => (await checksOf()).find(({ name }) => name === "rows")?.detail;
    restoredAs(COUNTS.slice(0, 1), ATTACHMENTS);
    expect(await detailsOfRows()).toBe("1 table differs: public.sale_order is missing");
    restoredAs([...COUNTS, ["public.added", 0]], ATTACHMENTS);
    expect(await detailsOfRows()).toBe("1 table differs: public.added is not in the backup");
    restoredAs(COUNTS, [["a", sha1(FILES.b)]]);
    expect(await checksOf()).toContainEqual({
      name: "files",
      passed: false,
      detail: "1 of 1 files have another content, such as a",
    });
  });

  test("a dump that the database rejects fails the restore, and makes no other check", async () => {
    writeFileSync(note("sql-error"), 'psql:/in:3: ERROR:  22023: role "root" does not exist\n');
    expect(await checksOf()).toEqual([
      { name: "restores", passed: false, detail: 'The database reports: role "root" does not exist' },
    ]);
    writeFileSync(note("sql-error"), String.raw`psql:/in:7: error: invalid command \leave` + "\n");
    expect(await checksOf()).toEqual([
      { name: "restores", passed: false, detail: String.raw`The database reports: invalid command \leave` },
    ]);
    writeFileSync(note("sql-error"), "psql: error: connection to server failed\n");
    await expect(checksOf()).rejects.toMatchObject({ name: "GiveUp", code: "HOST_JOB_FAILED" });
  });

  const broken = (message: string) => ({
    name: "GiveUp",
    code: "HOST_JOB_FAILED",
    message: expect.stringContaining(message),
  });
  const LOST = "psql:/in:3: server closed the connection unexpectedly\npsql:/in:3: error: connection to server was lost\n";

  test.each([
    ["psql loses its connection", { "sql-error": LOST, "sql-status": "2" }, "was lost"],
    ["psql is killed", { "sql-error": "psql:/in:3: ERROR:  x\n", "sql-status": "137" }, "was lost"],
    ["the server has no memory", { "sql-error": "psql:/in:3: ERROR:  53200: out of memory\n" }, "reports: out of memory"],
    [
      "the server has no shared memory",
      {
        "sql-error":
          'psql:/in:3: ERROR:  53100: could not resize shared memory segment "/x" to 9 bytes: No space left on device\n',
      },
      "reports: could not resize shared memory",
    ],
    [
      "a process of the server is killed",
      { "sql-error": LOST, "sql-status": "2", killed: "erp-drill-db" },
      "server ran out of memory",
    ],
    ["the count of the rows is cut off", { "recovers-at": "select json_build_array(%L" }, "was lost"],
    ["the list of the files is cut off", { "recovers-at": "select json_build_array(store_fname" }, "was lost"],
    [
      "the disk is full while rows are counted",
      { "fails-at": "select json_build_array(%L\nERROR:  53100: could not write\n" },
      "reports: could not write",
    ],
    [
      "the disk is full while files are listed",
      { "fails-at": "select json_build_array(store_fname\nERROR:  53100: could not write\n" },
      "reports: could not write",
    ],
    [
      "a page is damaged when generated files are removed",
      { "fails-at": "delete from ir_attachment\nERROR:  XX001: invalid page in block 1\n" },
      "reports: invalid page",
    ],
    ["the ERP is killed", { login: "000", ended: "erp-drill", killed: "erp-drill" }, "ERP ran out of memory"],
    ["the ERP's database is killed", { login: "000", ended: "erp-drill", killed: "erp-drill-db" }, "server ran out of memory"],
  ])("a machine that runs short is not the archive's fault: %s", async (_, notes, message) => {
    for (const [name, text] of Object.entries(notes)) writeFileSync(note(name), text);
    await expect(checksOf()).rejects.toMatchObject(broken(message));
    expect(existsSync(join(machine.root, "drill"))).toBe(false);
  });

  test("an archive's own text does not make its error the machine's", async () => {
    writeFileSync(
      note("sql-error"),
      `psql:/in:3: ERROR:  42601: no\nCONTEXT:  53200: out of memory\n${LOST}psql:/in:9: ERROR:  53200: out of memory\n`,
    );
    expect(await checksOf()).toEqual([{ name: "restores", passed: false, detail: "The database reports: no" }]);
  });

  test.each(["stylesheet", "script"])("an ERP whose sign-in page lacks its %s has not started", async (part) => {
    writeFileSync(note("broken-page"), part);
    writeFileSync(note("ended"), "erp-drill");
    expect(await checksOf()).toContainEqual({
      name: "boots",
      passed: false,
      detail: `The ERP started on the restored data shows its sign-in page, but a ${part} of it does not load`,
    });
    expect(readFileSync(note("asked"), "utf8")).toContain("url like '/web/assets/%'");
  });

  test.each([
    ["another place of the provider", "303 https://sso.example.com/saml?back=http://erp/web/database/"],
    ["a page of the ERP", "302 http://127.0.0.1:8069/auth_oauth/signin"],
  ])("an ERP whose sign-in page redirects to single sign-on has started: %s", async (_, login) => {
    writeFileSync(note("login"), login);
    expect(await checksOf()).toContainEqual({
      name: "boots",
      passed: true,
      detail: "The ERP started without scheduled jobs, and its sign-in page responds",
    });
  });

  test("an ERP that only redirects to the choice of a database has not started", async () => {
    writeFileSync(note("login"), "303 http://127.0.0.1:8069/web/database/selector");
    const job = drill();
    await ssh.run(machine.server, job);
    await until(
      "the ERP starts",
      () => existsSync(note("calls")) && calls().some((call) => call.includes("--name erp-drill ")),
      20,
    );
    writeFileSync(note("login"), "200");
    expect(await checksOf(job)).toContainEqual({ name: "boots", passed: true, detail: expect.any(String) });
  });

  test("an archive that has changed fails the job as corrupt", async () => {
    const other = { ...drill(), archive: { ...archive, sha256: "0".repeat(64) } };
    await expect(runJob(other)).rejects.toMatchObject({ name: "GiveUp", code: "BACKUP_CORRUPT" });
  });

  test("a drill that is killed midway starts again, and one that is undone midway is removed", async () => {
    writeFileSync(note("login"), "000");
    const [killed, undone] = [drill(), drill()];
    const boots = (): boolean => existsSync(note("calls")) && calls().some((call) => call.includes("--name erp-drill "));
    await until("it boots", async () => !(await ssh.run(machine.server, killed)).ready && boots());
    for (const pid of processesWith(`ERP_HOSTING_ROOT=${machine.root}`)) signal(pid, "SIGKILL");
    expect(existsSync(join(machine.root, "drill"))).toBe(true);
    rmSync(note("login"));
    expect((await checksOf(killed)).every(({ passed }) => passed)).toBe(true);
    writeFileSync(note("login"), "000");
    rmSync(note("calls"));
    await until("it boots", async () => !(await ssh.run(machine.server, undone)).ready && boots());
    await runJob({ id: "op_undo-removeDrill-try1", kind: "remove_drill", ends: [undone.id] });
    await until("everything is removed", () => processesWith(`ERP_HOSTING_ROOT=${machine.root}`).length === 0);
    await expectRemoved();
  });
});
