// Reports of servers over some minutes: how often they come, and what a report that is late or strange must not touch.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Instance } from "../../shared/api/instances.ts";
import { Server } from "../../shared/api/servers.ts";
import { hostReportRef, recordReport } from "../../shared/records/host-reports.ts";
import { getServer } from "../../shared/records/servers.ts";
import { find } from "../../shared/data/table.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedServer } from "../harness/seed.ts";
import { GB, reportWith } from "./reported.ts";

const clock = testClock();
let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared });
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
});

const check = (): Promise<void> => cloud.events.fire("checkservers");
const serverOf = async (id: string): Promise<Server> => (await me.api.get(`/servers/${id}`)).as(Server);
const instanceOf = async (id: string): Promise<Instance> => (await me.api.get(`/instances/${id}`)).as(Instance);

test("a server whose system was updated says that it needs a reboot, also in lists, and not if it does not say", async () => {
  const { id, name } = await me.server({ name: unique("needs-reboot") });
  for (let minute = 0; minute < 10; minute++) {
    await check();
    clock.advance(1);
  }
  expect((await serverOf(id)).needs_reboot).toBe(true);
  const [listed] = (await me.api.get(`/servers?search=${name}`)).as(z.array(z.looseObject({})));
  expect(listed).toMatchObject({ needs_reboot: true });
  const other = await me.server();
  await recordReport(await getServer(me.id, other.id), reportWith([])); // as a release before it said so did
  expect(await serverOf(other.id)).toMatchObject({ disk_free_bytes: 20 * GB, needs_reboot: null });
});

test("a server that nothing happens to reports once in ten minutes", async () => {
  const { id } = await me.server();
  const reports = new Set<string | null>();
  for (let minute = 0; minute < 20; minute++) {
    await check();
    reports.add((await serverOf(id)).reported_at);
    clock.advance(1);
  }
  reports.delete(null);
  expect(reports.size).toBe(2);
});

test("a report that comes late replaces no later one, and brings no deleted server back", async () => {
  const server = await getServer(me.id, (await me.server()).id);
  await recordReport(server, reportWith([]));
  clock.advance(-5);
  await recordReport(server, { ...reportWith([]), disk_free_bytes: 1 });
  clock.advance(5);
  expect((await serverOf(server.id)).disk_free_bytes).toBe(20 * GB);
  await me.until((await me.api.delete(`/servers/${server.id}`)).as(Operation).id);
  const stored = () => find(hostReportRef(me.id, server.id));
  expect(await stored()).toBeUndefined();
  await recordReport(server, reportWith([]));
  expect(await stored()).toBeUndefined();
});

test("first reports of a server that come at the same time do not conflict", async () => {
  const server = await seedServer(me.id);
  await Promise.all(Array.from({ length: 5 }, () => recordReport(server, reportWith([]))));
  expect((await serverOf(server.id)).disk_free_bytes).toBe(20 * GB);
});

test("a machine that reports a thousand instances has few of them stored", async () => {
  const server = await seedServer(me.id);
  const many = Array.from({ length: 1000 }, (_, i) => ({ instance_id: `ins_${i}`, domain: "x".repeat(253) }));
  await recordReport(server, reportWith(many));
  expect(Object.keys((await find(hostReportRef(me.id, server.id)))?.certificates ?? {})).toHaveLength(50);
});

test("the sandbox's names for a full disk and a failing certificate", async () => {
  const server = await me.server({ name: unique("low-disk") });
  const instance = await me.instance({ server_id: server.id, domain: `fail-certificate.${uniqueDomain()}` });
  for (let minute = 0; minute < 10; minute++) {
    await check();
    clock.advance(1);
  }
  expect((await serverOf(server.id)).disk_free_bytes).toBe(GB);
  expect((await instanceOf(instance.id)).certificate).toMatchObject({ status: "failing", expires_at: null });
  const { api } = await me.token();
  const { warnings } = (await api.post(`/instances/${instance.id}/actions?dry_run=true`, { action: "backup" })).as(
    z.looseObject({ warnings: z.array(z.string()) }),
  );
  expect(warnings).toEqual([expect.stringMatching(`^Low disk space: server ${server.name} reported 1.0 GB free at 2`)]);
});
