// `npm run test:erp -- --measure`: how long backups and restores of 1 GB take and how much disk they need, compared to plain
// tools with the same data in the same run, then what a sample of the machine and deploys cost. Polls wait as long as those of
// the deployed service.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Operation } from "../../shared/api/operations.ts";
import type { Machine } from "./machine.ts";
import { measureDeploys } from "./measure-deploys.ts";
import { cpuOfSample } from "./measure-samples.ts";
import { type Service, SHOP } from "./service.ts";

/** The service runs in this process, and continues meanwhile. */
const run = promisify(execFile);

const { database_name: DATABASE } = SHOP;
const ROUNDS = 3;
const MB = 1024 ** 2;

/** The limit: the plain tools' time multiplied by this, plus these seconds. */
const GOALS = { jobs: { times: 1.3, seconds: 3 }, operation: { times: 1.5, seconds: 15 }, diskMb: 128, sampleMs: 10 };

/** Rows like an ERP's: repeated words, numbers, times, some JSON; a third of the database is indexes. */
const ROWS = `
  create table measured_line (id serial primary key, order_id int not null, name text, data jsonb, price numeric, created timestamp);
  insert into measured_line (order_id, name, data, price, created)
    select n / 7, 'Product ' || n % 5000 || ', delivered to warehouse ' || n % 12 || ' (' || md5(n::text) || ')',
      jsonb_build_object('en_US', 'Line ' || n, 'de_DE', 'Zeile ' || n, 'note', repeat('as agreed with the customer, ', n % 4), 'ref', md5((n * 7)::text)),
      (n % 100000) / 100.0, timestamp '2020-01-01' + n * interval '53 seconds'
    from generate_series(1, 2200000) as n;
  create index on measured_line (order_id);
  create index on measured_line (created);
  create index on measured_line (name);
  create table measured_mail (id serial primary key, subject text, body text, author int);
  insert into measured_mail (subject, body, author)
    select 'Re: order ' || n, (select string_agg('<p>' || md5((n * 31 + k)::text) || ' thank you for your message of today</p>', '') from generate_series(1, 12) as k), n % 300
    from generate_series(1, 150000) as n;
  create index on measured_mail (author);
  analyze;`;
/** Pictures and PDFs, which do not compress, and texts, which do. */
const FILES = `
import hashlib, os, random
top = "/var/lib/odoo/filestore/${DATABASE}"
made = random.Random(9)
for number in range(3600):
    size = made.choice([8, 40, 120, 400]) << 10
    data = made.randbytes(size) if number % 3 else (b"%d;customer;order;2026-11-21\\n" % number) * (size // 30)
    name = hashlib.sha1(data).hexdigest()
    os.makedirs(f"{top}/{name[:2]}", exist_ok=True)
    open(f"{top}/{name[:2]}/{name}", "wb").write(data)`;

export async function measure(machine: Machine, service: Service, folder: string): Promise<{ passed: number; failed: number }> {
  const { client, end } = service;
  const counts = { passed: 0, failed: 0 };
  const { data: server } = await client.servers.create({ body: service.serverBody });
  await succeeds(server.operation_id);
  const { data: shop } = await client.instances.create({ body: { ...SHOP, server_id: server.id } });
  await succeeds(shop.operation_id);
  await psql("odoo", DATABASE, "-c", ROWS);
  await run("docker", ["exec", `erp-${shop.id}`, "python3", "-c", FILES], { env: machine.environment });
  const volumeOf = (kind: "db" | "odoo"): string =>
    machine.docker("volume", "inspect", "-f", "{{.Mountpoint}}", `erp-${shop.id}_${kind}`).trim();
  const [dbVolume, erpVolume] = [volumeOf("db"), volumeOf("odoo")];
  const files = join(erpVolume, "filestore", DATABASE);
  const databaseMb = Math.round(await databaseSizeMb());
  const filesMb = Math.round(await used(files));
  console.log(`${new Date().toISOString()}: ${databaseMb} MB of database, ${filesMb} MB of files\n`);

  goal("CPU time of a sample beside 40 more containers, ms", await cpuOfSample(machine), GOALS.sampleMs);

  const plain = join(folder, "plain");
  const plainDump: number[] = [];
  const backups: Measured[] = [];
  let backupId = "";
  for (let round = 0; round < ROUNDS; round++) {
    plainDump.push(await seconds(backUpPlainly));
    const { data } = await client.backups.create({ params: { id: shop.id }, body: {} });
    backups.push(await measured(data.operation_id, ["makeArchive"]));
    backupId = data.id;
    report("backup", plainDump, backups);
  }
  const { data: backup } = await client.backups.get({ params: { id: backupId } });
  const archiveMb = (backup.size_bytes ?? 0) / MB;
  console.log(
    `  plain tools' dump ${sizeMb("dump.sql")} MB, their archive ${sizeMb("archive.zip")} MB, ours ${archiveMb.toFixed(0)} MB`,
  );
  goals("backup", plainDump, backups);
  goal(
    "peak disk of a backup, beyond its archive, MB",
    Math.max(...backups.map(({ peakMb }) => peakMb)) - archiveMb,
    GOALS.diskMb,
  );

  const plainRestore: number[] = [];
  const restores: Measured[] = [];
  // Swapping is left out, because it includes stopping and starting the ERP.
  const steps = ["verifyArchive", "buildRestore", "dropOld"];
  for (let round = 0; round < ROUNDS; round++) {
    plainRestore.push(await seconds(restorePlainly));
    await forgetPlainRestore();
    const { data } = await client.backups.restore({ params: { id: backupId }, body: { backup_first: false } });
    restores.push(await measured(data.id, steps));
    report("restore", plainRestore, restores);
  }
  goals("restore", plainRestore, restores);
  const newMb = Math.round((await databaseSizeMb()) + (await used(files)));
  goal(
    `peak disk of a restore, beyond its ${newMb} MB of new data, MB`,
    Math.max(...restores.map(({ peakMb }) => peakMb)) - newMb,
    GOALS.diskMb,
  );
  const { data } = await client.backups.restore({ params: { id: backupId }, body: { backup_first: true } });
  const safe = await measured(data.id, [...steps.slice(0, 2), "makeSafetyBackup"]);
  console.log(`  with backup_first ${describe(safe)}; the ERP was stopped for ${safe.operation.result?.downtime_seconds} s`);

  await measureDeploys({ machine, client, end, jobsOf, goal }, shop);

  await succeeds((await client.instances.delete({ params: { id: shop.id } })).data.id);
  await succeeds((await client.servers.delete({ params: { id: server.id } })).data.id);
  return counts;

  interface Measured {
    operation: Operation;
    wholeSeconds: number;
    /** The seconds of the jobs, by the names of their steps; sending counts with packing. */
    jobs: Record<string, number>;
    /** The steps that plain tools have, too. */
    jobSeconds: number;
    peakMb: number;
  }

  /** Measures the disk during the whole operation. */
  async function measured(operationId: string | null, steps: readonly string[]): Promise<Measured> {
    const before = await diskMb();
    let peakMb = 0;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        peakMb = Math.max(peakMb, (await diskMb()) - before);
        await sleep(400);
      }
    })();
    const operation = await succeeds(operationId).finally(() => over.abort());
    await watching;
    const jobs = jobsOf(operation.id);
    const jobSeconds = steps.reduce((sum, step) => sum + (jobs[step] ?? 0), 0);
    const wholeSeconds = (Date.parse(operation.finished_at ?? "") - Date.parse(operation.created_at)) / 1000;
    return { operation, wholeSeconds, jobs, jobSeconds, peakMb };
  }

  /** Measures each job from its start, which set its deadline, to its result. */
  function jobsOf(operationId: string): Record<string, number> {
    const jobs: Record<string, number> = {};
    for (const name of readdirSync(join(machine.root, "jobs")).filter((each) => each.startsWith(`${operationId}-`))) {
      const step = name.split("-")[1] ?? "";
      const at = (file: string): number => statSync(join(machine.root, "jobs", name, file)).mtimeMs / 1000;
      jobs[step] = (jobs[step] ?? 0) + at("result") - at("deadline");
    }
    return jobs;
  }

  /** The folders that jobs write to: their own, and the instance's volumes with the database's log. */
  function diskMb(): Promise<number> {
    return used(join(machine.root, "jobs"), dbVolume, erpVolume);
  }

  async function backUpPlainly(): Promise<void> {
    rmSync(plain, { recursive: true, force: true });
    mkdirSync(plain);
    symlinkSync(files, join(plain, "filestore"));
    await run("pg_dump", ["-O", "-x", "-f", "dump.sql", ...connection("odoo"), DATABASE], { cwd: plain, env: withPasswords() });
    // 18: 18: the ERP deleted a file meanwhile.
    await run("bash", ["-c", "zip -q1r archive.zip dump.sql filestore || [ $? = 18 ]"], { cwd: plain });
  }

  async function restorePlainly(): Promise<void> {
    await run("unzip", ["-q", "archive.zip", "-d", "restored"], { cwd: plain });
    await psql(
      "postgres",
      "postgres",
      "-c",
      "create database plain owner odoo template template0 encoding 'UTF8' lc_collate 'C'",
    );
    // The superuser restores the dump, because it has extensions.
    await psql("postgres", "plain", "-f", join(plain, "restored/dump.sql"), "-o", "/dev/null");
  }

  async function forgetPlainRestore(): Promise<void> {
    await psql("postgres", "postgres", "-c", "drop database plain");
    rmSync(join(plain, "restored"), { recursive: true });
  }

  function connection(user: string): string[] {
    const format = `{{(index .NetworkSettings.Networks "erp-${shop.id}_db").IPAddress}}`;
    return ["-h", machine.docker("inspect", "-f", format, `erp-${shop.id}-db`).trim(), "-U", user];
  }
  async function psql(user: "odoo" | "postgres", database: string, ...options: string[]): Promise<string> {
    const words = ["-XqAt", "-v", "ON_ERROR_STOP=1", ...connection(user), "-d", database, ...options];
    return (await run("psql", words, { env: withPasswords() })).stdout;
  }
  /** Each role has its own password. */
  function withPasswords(): NodeJS.ProcessEnv {
    const after = (prefix: string, file: string): string =>
      new RegExp(`(?<=^${prefix}).+$`, "m").exec(readFileSync(join(machine.root, "instances", shop.id, file), "utf8"))?.[0] ?? "";
    const lines = [
      `*:*:*:odoo:${after("db_password = ", "odoo.conf")}`,
      `*:*:*:postgres:${after("POSTGRES_PASSWORD=", "database.env")}`,
    ];
    const PGPASSFILE = join(folder, "pgpass");
    writeFileSync(PGPASSFILE, lines.join("\n"), { mode: 0o600 });
    return { ...process.env, PGPASSFILE };
  }
  async function databaseSizeMb(): Promise<number> {
    return Number(await psql("postgres", "postgres", "-c", `select pg_database_size('${DATABASE}')`)) / MB;
  }
  function sizeMb(name: string): string {
    return (statSync(join(plain, name)).size / MB).toFixed(0);
  }

  async function succeeds(operationId: string | null): Promise<Operation> {
    const operation = await end(operationId);
    if (operation.status !== "succeeded") throw new Error(`${operation.type}: ${operation.error?.message}`);
    return operation;
  }

  function describe({ wholeSeconds, jobSeconds, jobs, peakMb }: Measured): string {
    const each = Object.entries(jobs).map(([step, took]) => `${step} ${took.toFixed(1)}`);
    return `${jobSeconds.toFixed(1)} s in jobs, ${wholeSeconds.toFixed(1)} s in all, ${peakMb.toFixed(0)} MB more on the disk (${each.join(", ")})`;
  }
  function report(name: string, plainly: readonly number[], ours: readonly Measured[]): void {
    const last = ours.at(-1);
    if (last === undefined) return;
    const load = loadavg()[0]?.toFixed(1);
    console.log(`  ${name}: ${plainly.at(-1)?.toFixed(1)} s with plain tools; ${describe(last)}; load ${load}`);
  }
  /** The fastest of each: other work on the machine only makes them slower. */
  function goals(name: string, plainly: readonly number[], ours: readonly Measured[]): void {
    const base = Math.min(...plainly);
    const limit = ({ times, seconds: more }: { times: number; seconds: number }): number => base * times + more;
    goal(`${name}'s jobs, s`, Math.min(...ours.map(({ jobSeconds }) => jobSeconds)), limit(GOALS.jobs));
    goal(`the whole ${name}, s`, Math.min(...ours.map(({ wholeSeconds }) => wholeSeconds)), limit(GOALS.operation));
  }
  function goal(name: string, is: number, limit: number): void {
    const met = is <= limit;
    counts[met ? "passed" : "failed"]++;
    console.log(`${met ? "✓" : "✗"} ${name}: ${is.toFixed(1)}, at most ${limit.toFixed(1)}`);
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** Files appear and vanish during the count: missing ones count as nothing. */
async function used(...places: string[]): Promise<number> {
  const { stdout } = await run("bash", ["-c", 'du -sck -- "$@" 2>/dev/null || true', "du", ...places]);
  return Number(stdout.trimEnd().split("\n").at(-1)?.split("\t")[0]) / 1024;
}
