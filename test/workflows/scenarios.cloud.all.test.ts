// What workflows guarantee beyond their tables: independent clones, complete archives, servers that come and go, backups that
// expire.
import { createHash } from "node:crypto";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import * as backups from "../../shared/api/backups.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { keys } from "../../shared/data/keys.ts";
import { getOperation } from "../../shared/records/operations.ts";
import { changeErp, type SandboxErp, setMachine } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { find, removeOne, transact, updateOne } from "../../shared/data/table.ts";
import { put } from "../../shared/data/writes.ts";
import { backupRef } from "../../shared/records/backups.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedBackup } from "../harness/seed.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { erpsOf } from "./erps.ts";
import { type Intercept, InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
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

describe("a clone", () => {
  let source: Instance;
  let backup: Backup;
  beforeAll(async () => {
    source = await harness.me.instance();
    await write(source.id, DATA);
    backup = await harness.me.backup(source.id);
  });
  const ask = async (fields: object = {}) =>
    (await api()).post(`/instances/${source.id}/clone`, {
      name: "Copy",
      domain: uniqueDomain("copy"),
      backup_id: backup.id,
      ...fields,
    });
  async function cloned(fields: object = {}): Promise<{ instance: Instance; erp: SandboxErp }> {
    const begun = (await ask(fields)).as(Instance);
    await harness.me.until(begun.operation_id);
    const instance = await show(begun.id);
    return { instance, erp: await erpOf(instance) };
  }

  test("a clone has all of the backup's data, and its own UUID, secret, URL and password", async () => {
    const { instance, erp } = await cloned();
    const original = await erpOf(source);
    expect(JSON.parse(erp.database?.data ?? "")).toEqual(DATA);
    expect(erp.files).toEqual(original.files);
    for (const part of ["uuid", "secret", "base_url", "admin_password_hash"] as const)
      expect(erp.database?.[part], part).not.toBe(original.database?.[part]);
    expect(erp).toMatchObject({ status: "running", domain: instance.domain, database_name: instance.database_name });
    expect(erp.database?.base_url).toBe(`https://${instance.domain}`);
    expect(await erpOf(source), "the source is left alone").toEqual(original);
  });

  test.each([
    [true, 0],
    [false, 4],
  ])("a clone with neutralize %s has %i scheduled jobs and mail servers turned on", async (neutralize, count) => {
    const { instance, erp } = await cloned({ neutralize });
    const active = [...(erp.database?.crons ?? []), ...(erp.database?.mail_servers ?? [])].filter((each) => each.active);
    expect(active).toHaveLength(count);
    expect([instance.neutralized, erp.database?.neutralized]).toEqual([neutralize, neutralize]);
  });

  test("a clone with only the files or only the database has only those", async () => {
    const files = (await cloned({ restore_database: false })).erp;
    expect(files.files).toEqual((await erpOf(source)).files);
    expect(files.database?.data).toBe("{}");
    const database = (await cloned({ restore_filestore: false })).erp;
    expect(JSON.parse(database.database?.data ?? "")).toEqual(DATA);
    expect(Object.values(database.files)).not.toContain(JSON.stringify(DATA.note));
  });

  test("two concurrent clones of one backup succeed, and the backup cannot be deleted until both have ended", async () => {
    const rejected: unknown[] = [];
    const intercept: Intercept = async ({ task }, next) => {
      if (task === "restoreArchive") rejected.push((await (await api()).delete(`/backups/${backup.id}`)).error?.code);
      return next();
    };
    let other: Instance | undefined;
    const { operation } = await harness.run(
      workflows["clone-instance"],
      async () => {
        const [one, two] = await Promise.all([ask(), ask()]);
        other = two?.as(Instance);
        return one;
      },
      intercept,
    );
    expect(operation.state).toBe("succeeded");
    expect(
      await getOperation(
        harness.me.id,
        (await (await api()).get(`/operations?resource_id=${other?.id}`)).as(Operation.array())[0]?.id ?? "",
      ),
    ).toMatchObject({ state: "succeeded" });
    expect(rejected).toEqual(["OPERATION_IN_PROGRESS", "OPERATION_IN_PROGRESS"]);
    expect((await find(backupRef(harness.me.id, backup.id)))?.used_by?.size ?? 0).toBe(0);
  });

  test("a clone that fails its verification is removed", async () => {
    // A neutralization that claims success, but did nothing.
    const { operation } = await harness.run(
      workflows["clone-instance"],
      () => ask(),
      async ({ task }, next) => (task === "neutralize" ? null : next()),
    );
    expect(operation).toMatchObject({
      state: "failed",
      error: { code: "HOST_JOB_FAILED", message: expect.stringContaining("still active") },
    });
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });
});

describe("a backup", () => {
  test("a backup is stored as the ERP's own zip, with the SHA-256 and size of its record, and outlives its instance", async () => {
    const instance = await harness.me.instance();
    await write(instance.id, DATA);
    const begun = (await (await api()).post(`/instances/${instance.id}/backups`)).as(Backup);
    await harness.me.until(begun.operation_id);
    const backup = (await (await api()).get(`/backups/${begun.id}`)).as(Backup);
    await harness.me.until((await (await api()).delete(`/instances/${instance.id}`)).as(Operation).id);
    expect((await (await api()).get(`/backups/${backup.id}`)).as(Backup)).toEqual(backup);
    const { url } = (await (await api()).get(`/backups/${backup.id}/download`)).as(backups.download().data);
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([backup.size_bytes, backup.sha256]);
    const files = Object.entries(unzipSync(bytes)).map(([name, content]) => [name, strFromU8(content)] as const);
    const named = new Map(files);
    expect(JSON.parse(named.get("manifest.json") ?? "")).toMatchObject({
      odoo_dump: "1",
      db_name: instance.database_name,
      version: "19.0",
    });
    const dump = named.get("dump.sql") ?? "";
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

test("a failed change of the domain keeps the old one, and another instance can use the new one", async () => {
  const instance = await harness.me.instance();
  const domain = uniqueDomain("wanted");
  const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
  const { operation } = await harness.run(workflows["update-instance"], move, async ({ task }, next) => {
    const done = await next();
    if (task === "adoptDomain") throw new InjectedError("GiveUp");
    return done;
  });
  expect(operation.state).toBe("failed");
  expect(await show(instance.id)).toMatchObject({ domain: instance.domain, status: "running", operation_id: null });
  expect((await erpOf(instance)).database?.base_url).toBe(`https://${instance.domain}`);
  expect((await harness.me.instance({ domain })).domain).toBe(domain);
  expect((await (await api()).post("/instances", await harness.me.instanceBody({ domain: instance.domain }))).status).toBe(409);
});

test("while the domain is being changed nobody is told that it stays, and other fields change", async () => {
  const { id, domain } = await harness.me.instance();
  const moved = uniqueDomain("moved");
  const put = async (body: object) => (await api()).put(`/instances/${id}`, body);
  const { operation } = await harness.run(
    workflows["update-instance"],
    () => put({ domain: moved }),
    async ({ task, payload, tries }, next) => {
      if (task === "moveDomain" && tries === 1) {
        const details = { operation_id: payload.input.operation_id };
        expect((await put({ domain, name: "Stays" })).error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details });
        expect((await put({ name: "Renamed" })).status).toBe(200);
      }
      return next();
    },
  );
  expect(operation).toMatchObject({ state: "succeeded" });
  expect(await show(id)).toMatchObject({ domain: moved, name: "Renamed" });
});

test("a change of the domain that fails after another instance has taken the old one keeps the new one, on the machine as well", async () => {
  const instance = await harness.me.instance();
  const domain = uniqueDomain("wanted");
  const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
  const { operation } = await harness.run(workflows["update-instance"], move, async ({ task, tries }, next) => {
    if (task !== "succeed") return next();
    if (tries === 1) await harness.me.instance({ domain: instance.domain });
    throw new InjectedError("Boom");
  });
  expect(operation.state).toBe("failed");
  expect(await show(instance.id)).toMatchObject({ domain, status: "running", operation_id: null });
  expect((await erpOf(instance)).domain).toBe(domain);
  expect((await (await api()).post("/instances", await harness.me.instanceBody({ domain }))).status).toBe(409);
});

describe.each(["restart", "restore"] as const)(
  "a machine that falls silent while it moves an instance to a new domain",
  (repair) => {
    test(`leaves a failed instance, and its ${repair} brings back the domain that is shown, whatever the machine has done`, async () => {
      const { id: server_id } = await harness.me.server();
      const instance = await harness.me.instance({ server_id });
      const backup = await harness.me.backup(instance.id);
      const machine = String((await getServer(harness.me.id, server_id)).machine_id);
      const domain = uniqueDomain();
      const silent: Intercept = async ({ task, tries }, next) => {
        if (task === "moveDomain" && tries === 1) {
          await setMachine(machine, { offline: true });
          for (let probe = 0; probe < 5; probe++) await cloud.events.fire("checkservers");
        }
        return next();
      };
      const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
      const { operation } = await harness.run(workflows["update-instance"], move, silent);
      expect(operation).toMatchObject({ state: "failed", error: { code: "HOST_UNREACHABLE" } });
      expect(await show(instance.id)).toMatchObject({
        status: "failed",
        status_reason: operation.error?.message,
        domain: instance.domain,
      });
      await changeErp(machine, instance.id, () => ({ domain })); // a job goes on without a connection
      await setMachine(machine, { offline: false });
      await cloud.events.fire("checkservers");
      const response =
        repair === "restart"
          ? (await api()).post(`/instances/${instance.id}/actions`, { action: "restart" })
          : (await api()).post(`/backups/${backup.id}/restore`, {});
      await harness.me.until((await response).as(Operation).id);
      expect(await show(instance.id)).toMatchObject({ status: "running", status_reason: null, domain: instance.domain });
      const erp = await erpOf(instance);
      expect([erp.domain, erp.database?.base_url]).toEqual([instance.domain, `https://${instance.domain}`]);
      expect((await harness.me.instance({ domain })).domain).toBe(domain);
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    });
  },
);

describe("the health check", () => {
  const check = () => cloud.events.fire("checkservers");
  const shown = async (id: string) => (await (await api()).get(`/servers/${id}`)).as(Server);
  const switchOff = async (id: string, offline: boolean) =>
    setMachine((await getServer(harness.me.id, id)).machine_id ?? "", { offline });

  test("the health check counts consecutive failures: with one good probe in between, the server stays active", async () => {
    const { id } = await harness.me.server();
    for (const offline of [true, false, true]) {
      await switchOff(id, offline);
      for (let probe = 0; probe < (offline ? 4 : 1); probe++) await check();
      expect((await shown(id)).status).toBe("active");
    }
    await check();
    expect((await shown(id)).status).toBe("offline");
  });

  test("the first good probe makes a server active again, and operations on it work", async () => {
    const { id } = await harness.me.server();
    const instance = await harness.me.instance({ server_id: id });
    await switchOff(id, true);
    for (let probe = 0; probe < 7; probe++) await check();
    const away = await shown(id);
    expect(away).toMatchObject({ status: "offline", status_reason: expect.stringMatching(/\w/) });
    await switchOff(id, false);
    await check();
    const back = await shown(id);
    expect(back).toMatchObject({ status: "active", status_reason: null });
    expect(back.last_seen_at?.localeCompare(away.last_seen_at ?? "")).toBe(1);
    const backup = (await (await api()).post(`/instances/${instance.id}/backups`)).as(Backup);
    await harness.me.until(backup.operation_id);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("an operation on a machine that stopped responding fails with HOST_UNREACHABLE and unlocks its resource", async () => {
    const { id } = await harness.me.server();
    const instance = await harness.me.instance({ server_id: id });
    await switchOff(id, true);
    await check();
    const stop = async () => (await api()).post(`/instances/${instance.id}/actions`, { action: "stop" });
    const { operation } = await harness.run(workflows["stop-instance"], stop);
    expect(operation).toMatchObject({ state: "failed", error: { code: "HOST_UNREACHABLE" } });
    expect(await show(instance.id)).toMatchObject({ status: "failed", status_reason: operation.error?.message });
    for (let probe = 0; probe < 5; probe++) await check();
    const deletion = async () => (await api()).delete(`/instances/${instance.id}`);
    const { operation: deleted } = await harness.run(workflows["delete-instance"], deletion);
    expect(deleted).toMatchObject({ state: "succeeded", result: { host_skipped: true } });
    await harness.run(workflows["delete-server"], async () => (await api()).delete(`/servers/${id}`));
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("the health check ignores servers that are deleted, or being created or deleted", async () => {
    const me = await account();
    const made = (await me.api.post("/servers", await me.serverBody())).as(Server);
    await check();
    await cloud.states.settled();
    await me.until((await me.api.delete(`/servers/${made.id}`)).as(Operation).id);
    await check();
    expect((await me.api.get(`/servers/${made.id}`)).status).toBe(404);
    expectConsistent(await snapshotOf(cloud, me.id));
  });
});

describe("the expiry of backups", () => {
  const expire = async () => {
    await cloud.events.fire("expirebackups");
    await cloud.states.settled();
  };

  /** As if it had expired long ago. */
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
    const left = await Promise.all(safe.map(statusOf));
    expect(left.filter((status) => status === 200)).toHaveLength(1);
    expect(await statusOf(failed.id)).toBe(200);
    await harness.me.until((await (await api()).delete(`/instances/${instance.id}`)).as(Operation).id);
    await expire();
    expect(await Promise.all(safe.map(statusOf))).toEqual(left);
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
