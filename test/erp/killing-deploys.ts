// Deploys that are killed at random on a real ERP: their jobs, or Docker with all containers. Whatever becomes of them, the code
// and the data are of one version.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { randomOf } from "../guarantees/random.ts";
import { acmeModule, LATE_FAILURE, manifestOf } from "./acme-module.ts";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { startGitHost } from "./git-host.ts";
import { until } from "./machine.ts";

const COUNT = 20;
const SEED = Number(process.env["DEPLOYS_SEED"] ?? 20);
/** The steps in which every deploy's work on the machine is done; that of a failing deploy ends with an undo. */
const STEPS = ["fetchCode", "installPackages", "updateModules", "settleCode"];
const FAILING_STEPS = ["fetchCode", "updateModules", "putBack"];
const KILLED_AFTER_MAX_SECONDS = 4;

export async function killDeploys(
  { machine, client, guarantee, end, siteOf, instanceOf }: Chain,
  { shop }: BackedUp,
): Promise<void> {
  const host = await startGitHost();
  const params = { id: shop.id };
  const random = randomOf(SEED);
  const sql = (query: string): string =>
    machine.docker("exec", `erp-${shop.id}-db`, "psql", "-U", "postgres", "-d", shop.database_name, "-XAtc", query).trim();
  /** Its version, field and record of data have the same number. A failing one has changed the data before it fails. */
  const commit = (number: number, fails: boolean): string => {
    const version = `19.0.1.${number}`;
    const record = `<odoo><record id="number" model="ir.config_parameter"><field name="key">acme.number</field><field name="value">${number}</field></record></odoo>`;
    return host.commit(
      acmeModule(version, `    acme_${number} = fields.Char()`, {
        "acme/__manifest__.py": manifestOf(version, { data: ["number.xml"] }),
        "acme/number.xml": record,
        ...(fails && { [`acme/migrations/${version}/post-fail.py`]: LATE_FAILURE }),
      }),
      `Number ${number}`,
    );
  };
  /** The number of what the ERP runs with, and of each part of its data. */
  const numbers = (): string[] => [
    /"19\.0\.1\.(\d+)"/.exec(
      machine.docker("exec", `erp-${shop.id}`, "sh", "-c", "cat /mnt/extra-addons/*/acme/__manifest__.py"),
    )?.[1] ?? "",
    sql("select split_part(latest_version, '.', 4) from ir_module_module where name = 'acme' and state = 'installed'"),
    sql("select value from ir_config_parameter where key = 'acme.number'"),
    sql("select string_agg(substr(name, 6), ',') from ir_model_fields where model = 'res.partner' and name like 'acme\\_%'"),
    sql(
      "select string_agg(substr(column_name, 6), ',') from information_schema.columns where table_name = 'res_partner' and column_name like 'acme\\_%'",
    ),
  ];

  try {
    const { data: code } = await client.code.update({
      params,
      body: { repositories: [{ url: host.url, ref: "main", credential: "deploy_key" }], install_modules: ["acme"] },
    });
    host.admit(code.repositories[0]?.deploy_key?.public_key ?? "");
    commit(0, false);
    let running = 0;
    const first = await end((await client.deploys.create({ params, body: {} })).data.operation_id);
    assert.equal(first.status, "succeeded", first.error?.message);
    assert.deepEqual(new Set(numbers()), new Set(["0"]));
    const outcomes: string[] = [];

    await guarantee(
      `${COUNT} deploys that are killed at random leave the code and the data of one version (seed ${SEED})`,
      async () => {
        for (let number = 1; number <= COUNT; number++) {
          const fails = random.chance(0.3);
          commit(number, fails);
          const rehearse = random.chance(0.2);
          const { data } = await client.deploys.create({ params, body: { rehearse, backup_first: random.chance(0.2) } });
          const ended = end(data.operation_id);
          const afterSeconds = random.next() * KILLED_AFTER_MAX_SECONDS;
          const step = random.oneOf(fails ? FAILING_STEPS : STEPS);
          let killed = "missed";
          if (random.chance(0.25)) {
            await sleep(1_000 + afterSeconds * 5_000);
            const start = await machine.killDocker({ containers: true });
            await start();
            killed = "Docker";
          } else {
            const kill = machine.killJob(data.operation_id, step, afterSeconds).then((did) => (did ? step : "missed"));
            killed = await Promise.race([kill.catch(() => "missed"), ended.then(() => "missed")]);
          }
          await ended;
          const { status } = (await client.deploys.get({ params: { id: data.id } })).data;
          if (status === "completed") running = number;
          outcomes.push(`${number}: killed ${killed}, ${status}`);
          const isServing = async (): Promise<boolean> =>
            (await fetchPage(siteOf(shop.domain), "/web/login").catch(() => undefined))?.status === 200;
          await until("the ERP responds", 120, isServing, 1_000);
          assert.deepEqual(new Set(numbers()), new Set([String(running)]), `${outcomes.at(-1)}: ${numbers().join(" ")}`);
          assert.equal(sql("select count(*) from res_partner where name = 'broken'"), "0", outcomes.at(-1));
          assert.equal((await instanceOf(shop.id)).status, "running");
        }
      },
    );
    console.log(`  ${outcomes.join("; ")}`);
  } finally {
    host.stop();
  }
}
