// The disk that the instances of a server share: what they use of it, what they may use, and who is told when it is almost full.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Instance } from "../../shared/api/instances.ts";
import { ListedServer } from "../../shared/api/servers.ts";
import * as overview from "../../shared/api/overview.ts";
import { Event } from "../../shared/api/events.ts";
import { readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { countLowDisk, explainUses } from "../../shared/operations/monitoring/disk-use.ts";
import { recordErpHealth } from "../../shared/operations/monitoring/health.ts";
import { evaluateReportAlerts } from "../../shared/operations/monitoring/report-alerts.ts";
import { type MachineReport, recordReport } from "../../shared/records/host-reports.ts";
import { keys } from "../../shared/data/keys.ts";
import { getServer } from "../../shared/records/servers.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedInstance } from "../harness/seed.ts";

const clock = testClock();
let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared });
  me = await account({ seeded: true });
});

const GB = 1_000_000_000;
const instanceOf = async (id: string): Promise<Instance> => (await me.api.get(`/instances/${id}`)).as(Instance);
const alertsOf = async (id: string): Promise<unknown[]> =>
  (await me.api.get("/events?class=outcomes&per_page=100"))
    .as(z.array(Event))
    .filter(({ type, resource }) => type.startsWith("alert.") && resource.id === id)
    .map(({ type, data, actor }) => {
      expect(actor.type).toBe("service");
      return [type.replace("alert.", ""), data?.alert?.kind, data?.alert?.threshold];
    })
    .toReversed();

/** What the health check does with a report of this machine. */
async function report(serverId: string, fields: Partial<MachineReport>, of = me): Promise<void> {
  clock.advance(1);
  const server = await getServer(of.id, serverId);
  const usual = { disk_size_bytes: 100 * GB, disk_free_bytes: 50 * GB, memory_free_bytes: GB, certificates: undefined, uses: [] };
  const recorded = await recordReport(server, { ...usual, ...fields });
  if (recorded === undefined) throw new Error("The report was not recorded");
  await countLowDisk(server, recorded);
  await explainUses(server, recorded);
  await evaluateReportAlerts(await readAlerts(of.id), server, recorded, Date.now());
}

test("a server's disk opens an alert below 15 and 5 percent, each once, and closes it only a fifth beyond", async () => {
  const { server_id } = await seedInstance(me.id);
  for (const free of [16, 14, 14, 16, 4, 5.5, 7, 17, 18.5, 17]) await report(server_id, { disk_free_bytes: free * GB });
  expect(await alertsOf(server_id)).toEqual([
    ["opened", "disk_free", 15],
    ["opened", "disk_free", 5],
    ["closed", "disk_free", 5],
    ["closed", "disk_free", 15],
  ]);
});

test("the overview counts servers by how full their disks are, also those that an older version has not counted", async () => {
  const ownAccount = await account({ seeded: true });
  const ids: string[] = [];
  for (const free of [14, 4, 4, 50]) {
    const { server_id } = await seedInstance(ownAccount.id);
    ids.push(server_id);
    await report(server_id, { disk_free_bytes: free * GB }, ownAccount);
  }
  const lowDisks = async () => (await ownAccount.api.get("/overview")).as(overview.get().data).servers?.low_disk;
  expect(await lowDisks()).toEqual({ below_15_percent: 1, below_5_percent: 2 });
  const [low = "", full = "", emptied = ""] = ids;
  await report(emptied, { disk_free_bytes: 50 * GB }, ownAccount);
  await report(low, { disk_free_bytes: 4 * GB }, ownAccount);
  expect(await lowDisks()).toEqual({ below_15_percent: 0, below_5_percent: 2 });
  // The items are as a version left them that did not count.
  await updateOne(keys.overview(ownAccount.id), { remove: ["low_disk#15", "low_disk#5"] }, {});
  for (const id of [low, full]) await updateOne(keys.hostReport(ownAccount.id, id), { remove: ["disk_shown"] }, {});
  for (const id of [low, full]) await report(id, { disk_free_bytes: 4 * GB }, ownAccount);
  expect(await lowDisks()).toEqual({ below_15_percent: 0, below_5_percent: 2 });
});

test("a server that is deleted no longer counts as one with a full disk", async () => {
  const ownAccount = await account();
  const { id } = await ownAccount.server();
  await report(id, { disk_free_bytes: 4 * GB }, ownAccount);
  const lowDisks = async () => (await ownAccount.api.get("/overview")).as(overview.get().data).servers?.low_disk;
  expect(await lowDisks()).toEqual({ below_15_percent: 0, below_5_percent: 1 });
  await ownAccount.until((await ownAccount.api.delete(`/servers/${id}`)).as(z.object({ id: z.string() })).id);
  expect(await lowDisks()).toEqual({ below_15_percent: 0, below_5_percent: 0 });
});

test("a disk that is filled at once opens both alerts, and one that is emptied closes both", async () => {
  const { server_id } = await seedInstance(me.id);
  for (const free of [50, 1, 50]) await report(server_id, { disk_free_bytes: free * GB });
  expect(await alertsOf(server_id)).toHaveLength(4);
});

test("an instance over its quota says so, one that is paused says that, and both are over when it is within its quota", async () => {
  const { id, server_id } = await seedInstance(me.id);
  const use = (used: number, paused: boolean) => ({
    uses: [{ instance_id: id, used_bytes: used * GB, quota_bytes: 10 * GB, paused }],
  });
  await report(server_id, use(8, false));
  expect(await instanceOf(id)).toMatchObject({ disk_used_bytes: 8 * GB, status_reason: null });
  await report(server_id, use(11, false));
  expect((await instanceOf(id)).status_reason).toContain("more of its server's disk than its quota");
  await report(server_id, use(12, true));
  expect(await instanceOf(id)).toMatchObject({ status: "running", status_reason: expect.stringContaining("is paused") });
  await report(server_id, use(9, false));
  expect((await instanceOf(id)).status_reason).toBeNull();
  await report(server_id, use(7, false));
  expect(await alertsOf(id)).toEqual([
    ["opened", "disk_quota", 90],
    ["opened", "disk_paused", null],
    ["closed", "disk_paused", null],
    ["closed", "disk_quota", 90],
  ]);
});

test("a report twice opens an alert once, and one of instances of another server changes nothing of theirs", async () => {
  const [instance, other] = [await seedInstance(me.id), await seedInstance(me.id)];
  const uses = [{ instance_id: other.id, used_bytes: 2 * GB, quota_bytes: GB, paused: true }];
  await report(instance.server_id, { uses });
  await report(instance.server_id, { uses });
  expect(await alertsOf(other.id)).toEqual([]);
  expect((await instanceOf(other.id)).status_reason).toBeNull();
});

test("in the sandbox, too, a quota reaches the machine within a minute, and the worst one over its quota is paused on a full disk", async () => {
  const server = await me.server({ name: unique("low-disk") });
  const [big, small] = [await me.instance({ server_id: server.id }), await me.instance({ server_id: server.id })];
  const check = async (): Promise<void> => {
    clock.advance(1);
    await cloud.events.fire("checkservers");
  };
  await check();
  expect(await instanceOf(big.id)).toMatchObject({ disk_quota_bytes: null, status_reason: null });
  const put = (id: string, disk_quota_bytes: unknown) => me.api.put(`/instances/${id}`, { disk_quota_bytes });
  for (const wrong of [0, -1, 1.5, "1", 1e16]) expect((await put(big.id, wrong)).status).toBe(422);
  expect((await put(big.id, 100_000_000)).as(Instance).disk_quota_bytes).toBe(100_000_000);
  await put(small.id, 590_000_000);
  await check();
  expect(await instanceOf(big.id)).toMatchObject({
    status: "running",
    status_reason: expect.stringContaining("is paused"),
    health: { status: "failing", checks: expect.arrayContaining([{ name: "page", passed: false }]) },
  });
  expect(await instanceOf(small.id)).toMatchObject({
    status_reason: expect.stringContaining("than its quota"),
    health: { status: "ok" },
  });
  for (let minute = 0; minute < 6; minute += 1) await check();
  const sinceThen = async (): Promise<string[]> =>
    (await me.api.get(`/events?class=outcomes&resource_id=${big.id}&per_page=100`))
      .as(z.array(Event))
      .flatMap(({ type }) => (/^instance\.(?:up|down|restart)/.test(type) ? [type] : []))
      .toReversed();
  expect(await sinceThen(), "it is not restarted").toEqual(["instance.down"]);
  expect((await instanceOf(big.id)).status).toBe("running");
  await recordErpHealth(await getServer(me.id, server.id), { [big.id]: 0 }, { sequence: 1, faults: [], paused: true }, null);
  expect((await instanceOf(big.id)).health.status, "without a report nobody knows").toBe("failing");
  await put(big.id, null);
  for (let minute = 0; minute < 2; minute += 1) await check();
  expect(await instanceOf(big.id)).toMatchObject({ disk_quota_bytes: null, status_reason: null, health: { status: "ok" } });
  expect(await sinceThen()).toEqual(["instance.down", "instance.up"]);
  const listed = (await me.api.get("/servers")).as(z.array(ListedServer)).find(({ id }) => id === server.id);
  expect(listed).toMatchObject({ disk_free_bytes: GB, disk_size_bytes: 40 * GB, instance_count: 2 });
});
