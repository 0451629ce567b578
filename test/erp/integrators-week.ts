// A week of an integrator on a real ERP: a customer moves in with twelve modules of their own; a push deploys a change; broken
// ones are stopped or put back; the image is updated; and all is rolled back, with the data of the morning.
import assert from "node:assert/strict";
import type { Deploy } from "../../shared/api/deploys.ts";
import { LATE_FAILURE, manifestOf } from "./acme-module.ts";
import { type BackedUp, type Chain, OWN_PASSWORD } from "./context.ts";
import { fetchPage } from "./erp.ts";
import { startGitHost } from "./git-host.ts";
import { startImageRegistry } from "./image-registry.ts";
import { until } from "./machine.ts";

const MODULES = Array.from({ length: 12 }, (_, index) => `acme_${index + 1}`);
const PUSH_SECONDS = 120;
/** The time for which a function may know an older image: see shared/providers/images.ts. */
const IMAGES_SECONDS = 330;

/** The customer's repository; `changed` is of the third module. */
function repository(changed: { version?: string; field?: string; files?: Readonly<Record<string, string>> } = {}) {
  const { version = "19.0.1.0", field = 'fields.Char(default="three")', files = {} } = changed;
  const modules = MODULES.map((name, index) => ({
    [`${name}/__init__.py`]: "from . import models\n",
    [`${name}/__manifest__.py`]: manifestOf(name === "acme_3" ? version : "19.0.1.0", {
      name,
      depends: [MODULES[index - 1] ?? "base"],
    }),
    [`${name}/models.py`]: `from odoo import fields, models

class Partner(models.Model):
    _inherit = "res.partner"
    ${name} = ${name === "acme_3" ? field : `fields.Char(default="${name}")`}
`,
  }));
  return Object.assign({}, ...modules, files);
}

export async function integratorsWeek(
  { machine, service, client, guarantee, succeeds, end, siteOf, instanceOf, enter, backUp, upload, downloaded, visit }: Chain,
  { server, shop }: BackedUp,
): Promise<void> {
  const host = await startGitHost();
  const repositories = [{ url: host.url, ref: "main", credential: "deploy_key" as const }];
  const deployed = async (id: string, body: Parameters<typeof client.deploys.create>[0]["body"] = {}): Promise<Deploy> => {
    const { data } = await client.deploys.create({ params: { id }, body });
    await end(data.operation_id);
    return (await client.deploys.get({ params: { id: data.id } })).data;
  };
  const completed = (deploy: Deploy): Deploy => {
    assert.equal(deploy.status, "completed", `${deploy.failed_step}: ${deploy.log_excerpt}`);
    return deploy;
  };

  const archive = await guarantee("an archive of an ERP with twelve modules of its own", async () => {
    host.commit(repository(), "Twelve modules");
    const { data: code } = await client.code.update({
      params: { id: shop.id },
      body: { repositories, install_modules: MODULES },
    });
    host.admit(code.repositories[0]?.deploy_key?.public_key ?? "");
    assert.deepEqual(completed(await deployed(shop.id)).modules?.installed.toSorted(), MODULES.toSorted());
    return downloaded((await backUp(shop.id, "With twelve modules")).id);
  });

  const { moved, first } = await guarantee(
    "moves in by upload, names its modules, and runs with them after its first deploy",
    async () => {
      const { imported } = await upload(archive, "From elsewhere", server.id);
      assert.deepEqual(imported.missing_modules?.toSorted(), MODULES.toSorted());
      const { data } = await client.instances.create({
        body: {
          name: "Customer",
          server_id: server.id,
          erp_version: "19.0",
          edition: "community",
          database_name: "customer",
          admin_email: "owner@example.com",
          domain: "customer.example.com",
          backup_id: imported.id,
          admin_password: OWN_PASSWORD,
        },
      });
      const creation = await end(data.operation_id);
      console.log(`  created without its code: ${creation.status} ${creation.error?.message ?? ""}`);
      const params = { id: data.id };
      await client.code.update({ params, body: { repositories } });
      const deploy = completed(await deployed(data.id));
      const instance = await instanceOf(data.id);
      assert.deepEqual([instance.status, instance.missing_modules], ["running", []]);
      const erp = await enter(instance, OWN_PASSWORD);
      assert((await erp.search("res.partner", [["acme_12", "=", "acme_12"]])).length > 0);
      console.log(`  deployed: ${JSON.stringify(deploy.modules)}; away for ${deploy.downtime_seconds} s`);
      return { moved: instance, first: deploy };
    },
  );

  const params = { id: moved.id };
  const erp = await enter(moved, OWN_PASSWORD);
  const morning = await erp.create("res.partner", { name: "Morning" });
  const { data: hook } = await client.code.rotateHook({ params, body: {} });
  await client.code.update({ params, body: { auto_deploy: "push" } });
  const isServing = async (): Promise<boolean> => (await fetchPage(siteOf(moved.domain), "/web/login")).status === 200;
  /** What the host of the repository does, and what comes of it. */
  async function push(files: Readonly<Record<string, string>>, message: string): Promise<Deploy> {
    const knownIds = new Set((await client.deploys.listOfInstance({ params })).data.map(({ id }) => id));
    host.commit(files, message);
    assert.equal((await fetch(hook.hook_url ?? "", { method: "POST", body: "{}" })).status, 202);
    let deploy: Deploy | undefined;
    await until("the push is deployed", PUSH_SECONDS, async () => {
      await service.deployPushes();
      deploy = (await client.deploys.listOfInstance({ params })).data.find(({ id }) => !knownIds.has(id));
      return deploy !== undefined;
    });
    if (deploy === undefined) throw new Error("Nothing was deployed");
    await end(deploy.operation_id);
    return (await client.deploys.get({ params: { id: deploy.id } })).data;
  }

  try {
    await guarantee("a push deploys the module that has changed", async () => {
      const files = repository({ version: "19.0.1.1", field: 'fields.Char(default="changed")' });
      const deploy = completed(await push(files, "Third module"));
      assert.deepEqual([deploy.trigger, deploy.modules?.updated], ["push", ["acme_3"]]);
      console.log(`  away for ${deploy.downtime_seconds} s`);
    });
    await erp.create("res.partner", { name: "Evening" });

    await guarantee("a broken one is stopped by its rehearsal, with its traceback, and the ERP is never away", async () => {
      const failed = await push(repository({ version: "19.0.1.2", field: "fields.Nothing()" }), "Broken");
      assert.deepEqual([failed.status, failed.rehearsal?.status, failed.downtime_seconds], ["failed", "failed", null]);
      assert.match(failed.log_excerpt ?? "", /AttributeError/);
      assert(await isServing());
    });

    await guarantee("one whose migration fails after its rehearsal is put back", async () => {
      const files = { "acme_3/migrations/19.0.1.3/post-fail.py": LATE_FAILURE };
      const failed = await push(repository({ version: "19.0.1.3", files }), "Fails late");
      assert.deepEqual([failed.status, failed.rehearsal?.status], ["failed", "passed"]);
      assert.match(failed.log_excerpt ?? "", /fails on the real data alone/);
      assert(await isServing());
      console.log(`  away for ${failed.downtime_seconds} s`);
    });

    host.commit(repository({ version: "19.0.1.4" }), "Good again");
    const registry = await startImageRegistry(machine, ["odoo:19.0"]);
    const imageOf = (): string => machine.docker("inspect", "-f", "{{.Image}}", `erp-${moved.id}`).trim();
    try {
      await guarantee("a newer image is found, rehearsed, and brought by a deploy", async () => {
        assert.deepEqual([imageOf()], registry.before);
        await service.lookUpImages();
        const isKnown = async (): Promise<boolean> => {
          await visit();
          return (await client.code.get({ params })).data.image.update_available === true;
        };
        await until("the newer image is known", IMAGES_SECONDS, isKnown, 2_000);
        const deploy = completed(await deployed(moved.id, { update_image: true }));
        assert.equal(deploy.rehearsal?.status, "passed");
        assert.deepEqual([imageOf()], registry.newest);
        assert.equal((await client.code.get({ params })).data.image.update_available, false);
        assert(await isServing());
        console.log(`  rehearsed in ${deploy.rehearsal?.duration_seconds} s, away for ${deploy.downtime_seconds} s`);
      });

      await guarantee("all of it is rolled back: the code, the image, and the data of the morning", async () => {
        const deploy = completed(await deployed(moved.id, { rollback_to: first.id, restore_database: true }));
        assert.deepEqual([imageOf()], registry.before);
        const again = await enter(await instanceOf(moved.id), OWN_PASSWORD);
        assert.deepEqual(await again.search("res.partner", [["name", "in", ["Morning", "Evening"]]]), [morning]);
        const sql = "select latest_version from ir_module_module where name = 'acme_3'";
        const psql = ["psql", "-XqAtU", "postgres", "-d", moved.database_name, "-c", sql];
        assert.equal(machine.docker("exec", `erp-${moved.id}-db`, ...psql).trim(), "19.0.1.0");
        console.log(`  away for ${deploy.downtime_seconds} s`);
      });
    } finally {
      registry.stop();
    }
    await succeeds((await client.instances.delete({ params })).data.id);
  } finally {
    host.stop();
  }
}
