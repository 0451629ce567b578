// Every kind of alert: what opens it, once, and what closes it; and what never opens one.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { Alert } from "../../shared/api/alerts.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Event } from "../../shared/api/events.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Server } from "../../shared/api/servers.ts";
import { alertsReader, evaluateAlert, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { endAlerts } from "../../shared/operations/monitoring/alert-ends.ts";
import { evaluateReportAlerts } from "../../shared/operations/monitoring/report-alerts.ts";
import { ALERT_KIND_NAMES, ALERT_KINDS, isBeyond } from "../../shared/domain/alerts.ts";
import { type MachineReport, recordReport } from "../../shared/records/host-reports.ts";
import { removeHistory } from "../../shared/records/history.ts";
import { getServer } from "../../shared/records/servers.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { logEvent } from "../../shared/records/events.ts";
import type { AuditType } from "../../shared/domain/event-types.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { putOne, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectCounts, snapshotOf } from "../workflows/snapshot.ts";

const clock = testClock();
let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared });
  me = await account();
});

const GB = 1_000_000_000;
const DAY_MINUTES = 24 * 60;

/** What the service makes of what is in the outbox. */
const forward = (): Promise<void> => cloud.events.fire("dispatch");
async function looks(times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    clock.advance(1);
    await cloud.events.fire("checkservers");
  }
}
const alertsOf = async (id: string, status = "open", of = me): Promise<Alert[]> =>
  (await of.api.get(`/alerts?status=${status}&resource_id=${id}`)).as(z.array(Alert));
/** The changes of a resource's alerts, oldest first. */
const changesOf = async (id: string, of = me): Promise<string[]> =>
  (await of.api.get(`/events?class=outcomes&order=asc&per_page=100&resource_id=${id}`))
    .as(z.array(Event))
    .flatMap(({ type, data }) => (data?.alert === undefined ? [] : [`${type.replace("alert.", "")} ${data.alert.kind}`]));

async function report(serverId: string, fields: Partial<MachineReport>, of = me): Promise<void> {
  clock.advance(1);
  const server = await getServer(of.id, serverId);
  const usual = { disk_size_bytes: 100 * GB, disk_free_bytes: 50 * GB, memory_free_bytes: 3 * GB, certificates: [], uses: [] };
  const recorded = await recordReport(server, { ...usual, ...fields });
  if (recorded === undefined) throw new Error("The report was not recorded");
  const both = await Promise.all([readAlerts(of.id), readAlerts(of.id)]);
  await Promise.all(both.map((each) => evaluateReportAlerts(each, server, recorded, Date.now())));
}

describe("what a machine reports", () => {
  test("memory: below 10 percent, until there are 12", async () => {
    const { id } = await seedServer(me.id);
    for (const percent of [11, 9.9, 11.9, 5, 12, 11]) await report(id, { memory_free_bytes: percent * 40_000_000 });
    expect(await changesOf(id)).toEqual(["opened memory_free", "closed memory_free"]);
  });

  test("a disk quota: from 90 percent, until there are 72", async () => {
    const { id, server_id } = await seedInstance(me.id);
    for (const used_bytes of [89, 90, 80, 95, 73, 72, 89])
      await report(server_id, { uses: [{ instance_id: id, used_bytes: used_bytes * GB, quota_bytes: 100 * GB, paused: false }] });
    expect(await changesOf(id)).toEqual(["opened disk_quota", "closed disk_quota"]);
    const [alert] = await alertsOf(id, "closed");
    expect(alert).toMatchObject({ value: 90, threshold: 90 });
  });

  test("a paused instance, until it is not, or the machine no longer reports it", async () => {
    const { id, server_id } = await seedInstance(me.id);
    const use = (paused: boolean) => [{ instance_id: id, used_bytes: GB, quota_bytes: null, paused }];
    for (const uses of [use(true), use(true), use(false), use(true), []]) await report(server_id, { uses });
    expect(await changesOf(id)).toEqual(["opened disk_paused", "closed disk_paused", "opened disk_paused", "closed disk_paused"]);
  });

  test("a certificate of the instance's domain: below 14 days, until 17 are left", async () => {
    const { id, server_id, domain } = await seedInstance(me.id);
    const certificates = (days: number, of = domain) => [
      { instance_id: id, domain: of, failing: false, expires_at: new Date(Date.now() + days * 86_400_000).toISOString() },
    ];
    await report(server_id, { certificates: certificates(3, "before.example.com") });
    expect(await alertsOf(id)).toEqual([]);
    for (const days of [15, 13.5, 14.5, 16, 17, 15]) await report(server_id, { certificates: certificates(days) });
    expect(await changesOf(id)).toEqual(["opened certificate", "closed certificate"]);
    expect(await alertsOf(id, "closed")).toMatchObject([{ value: 13, threshold: 14 }]);
  });

  test("an instance of another server opens none, nor does one that an operation holds", async () => {
    const [instance, other] = [await seedInstance(me.id), await seedInstance(me.id)];
    const uses = (id: string) => [{ instance_id: id, used_bytes: 2 * GB, quota_bytes: GB, paused: true }];
    await report(instance.server_id, { uses: uses(other.id) });
    expect(await alertsOf(other.id)).toEqual([]);
    const key = keys.record("instance", me.id, instance.id);
    await updateOne(key, { set: { operation_id: "op_held" } }, {});
    await report(instance.server_id, { uses: uses(instance.id) });
    expect(await alertsOf(instance.id)).toEqual([]);
    await updateOne(key, { set: { operation_id: null } }, {});
    await report(instance.server_id, { uses: uses(instance.id) });
    expect(await alertsOf(instance.id)).toHaveLength(2);
    // Nor does another server's machine close them.
    await report(other.server_id, { uses: [{ instance_id: instance.id, used_bytes: 1, quota_bytes: GB, paused: false }] });
    expect(await alertsOf(instance.id)).toHaveLength(2);
  });

  test("10,000 reports that change nothing write nothing, and read the account once", async () => {
    const ownAccount = await account({ seeded: true });
    const { id } = await seedServer(ownAccount.id);
    await report(id, { disk_free_bytes: 14 * GB }, ownAccount);
    const server = await getServer(ownAccount.id, id);
    const recorded = await recordReport(server, {
      disk_size_bytes: 100 * GB,
      disk_free_bytes: 16 * GB, // it is still open
      memory_free_bytes: 3 * GB,
      certificates: [],
      uses: [],
    });
    if (recorded === undefined) throw new Error("The report was not recorded");
    const calls = vi.spyOn(DynamoDBDocumentClient.prototype, "send");
    const alertsOfRun = alertsReader();
    for (let time = 0; time < 10_000; time++)
      await evaluateReportAlerts(await alertsOfRun(ownAccount.id), server, recorded, Date.now());
    expect(calls.mock.calls.map(([command]) => command.constructor.name).toSorted()).toEqual(["GetCommand", "QueryCommand"]);
    calls.mockRestore();
    expect(await alertsOf(id, "open", ownAccount)).toHaveLength(1);
  });
});

describe("what does not respond", () => {
  test("a server: after down_minutes, until it responds", async () => {
    const server = await me.server({ name: unique("goes-offline") });
    await looks(2);
    expect(await alertsOf(server.id)).toEqual([]);
    await looks(1);
    expect(await alertsOf(server.id)).toMatchObject([{ kind: "down", value: 3, threshold: 3 }]);
    await looks(3);
    expect((await me.api.get(`/servers/${server.id}`)).as(Server).status).toBe("offline");
    expect(await changesOf(server.id)).toEqual(["opened down"]);
  });

  test("an ERP: after down_minutes, also over restarts of the service, and no longer once it is stopped", async () => {
    const ownAccount = await account();
    const server_id = (await ownAccount.server()).id;
    const { id } = await ownAccount.instance({ server_id, domain: `fail-health.${uniqueDomain()}` });
    await ownAccount.api.put("/settings/alerts", { down_minutes: 5, operation_failed: null });
    const minute = async (): Promise<void> => {
      await looks(1);
      const { operation_id } = (await ownAccount.api.get(`/instances/${id}`)).as(Instance);
      if (operation_id !== null) await ownAccount.until(operation_id);
    };
    for (let time = 1; time <= 5; time++) await minute();
    expect(await alertsOf(id, "open", ownAccount)).toEqual([]);
    for (let time = 6; time <= 12; time++) await minute();
    expect(await alertsOf(id, "open", ownAccount)).toMatchObject([{ kind: "down", threshold: 5 }]);
    const { id: stop } = (await ownAccount.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation);
    await ownAccount.until(stop);
    await minute();
    expect(await changesOf(id, ownAccount)).toEqual(["opened down", "closed down"]);
  });
});

describe("what has failed", () => {
  const failed = async (instance: Pick<Instance, "id">): Promise<void> => {
    const backup = (await me.api.post(`/instances/${instance.id}/backups`, { note: "fail-upload" })).as(Backup);
    await me.until(backup.operation_id, "failed");
  };

  test("an operation: of a backup its instance's, once for each type, until the next one succeeds", async () => {
    const instance = await me.instance({ server_id: (await me.server()).id });
    await failed(instance);
    await forward();
    await failed(instance);
    await forward();
    await forward();
    const [alert, ...more] = await alertsOf(instance.id);
    expect(more).toEqual([]);
    expect(alert).toMatchObject({ kind: "operation_failed", value: null, threshold: null, resource: { id: instance.id } });
    const operation = (await me.api.get(`/operations/${alert?.operation_id}`)).as(Operation);
    expect(operation).toMatchObject({ type: "backup.create", status: "failed" });
    const { id } = (await me.api.post(`/instances/${instance.id}/actions`, { action: "restart" })).as(Operation);
    await me.until(id);
    await forward();
    expect(await alertsOf(instance.id)).toHaveLength(1);
    await me.backup(instance.id);
    await forward();
    expect(await changesOf(instance.id)).toEqual(["opened operation_failed", "closed operation_failed"]);
  });

  test("the alert of a failure closes after 7 days, and one that is off does not open", async () => {
    const ownAccount = await account();
    const { id } = (await ownAccount.api.post("/servers", { ...(await ownAccount.serverBody()), name: "fail-quota" })).as(Server);
    await cloud.states.settled();
    await forward();
    expect(await alertsOf(id, "open", ownAccount)).toMatchObject([{ kind: "operation_failed" }]);
    await endAlerts(ownAccount.id, Date.now() + 6 * DAY_MINUTES * 60_000);
    expect(await alertsOf(id, "open", ownAccount)).toHaveLength(1);
    await endAlerts(ownAccount.id, Date.now() + 7 * DAY_MINUTES * 60_000);
    expect(await alertsOf(id, "open", ownAccount)).toEqual([]);
    await forward(); // the same event again opens nothing
    expect(await changesOf(id, ownAccount)).toEqual(["opened operation_failed", "closed operation_failed"]);
    await ownAccount.api.put("/settings/alerts", { operation_failed: false });
    const other = (await ownAccount.api.post("/servers", { ...(await ownAccount.serverBody()), name: "fail-quota-2" })).as(
      Server,
    );
    await cloud.states.settled();
    await forward();
    expect(await alertsOf(other.id, "open", ownAccount)).toEqual([]);
  });
});

describe("what a record says", () => {
  const tell = async (
    eventType: AuditType,
    resource: { type: "instance" | "backup"; id: string; name: string },
    record: { id: string; set: Record<string, unknown> },
  ): Promise<void> => {
    await updateOne(keys.record("instance", me.id, record.id), { set: record.set }, {});
    const change = startChange(await getAccount(me.id));
    logEvent(change, { operator: "test", requestId: "test" }, eventType, resource);
    await change.commit();
    await forward();
  };

  test("an overdue backup, once no operation holds the instance, until it is not overdue", async () => {
    const { id, name } = await seedInstance(me.id);
    const instance = { type: "instance", id, name } as const;
    await tell("instance.overdue", instance, { id, set: { protection_status: "overdue", operation_id: "op_held" } });
    expect(await alertsOf(id)).toEqual([]);
    await tell("backup_policy.update", instance, { id, set: { operation_id: null } });
    expect(await alertsOf(id)).toMatchObject([{ kind: "backup_overdue", value: null, threshold: null }]);
    await tell("backup_policy.update", instance, { id, set: { protection_status: "protected" } });
    expect(await changesOf(id)).toEqual(["opened backup_overdue", "closed backup_overdue"]);
  });

  test("a failed drill of a backup of the instance, until one passes", async () => {
    const instance = await seedInstance(me.id);
    const { id } = instance;
    const backup = { type: "backup", id: (await seedBackup(instance)).id, name: "Backup" } as const;
    for (let time = 0; time < 2; time++) await tell("backup.drill_failed", backup, { id, set: { last_drill: "failed" } });
    expect(await alertsOf(id)).toMatchObject([{ kind: "drill_failed" }]);
    await tell("backup_policy.update", { type: "instance", id, name: instance.name }, { id, set: { last_drill: "passed" } });
    expect(await changesOf(id)).toEqual(["opened drill_failed", "closed drill_failed"]);
  });
});

test("a deleted resource closes its alerts, and what is off is closed when the settings change", async () => {
  const ownAccount = await account();
  const { id, name } = await ownAccount.server();
  const otherServer = await seedServer(ownAccount.id);
  const alerts = await readAlerts(ownAccount.id);
  for (const each of [{ id, name }, otherServer])
    await evaluateAlert(alerts, { kind: "disk_free", type: "server", id: each.id, measured: 4, name: () => each.name });
  await ownAccount.until((await ownAccount.api.delete(`/servers/${id}`)).as(Operation).id);
  await forward();
  expect(await alertsOf(id, "open", ownAccount)).toEqual([]);
  expect(await alertsOf(otherServer.id, "open", ownAccount)).toHaveLength(2);
  await ownAccount.api.put("/settings/alerts", { disk_free_percent: [15] });
  await forward();
  expect((await alertsOf(otherServer.id, "open", ownAccount)).map(({ threshold }) => threshold)).toEqual([15]);
  expectCounts(await snapshotOf(cloud, ownAccount.id));
});

test("what was measured closes once its machine has measured nothing for three hours", async () => {
  const ownAccount = await account({ seeded: true });
  const { id, server_id } = await seedInstance(ownAccount.id);
  const measured = Date.now();
  const watched = { account_id: ownAccount.id, server_id, last_seen_at: null, figures_at: Math.floor(measured / 1000) };
  await putOne(keys.watchedServer(server_id), watched);
  const alerts = await readAlerts(ownAccount.id);
  await evaluateAlert(alerts, { kind: "cpu", type: "server", id: server_id, measured: 99, name: () => "erp" });
  await evaluateAlert(alerts, { kind: "error_rate", type: "instance", id, measured: 50, server_id, name: () => "Shop" });
  await evaluateAlert(alerts, { kind: "disk_free", type: "server", id: server_id, measured: 14, name: () => "erp" });
  const open = async () => [...(await alertsOf(server_id, "open", ownAccount)), ...(await alertsOf(id, "open", ownAccount))];
  await endAlerts(ownAccount.id, measured + 2 * 3_600_000);
  expect((await open()).map(({ kind }) => kind).toSorted()).toEqual(["cpu", "disk_free", "error_rate"]);
  await endAlerts(ownAccount.id, measured + 3 * 3_600_000);
  expect((await open()).map(({ kind }) => kind)).toEqual(["disk_free"]);
});

test("an API token that expires says so at each step, once", async () => {
  const ownAccount = await account();
  const session = await ownAccount.session();
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
  const create = async (name: string, expires_at: string | null) =>
    (await session.post("/tokens", { name, permissions: ["servers:read"], expires_at })).as(z.object({ id: z.string() })).id;
  const [soon, later] = [await create("Soon", inDays(10)), await create("Later", inDays(100))];
  await create("Never", null);
  const rotated = await create("Rotated", null);
  expect((await session.post(`/tokens/${rotated}/rotate`, {})).status).toBe(201); // it expires in a day
  const look = (days: number) => Promise.all([1, 2].map(() => endAlerts(ownAccount.id, Date.now() + days * 86_400_000)));
  const expiryEventsOf = async (id: string) =>
    (await ownAccount.api.get(`/events?type=token.expiring&order=asc&resource_id=${id}`))
      .as(z.array(Event))
      .map(({ data, actor }) => [data?.expiry?.days, actor.type]);
  await look(0);
  await look(1);
  expect(await expiryEventsOf(soon)).toEqual([[14, "service"]]);
  expect(await expiryEventsOf(rotated), "its successor has its name").toEqual([]);
  await look(7.5);
  await look(9);
  expect(await expiryEventsOf(soon)).toEqual([
    [14, "service"],
    [3, "service"],
  ]);
  await look(11); // it has expired
  expect(await expiryEventsOf(later)).toEqual([]);
  await look(98);
  expect(await expiryEventsOf(later)).toEqual([[3, "service"]]);
});

test("closed alerts are removed after 400 days with their counts, open ones stay", async () => {
  const ownAccount = await account({ seeded: true });
  const [closed, open] = [await seedServer(ownAccount.id), await seedServer(ownAccount.id)];
  const finding = { kind: "disk_free", type: "server", name: () => "erp" } as const;
  for (const [server, percents] of [
    [closed, [14, 50]],
    [open, [14]],
  ] as const)
    for (const measured of percents)
      await evaluateAlert(await readAlerts(ownAccount.id), { ...finding, id: server.id, measured });
  const before = new Date(Date.now() + 1_000).toISOString();
  await removeHistory(ownAccount.id, "alert", { before: new Date(Date.now() - 60_000).toISOString(), outOfTime: () => false });
  expect((await ownAccount.api.get("/alerts")).meta?.total).toBe(2);
  await removeHistory(ownAccount.id, "alert", { before, outOfTime: () => false });
  expect((await ownAccount.api.get("/alerts")).as(z.array(Alert)).map(({ resource }) => resource.id)).toEqual([open.id]);
  expectCounts(await snapshotOf(cloud, ownAccount.id));
});

test("a value that moves around its threshold opens and closes an alert at most once", () => {
  for (const kind of ALERT_KIND_NAMES.filter((each) => ALERT_KINDS[each].measured !== undefined))
    for (let threshold = 1; threshold <= 99; threshold++) {
      let isOpen = false;
      let changes = 0;
      for (let time = 0; time < 100; time++) {
        const value = threshold + 0.03 * Math.min(threshold, 100 - threshold) * Math.sin(time);
        const next = isBeyond(kind, value, threshold, isOpen);
        if (next !== isOpen) changes++;
        isOpen = next;
      }
      expect(changes, `${kind} ${threshold}`).toBe(1);
    }
});
