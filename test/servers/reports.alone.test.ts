// What servers report about themselves: when it is asked for, where it is shown, and what it must not touch.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Instance } from "../../shared/api/instances.ts";
import { Server } from "../../shared/api/servers.ts";
import { hostReportRef, type MachineReport, recordReport } from "../../shared/records/host-reports.ts";
import { getServer } from "../../shared/records/servers.ts";
import { find } from "../../shared/data/table.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/operator.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

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
const UNREPORTED = { disk_free_bytes: null, memory_free_bytes: null, needs_reboot: null, reported_at: null };
const PENDING = { status: "pending", expires_at: null, checked_at: null };
const GB = 1_000_000_000;

test("a server reports when it is first checked, and again when it has got an instance", async () => {
  const own = await account();
  const show = async (id: string): Promise<Server> => (await own.api.get(`/servers/${id}`)).as(Server);
  const { id } = await own.server();
  expect(await show(id)).toMatchObject(UNREPORTED);
  await check();
  const empty = await show(id);
  expect(empty).toMatchObject({ disk_free_bytes: 33 * GB, memory_free_bytes: 3.3 * GB, reported_at: expect.any(String) });
  const instance = await own.instance({ server_id: id });
  expect(instance.certificate).toEqual(PENDING);
  await check();
  const full = await show(id);
  expect(full.disk_free_bytes).toBeLessThan(32.5 * GB);
  expect(full.memory_free_bytes).toBe(2.8 * GB);
  expect(full.needs_reboot).toBe(false);
  const { certificate } = (await own.api.get(`/instances/${instance.id}`)).as(Instance);
  expect(certificate).toMatchObject({ status: "valid", checked_at: full.reported_at });
  expect(Date.parse(String(certificate.expires_at)) - Date.now()).toBeGreaterThan(89 * 86_400_000);
});

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

test("a report changes no version, is no event, and changes only what lists show of it", async () => {
  const server = await me.server();
  const instance = await me.instance({ server_id: server.id });
  const paths = [`/servers/${server.id}`, `/instances/${instance.id}`];
  const state = async () => ({
    etags: await Promise.all([...paths, "/overview"].map(async (path) => (await me.api.get(path)).headers["etag"])),
    lists: await Promise.all(["/instances", "/events"].map(async (path) => (await me.api.get(path)).as(z.unknown()))),
    trace: await me.trace(),
  });
  const before = await state();
  await recordReport(await getServer(me.id, server.id), reportWith([{ instance_id: instance.id, domain: instance.domain }]));
  expect(await state()).toEqual(before);
  expect((await serverOf(server.id)).disk_free_bytes).toBe(20 * GB);
  expect((await instanceOf(instance.id)).certificate).toMatchObject({ status: "valid" });
  const [etag] = before.etags;
  const change = await me.api.put(paths[0] ?? "", { name: unique("renamed") }, { headers: { "if-match": String(etag) } });
  expect(change.as(Server)).toMatchObject({ disk_free_bytes: 20 * GB, memory_free_bytes: 2 * GB });
  const listed = z.array(z.looseObject({}));
  const [one] = (await me.api.get(`/servers?search=${change.as(Server).name}`)).as(listed);
  expect(one).toMatchObject({ disk_free_bytes: 20 * GB, memory_free_bytes: 2 * GB, instance_count: 1 });
  for (const one of (await me.api.get("/instances")).as(listed)) expect(Object.keys(one)).not.toContain("certificate");
});

interface Certificate {
  instance_id: string;
  domain: string;
  expires_at?: string | null;
  failing?: boolean;
}

const reportWith = (certificates: readonly Certificate[] | undefined): MachineReport => ({
  disk_free_bytes: 20 * GB,
  memory_free_bytes: 2 * GB,
  certificates: certificates?.map((each) => ({
    expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    failing: false,
    ...each,
  })),
});

test("a certificate is pending until there is one, and fails when it could not be renewed, has expired or is for another domain", async () => {
  const { id, domain, server_id } = await seedInstance(me.id);
  const server = await getServer(me.id, server_id);
  const report = async (fields: Partial<Certificate>): Promise<Instance["certificate"]> => {
    await recordReport(server, reportWith([{ instance_id: id, domain, ...fields }]));
    clock.advance(1);
    return (await instanceOf(id)).certificate;
  };
  const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
  const [soon, late] = [inSeconds(270), inSeconds(86_400)];
  expect((await instanceOf(id)).certificate).toEqual(PENDING);
  expect(await report({ expires_at: null })).toMatchObject({
    status: "pending",
    expires_at: null,
    checked_at: expect.any(String),
  });
  expect(await report({ expires_at: null, failing: true })).toMatchObject({ status: "failing", expires_at: null });
  expect(await report({ expires_at: late })).toMatchObject({ status: "valid", expires_at: late });
  expect(await report({ expires_at: late, failing: true })).toMatchObject({ status: "failing", expires_at: late });
  expect(await report({ expires_at: soon })).toMatchObject({ status: "failing", expires_at: soon });
  expect(await report({ domain: "old.example.com" })).toEqual(PENDING);
});

test("what a machine says about its disk counts although its proxy does not respond", async () => {
  const { id, domain, server_id } = await seedInstance(me.id);
  const server = await getServer(me.id, server_id);
  await recordReport(server, reportWith([{ instance_id: id, domain }]));
  const { certificate } = await instanceOf(id);
  clock.advance(10);
  await recordReport(server, { ...reportWith(undefined), disk_free_bytes: GB });
  expect((await serverOf(server_id)).disk_free_bytes).toBe(GB);
  expect((await instanceOf(id)).certificate).toEqual(certificate);
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

test("a machine's report says nothing about another server's instances", async () => {
  const { id, domain } = await seedInstance(me.id);
  const other = await seedServer(me.id);
  await recordReport(other, reportWith([{ instance_id: id, domain }]));
  expect((await instanceOf(id)).certificate).toEqual(PENDING);
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
