// Backups: complete archives that outlive their instance, and what a failure leaves behind, also while the storage is down.
import { createHash } from "node:crypto";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import * as backups from "../../shared/api/backups.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { erpsOf } from "./erps.ts";
import { InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

const DATA = { orders: 3, note: "Ünïcödé \\ tab\t line\n 💥", nested: { empty: "", list: [null, true, 1.5] } };

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show, write, erpOf } = erpsOf(() => harness);

test.each(["GiveUp", "Boom"] as const)(
  "of operations that fail, only those by our own fault raise an alarm: %s",
  async (name) => {
    const instance = await harness.me.instance();
    const ask = async () => (await api()).post(`/instances/${instance.id}/backups`, {});
    const logs = cloud.template.functions.flatMap((each) => cloud.lambda.logs(each.name));
    const { operation } = await harness.run(workflows["create-backup"], ask, async ({ task }, next) => {
      if (task === "makeArchive") throw new InjectedError(name);
      return next();
    });
    expect(operation.error?.code).toBe(name === "Boom" ? "INTERNAL_ERROR" : "HOST_JOB_FAILED");
    const since = cloud.template.functions.flatMap((each) => cloud.lambda.logs(each.name)).filter((line) => !logs.includes(line));
    expect(since.filter((line) => line.includes('"InternalError":1'))).toHaveLength(name === "Boom" ? 1 : 0);
  },
);

describe("a backup", () => {
  test("a backup is stored as the ERP's own zip, with the SHA-256 and size of its record, and outlives its instance", async () => {
    const instance = await harness.me.instance();
    await write(instance.id, DATA);
    const newBackup = (await (await api()).post(`/instances/${instance.id}/backups`)).as(Backup);
    await harness.me.until(newBackup.operation_id);
    const backup = (await (await api()).get(`/backups/${newBackup.id}`)).as(Backup);
    await harness.me.until((await (await api()).delete(`/instances/${instance.id}`)).as(Operation).id);
    expect((await (await api()).get(`/backups/${backup.id}`)).as(Backup)).toEqual(backup);
    const { url } = (await (await api()).get(`/backups/${backup.id}/download`)).as(backups.download().data);
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([backup.size_bytes, backup.sha256]);
    const files = Object.entries(unzipSync(bytes)).map(([name, content]) => [name, strFromU8(content)] as const);
    const contents = new Map(files);
    expect(JSON.parse(contents.get("manifest.json") ?? "")).toMatchObject({
      odoo_dump: "1",
      db_name: instance.database_name,
      version: "19.0",
    });
    const dump = contents.get("dump.sql") ?? "";
    expect(dump).toMatch(/^--\n-- PostgreSQL database dump\n/);
    expect(dump).toContain("COPY public.ir_attachment (id, name, store_fname) FROM stdin;");
    const store = files.filter(([name]) => name.startsWith("filestore/"));
    expect(store).toHaveLength(Object.keys(DATA).length + 1);
    for (const [name, content] of store) {
      const hash = createHash("sha1").update(content).digest("hex");
      expect(name).toBe(`filestore/${hash.slice(0, 2)}/${hash}`);
      expect(dump).toContain(`${hash.slice(0, 2)}/${hash}`);
    }
  });

  test("a backup that fails leaves no archive, and does not change the instance", async () => {
    const instance = await harness.me.instance();
    const before = await erpOf(instance);
    const ask = async () => (await api()).post(`/instances/${instance.id}/backups`, { note: "fail-upload" });
    const { operation } = await harness.run(workflows["create-backup"], ask);
    expect(operation.error?.code).toBe("STORAGE_ERROR");
    expect(await erpOf(instance)).toEqual(before);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  describe("while the storage is down", () => {
    test("a backup fails with STORAGE_ERROR if the storage is down for too long, and locks nothing", async () => {
      const instance = await harness.me.instance();
      // The undo also waits for the store, which comes back during its retries.
      const ask = async () => (await api()).post(`/instances/${instance.id}/backups`);
      cloud.aws.outage("s3", "refuse");
      const { operation, tasks } = await harness.run(workflows["create-backup"], ask, async ({ task, tries }, next) => {
        if (task === "deleteArchive" && tries === 3) cloud.aws.outage("s3", false);
        return next();
      });
      expect(operation).toMatchObject({ state: "failed", error: { code: "STORAGE_ERROR" } });
      expect(tasks.filter(({ task }) => task === "makeArchive").length).toBeGreaterThan(3);
      expect((await show(instance.id)).status).toBe("running");
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    });

    test("a backup completes if the storage comes back in time", async () => {
      const instance = await harness.me.instance();
      cloud.aws.outage("s3", true);
      const ask = async () => (await api()).post(`/instances/${instance.id}/backups`);
      const { operation } = await harness.run(workflows["create-backup"], ask, async ({ task, tries }, next) => {
        if (task === "makeArchive" && tries === 3) cloud.aws.outage("s3", false);
        return next();
      });
      expect(operation.state).toBe("succeeded");
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    });
  });
});
