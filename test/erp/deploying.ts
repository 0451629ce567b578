// Own modules on a real ERP: from a real git host, rehearsed on the data, put back exactly, and rolled back with the data.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Deploy } from "../../shared/api/deploys.ts";
import { acmeModule, LATE_FAILURE } from "./acme-module.ts";
import type { BackedUp, Chain } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { startGitHost } from "./git-host.ts";
import { until } from "./machine.ts";

const DISCOUNT = '    acme_discount = fields.Integer("Discount", default=7)';
const REGION = '    acme_region = fields.Char("Region", default="north")';

export async function deploy(
  { machine, client, guarantee, succeeds, end, siteOf, instanceOf }: Chain,
  { shop, erp, written }: BackedUp,
): Promise<void> {
  const host = await startGitHost();
  const params = { id: shop.id };
  const begin = async (body: Parameters<typeof client.deploys.create>[0]["body"] = {}): Promise<Deploy> => {
    const { data } = await client.deploys.create({ params, body });
    await end(data.operation_id);
    return (await client.deploys.get({ params: { id: data.id } })).data;
  };
  const completed = async (body?: Parameters<typeof begin>[0]): Promise<Deploy> => {
    const deploy = await begin(body);
    const { error } = (await client.operations.get({ params: { id: deploy.operation_id } })).data;
    assert.equal(deploy.status, "completed", `${deploy.failed_step}: ${error?.code} ${error?.message} ${deploy.log_excerpt}`);
    return deploy;
  };
  const sql = (query: string): string =>
    machine.docker("exec", `erp-${shop.id}-db`, "psql", "-U", "postgres", "-d", shop.database_name, "-XAtc", query).trim();
  const version = (): string => sql("select latest_version from ir_module_module where name = 'acme' and state = 'installed'");
  /** What an update could change, without what the ERP itself writes about its use. */
  const fingerprint = (): string => {
    const tables = "-t 'ir_m*' -t 'res_*' -T 'res_device*' -T res_users_log";
    const dump = `pg_dump -U postgres ${tables} ${shop.database_name} | grep -v 'restrict ' | md5sum`;
    return machine.docker("exec", `erp-${shop.id}-db`, "sh", "-c", dump).trim();
  };
  const fieldsOf = (): string[] =>
    sql(
      "select column_name from information_schema.columns where table_name = 'res_partner' and column_name like 'acme_%' order by 1",
    )
      .split("\n")
      .filter(Boolean);
  try {
    const first = await guarantee("a module from a git host, read with a deploy key, is rehearsed and installed", async () => {
      const commit = host.commit(acmeModule("19.0.1.0", DISCOUNT), "Discounts");
      const repositories = [{ url: host.url, ref: "main", credential: "deploy_key" as const }];
      const set = (await client.code.update({ params, body: { repositories, install_modules: ["acme"] } })).data;
      host.admit(set.repositories[0]?.deploy_key?.public_key ?? "");
      await succeeds((await client.code.check({ params, body: {} })).data.id);
      assert.equal((await client.code.get({ params })).data.repositories[0]?.newest_commit, commit);
      const deploy = await completed();
      assert.deepEqual([deploy.modules?.installed, deploy.rehearsal?.status], [["acme"], "passed"]);
      assert.deepEqual([version(), fieldsOf()], ["19.0.1.0", ["acme_discount"]]);
      console.log(`  away for ${deploy.downtime_seconds} s, rehearsed in ${deploy.rehearsal?.duration_seconds} s`);
      return deploy;
    });
    assert.equal(
      (
        await erp.search("res.partner", [
          ["acme_discount", "=", 7],
          ["id", "=", written.customer],
        ])
      ).length,
      1,
    );

    await guarantee("a changed module is updated, and no other", async () => {
      host.commit(acmeModule("19.0.1.1", `${DISCOUNT}\n${REGION}`), "Regions");
      const deploy = await completed();
      assert.deepEqual(deploy.modules, { updated: ["acme"], installed: [], changed_but_not_installed: [] });
      assert.deepEqual([version(), fieldsOf()], ["19.0.1.1", ["acme_discount", "acme_region"]]);
      console.log(`  away for ${deploy.downtime_seconds} s`);
    });

    await guarantee(
      "a broken module is stopped by the rehearsal: the ERP responds throughout, and its traceback is shown",
      async () => {
        host.commit(acmeModule("19.0.1.2", `${DISCOUNT}\n    acme_broken = fields.Nothing()`), "Broken");
        const before = fingerprint();
        const { data } = await client.deploys.create({ params, body: {} });
        const ended = end(data.operation_id).then(() => true);
        const isOver = () => Promise.race([ended, Promise.resolve(false)]);
        let requests = 0;
        for (; !(await isOver()); requests++) assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
        const failed = (await client.deploys.get({ params: { id: data.id } })).data;
        assert.deepEqual([failed.status, failed.rehearsal?.status, failed.downtime_seconds], ["failed", "failed", null]);
        assert.match(failed.log_excerpt ?? "", /AttributeError[^]*Nothing/);
        assert.equal(fingerprint(), before);
        console.log(`  ${requests} pages in the meantime`);
      },
    );

    await guarantee("a migration that fails only on the real data is put back exactly, and the ERP runs again", async () => {
      host.commit(
        acmeModule("19.0.1.3", `${DISCOUNT}\n${REGION}`, { "acme/migrations/19.0.1.3/post-fail.py": LATE_FAILURE }),
        "A migration",
      );
      const before = fingerprint();
      const failed = await begin();
      assert.deepEqual([failed.status, failed.rehearsal?.status], ["failed", "passed"]);
      assert((failed.downtime_seconds ?? 0) > 0, "Nobody knows how long it was away");
      assert.match(failed.log_excerpt ?? "", /fails on the real data alone/);
      assert.deepEqual([version(), fingerprint() === before], ["19.0.1.1", true]);
      assert.equal((await instanceOf(shop.id)).status, "running");
      assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
      console.log(`  away for ${failed.downtime_seconds} s`);
    });

    await guarantee("a database that has no room for a copy is kept as an archive, and put back as exactly", async () => {
      const before = fingerprint();
      const { data } = await client.deploys.create({ params, body: { rehearse: false, backup_first: false } });
      const progress = join(machine.root, "instances", shop.id, "codes", data.operation_id, "progress");
      await until("the code is there, which needs more room", 120, () => existsSync(progress), 20);
      await end(data.operation_id).finally(machine.leaveFree(200 * 1024 ** 2));
      const failed = (await client.deploys.get({ params: { id: data.id } })).data;
      const { text } = (await client.operations.log({ params: { id: failed.operation_id } })).data;
      assert.match(text, /it is kept as an archive/);
      assert.match(failed.log_excerpt ?? "", /fails on the real data alone/);
      assert.deepEqual([version(), fingerprint() === before], ["19.0.1.1", true]);
      assert.equal((await fetchPage(siteOf(shop.domain), "/web/login")).status, 200);
      console.log(`  away for ${failed.downtime_seconds} s`);
    });

    await guarantee("a rollback brings back the first code and the last data that it had", async () => {
      const refused = await client.deploys.create({ params, body: { rollback_to: first.id } }).catch((error: unknown) => error);
      assert.match(String(refused), /acme/);
      const late = await erp.create("res.partner", { name: "After the second deploy" });
      const deploy = await completed({ rollback_to: first.id, restore_database: true });
      assert.equal(deploy.trigger, "rollback");
      assert((deploy.downtime_seconds ?? 0) > 0, "Nobody knows how long it was away");
      assert.deepEqual([version(), fieldsOf()], ["19.0.1.0", ["acme_discount"]]);
      assert.equal(sql(`select count(*) from res_partner where id = ${late} and name = 'After the second deploy'`), "0");
      assert.equal(sql(`select count(*) from res_partner where id = ${written.customer}`), "1");
      console.log(`  away for ${deploy.downtime_seconds} s`);
    });
  } finally {
    host.stop();
  }
}
