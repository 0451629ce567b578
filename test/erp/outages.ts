// Docker stops in the middle, and the machine dies in the middle.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN, type BackedUp, type Chain, DATABASE } from "./context.ts";
import { until } from "./machine.ts";

export async function survive(
  { machine, databasesOf, client, end, guarantee, succeeds, instanceOf, enter, act }: Chain,
  { server, shop, password, bytes, written, backup }: BackedUp,
): Promise<void> {
  await guarantee("restores, clones and creations succeed although Docker stops for 30 s in the middle", async () => {
    const working = (operationId: string | null): Promise<void> =>
      until("its job works", 300, () => machine.isWorking(operationId ?? ""), 20);
    const restore = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
    await working(restore.data.id);
    await machine.withoutDocker(30);
    await succeeds(restore.data.id);
    assert.deepEqual(await (await enter(shop, password)).file(written.attachment), bytes);
    const body = { name: "Away", domain: "away.example.com", backup_id: backup.id };
    const { data: clone } = await client.instances.clone({ params: { id: shop.id }, body });
    await working(clone.operation_id);
    await machine.withoutDocker(30);
    await succeeds(clone.operation_id);
    await enter(await instanceOf(clone.id), clone.admin_password ?? "");
    const { data: fresh } = await client.instances.create({
      body: {
        name: "Fresh",
        server_id: server.id,
        erp_version: "19.0",
        edition: "community",
        database_name: "fresh",
        admin_email: ADMIN,
        domain: "fresh.example.com",
      },
    });
    await working(fresh.operation_id);
    await machine.withoutDocker(30);
    await succeeds(fresh.operation_id);
    for (const { id } of [clone, fresh]) await succeeds((await client.instances.delete({ params: { id } })).data.id);
  });

  await guarantee(
    "a restore that fails and is undone while Docker is down leaves the ERP as it was, and nothing half finished",
    async () => {
      const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
      const loading = `erp-${shop.id}-psql`;
      await until("the dump is loaded", 300, () => machine.docker("ps", "--format", "{{.Names}}").includes(loading), 20);
      machine.docker("rm", "-f", loading);
      await machine.withoutDocker(30);
      await end(data.id);
      assert.equal((await instanceOf(shop.id)).status, "running");
      assert.deepEqual(await (await enter(shop, password)).file(written.attachment), bytes);
      assert.doesNotMatch(databasesOf(shop), /^(new|old)_/m);
    },
  );

  await guarantee("an ERP whose machine died in the middle of a swap has its old data when it starts", async () => {
    const restores = join(machine.root, "instances", shop.id, "restores");
    const server = `erp-${shop.id}-db`;
    const sql = (database: string, statement: string): string =>
      machine.docker("exec", server, "psql", "-XqAt", "-U", "postgres", "-d", database, "-c", statement);
    await succeeds(await act(shop.id, "stop"));
    machine.docker("start", server);
    machine.docker("exec", server, "sh", "-c", "until pg_isready -q -h 127.0.0.1; do sleep 0.2; done");
    sql("postgres", `alter database ${DATABASE} rename to old_op_lost`);
    sql("postgres", `create database ${DATABASE} owner odoo template old_op_lost`);
    sql(DATABASE, "update res_partner set name = 'Half restored'");
    writeFileSync(join(restores, "op_lost"), "swapping");
    machine.docker("stop", server);
    await succeeds(await act(shop.id, "start"));
    const after = await enter(shop, password);
    assert.deepEqual(await after.search("res.partner", [["name", "=", "Half restored"]]), []);
    assert.deepEqual(await after.search("res.partner", [["name", "=", "First customer"]]), [written.customer]);
    assert.deepEqual(await after.file(written.attachment), bytes);
    assert.equal(sql("postgres", "select count(*) from pg_database where datname ~ '^(old|new)_'").trim(), "0");
    assert.deepEqual(readdirSync(restores), []);
  });
}
