// How long deploys take with many modules and 1 GB of data, compared to the ERP's own update, its own start and a drill of the
// same data in the same run.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Deploy } from "../../shared/api/deploys.ts";
import type { Instance } from "../../shared/api/instances.ts";
import type { Operation } from "../../shared/api/operations.ts";
import { acmeModule, LATE_FAILURE } from "./acme-module.ts";
import { fetchPage } from "./erp.ts";
import { startGitHost } from "./git-host.ts";
import type { Machine } from "./machine.ts";
import type { Service } from "./service.ts";

const run = promisify(execFile);

const ROUNDS = 3;
/** The modules to install; with what they depend on, they are some 70. */
const APPS = ["sale_management", "purchase_stock", "account", "crm", "project", "hr_holidays", "calendar", "contacts", "survey"];
const MODULES_MIN = 70;
/** Those of docs/performance.md: seconds over the plain update, times a drill, seconds over the ERP's own start. */
const GOALS = { downtimeSeconds: 10, rehearsalTimes: 1.3, backSeconds: 30 };
const FIELD = '    acme_discount = fields.Integer("Discount", default=7)';

interface Tools {
  machine: Machine;
  client: Service["client"];
  end: Service["end"];
  /** Seconds of an operation's jobs, by the names of their steps. */
  jobsOf: (operationId: string) => Record<string, number>;
  goal: (name: string, is: number, limit: number) => void;
}

export async function measureDeploys({ machine, client, end, jobsOf, goal }: Tools, shop: Instance): Promise<void> {
  const host = await startGitHost();
  const params = { id: shop.id };
  const docker = (...words: string[]) => run("docker", words, { env: machine.environment });
  const isServing = async (): Promise<boolean> => {
    const site = { domain: shop.domain, authority: machine.authority() };
    return (await fetchPage(site, "/web/login").catch(() => undefined))?.status === 200;
  };
  /** Returns when the ERP responds for the first time, by the clock of files. */
  const firstResponse = async (): Promise<number> => {
    while (!(await isServing())) await sleep(200);
    return Date.now() / 1000;
  };
  const succeeds = async (operationId: string | null): Promise<Operation> => {
    const operation = await end(operationId);
    assert.equal(operation.status, "succeeded", `${operation.type}: ${operation.error?.code} ${operation.error?.message}`);
    return operation;
  };
  const deployOf = async (id: string): Promise<Deploy> => (await client.deploys.get({ params: { id } })).data;
  const deploy = async (rehearse: boolean): Promise<Deploy> => {
    const { data } = await client.deploys.create({ params, body: { rehearse, backup_first: false } });
    await succeeds(data.operation_id);
    return deployOf(data.id);
  };
  /** The ERP's own command, with what the ERP runs with. */
  async function updatePlainly(): Promise<number> {
    const code = readFileSync(join(machine.root, "instances", shop.id, "code"), "utf8");
    const addons = readFileSync(join(machine.root, "instances", shop.id, "codes", code, "addons"), "utf8");
    const options = ["--stop-after-init", "--no-http", "--workers=0", "--max-cron-threads=0", `--addons-path=${addons}`];
    const began = performance.now();
    await docker(
      "exec",
      `erp-${shop.id}`,
      "odoo",
      "-c",
      "/etc/odoo/odoo.conf",
      "-d",
      shop.database_name,
      "-u",
      "acme",
      ...options,
    );
    return (performance.now() - began) / 1000;
  }

  try {
    const { data: code } = await client.code.update({
      params,
      body: { repositories: [{ url: host.url, ref: "main", credential: "deploy_key" }], install_modules: ["acme", ...APPS] },
    });
    host.admit(code.repositories[0]?.deploy_key?.public_key ?? "");
    host.commit(acmeModule("19.0.1.0", FIELD), "First");
    const installed = await deploy(false);
    const psql = ["exec", `erp-${shop.id}-db`, "psql", "-U", "postgres", "-d", shop.database_name, "-XAtc"];
    const count = Number((await docker(...psql, "select count(*) from ir_module_module where state = 'installed'")).stdout);
    assert(count >= MODULES_MIN, `${count} modules`);
    console.log(`  ${count} modules; the ERP was away for ${installed.downtime_seconds} s while they were installed`);

    const { data: backup } = await client.backups.create({ params, body: {} });
    await succeeds(backup.operation_id);
    const drill = await succeeds((await client.backups.drill({ params: { id: backup.id }, body: {} })).data.id);
    const drillSeconds = jobsOf(drill.id)["drillArchive"] ?? Number.NaN;
    const [plain, away, rehearsed]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= ROUNDS; round++) {
      plain.push(await updatePlainly());
      host.commit(acmeModule(`19.0.1.${round}`, `${FIELD}\n    acme_${round} = fields.Char()`), `Round ${round}`);
      const finished = await deploy(round === ROUNDS);
      away.push(finished.downtime_seconds ?? Number.NaN);
      const jobs = jobsOf(finished.operation_id);
      if (jobs["rehearse"] !== undefined) rehearsed.push(jobs["rehearse"]);
      const each = Object.entries(jobs).map(([step, took]) => `${step} ${took.toFixed(1)}`);
      console.log(`  plain update ${plain.at(-1)?.toFixed(1)} s; away for ${away.at(-1)} s (${each.join(", ")})`);
    }
    goal("downtime of a deploy of one changed module, s", Math.min(...away), Math.min(...plain) + GOALS.downtimeSeconds);
    goal("its rehearsal, s", Math.min(...rehearsed), drillSeconds * GOALS.rehearsalTimes);

    await docker("stop", `erp-${shop.id}`);
    const restarted = Date.now() / 1000;
    await docker("start", `erp-${shop.id}`);
    const ownStart = (await firstResponse()) - restarted;
    host.commit(
      acmeModule("19.0.1.9", FIELD, { "acme/migrations/19.0.1.9/post-fail.py": LATE_FAILURE }),
      "A migration that fails",
    );
    const { data: failing } = await client.deploys.create({ params, body: { rehearse: false, backup_first: false } });
    const failed = join(machine.root, "jobs", `${failing.operation_id}-updateModules`, "result");
    const ended = end(failing.operation_id);
    const failedAt = async (): Promise<number> => {
      for (;;) {
        const at = statSync(failed, { throwIfNoEntry: false })?.mtimeMs;
        if (at !== undefined) return at / 1000;
        await sleep(100);
      }
    };
    const at = await failedAt();
    const back = (await firstResponse()) - at;
    await ended;
    assert.equal((await deployOf(failing.id)).failed_step, "updateModules");
    console.log(`  the ERP's own start takes ${ownStart.toFixed(1)} s`);
    goal("from a failed update to the first good response, s", back, ownStart + GOALS.backSeconds);
  } finally {
    host.stop();
  }
}
