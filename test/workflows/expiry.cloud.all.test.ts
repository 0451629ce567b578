// Backups that expire: which are deleted, and which never.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, removeOne, transact, updateOne } from "../../shared/data/table.ts";
import { put } from "../../shared/data/writes.ts";
import { backupRef } from "../../shared/records/backups.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedBackup } from "../harness/seed.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { erpsOf } from "./erps.ts";
import { type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api } = erpsOf(() => harness);

describe("the expiry of backups", () => {
  const expire = async () => {
    await cloud.events.fire("expirebackups");
    await cloud.states.settled();
  };

  /** Changes a backup as if it had expired long ago. */
  async function age(id: string): Promise<void> {
    const { account_id, instance_id, expires_at } = (await find(backupRef(harness.me.id, id))) ?? {
      account_id: "",
      instance_id: "",
      expires_at: null,
    };
    const past = "2026-01-01T00:00:00.000Z";
    await updateOne(keys.record("backup", harness.me.id, id), { set: { expires_at: past } }, {});
    if (expires_at !== null) await removeOne(keys.expiringBackup(expires_at, id));
    await transact([put(keys.expiringBackup(past, id), { account_id, backup_id: id, instance_id })]);
  }

  async function safetyBackup(manual: Backup): Promise<string> {
    const { result } = await harness.me.until((await (await api()).post(`/backups/${manual.id}/restore`)).as(Operation).id);
    return result?.safety_backup_id ?? "";
  }
  const statusOf = async (id: string) => (await (await api()).get(`/backups/${id}`)).status;

  test("the expiry deletes expired safety backups with their archives, and no others", async () => {
    const instance = await harness.me.instance();
    const manual = await harness.me.backup(instance.id);
    const [old, young] = [await safetyBackup(manual), await safetyBackup(manual)];
    await age(old);
    await expire();
    expect(await Promise.all([manual.id, old, young].map(statusOf))).toEqual([200, 404, 200]);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
    await expire();
    expect(await Promise.all([manual.id, young].map(statusOf))).toEqual([200, 200]);
  });

  test("the expiry never deletes the last completed backup of an instance, even of several expired ones, or of a deleted instance", async () => {
    const instance = await harness.me.instance();
    const manual = await harness.me.backup(instance.id);
    const safe = [await safetyBackup(manual), await safetyBackup(manual)];
    const failed = await seedBackup(await getInstance(harness.me.id, instance.id), {
      state: "failed",
      size_bytes: null,
      sha256: null,
    });
    await harness.me.until((await (await api()).delete(`/backups/${manual.id}`)).as(Operation).id);
    for (const id of safe) await age(id);
    await Promise.all([expire(), expire()]);
    const statuses = await Promise.all(safe.map(statusOf));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(await statusOf(failed.id)).toBe(200);
    await harness.me.until((await (await api()).delete(`/instances/${instance.id}`)).as(Operation).id);
    await expire();
    expect(await Promise.all(safe.map(statusOf))).toEqual(statuses);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("the expiry keeps the last completed backup even if a lagging list still shows another one", async () => {
    const instance = await harness.me.instance();
    const manual = await harness.me.backup(instance.id);
    const safety = await safetyBackup(manual);
    await age(safety);
    const release = await cloud.aws.holdIndexes();
    try {
      await harness.me.until((await (await api()).delete(`/backups/${manual.id}`)).as(Operation).id);
      expect(await statusOf(manual.id)).toBe(404);
      const listed = (await (await api()).get(`/instances/${instance.id}/backups`)).as(Backup.array());
      expect(listed).toMatchObject([{ id: safety }, { id: manual.id, status: "completed" }]);
      await expire();
      expect(await statusOf(safety)).toBe(200);
    } finally {
      await release();
    }
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("the expiry waits for readers of a backup", async () => {
    const instance = await harness.me.instance();
    const manual = await harness.me.backup(instance.id);
    const safety = await safetyBackup(manual);
    await age(safety);
    const restore = async () => (await api()).post(`/backups/${safety}/restore`, { backup_first: false });
    const { operation } = await harness.run(workflows["restore-backup"], restore, async ({ task }, next) => {
      if (task === "buildRestore") await cloud.events.fire("expirebackups");
      return next();
    });
    expect(operation.state).toBe("succeeded");
    expect(await statusOf(safety)).toBe(200);
    await expire();
    expect(await statusOf(safety)).toBe(404);
  });

  test("a deletion that was recorded but never started is started by the sweep", async () => {
    const instance = await harness.me.instance();
    const manual = await harness.me.backup(instance.id);
    const safety = await safetyBackup(manual);
    await age(safety);
    cloud.aws.outage("states", true);
    await expire();
    cloud.aws.outage("states", false);
    const { open } = await snapshotOf(cloud, harness.me.id);
    const id = String(open[0]?.["operation_id"]);
    await updateOne(keys.openOperation(id), { set: { created_at: "2026-01-01T00:00:00.000Z" } }, {});
    await cloud.events.fire("sweep");
    await cloud.states.settled();
    expect(await statusOf(safety)).toBe(404);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });
});
