// What servers report about themselves: when it is asked for, where it is shown, and what it must not touch.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Code } from "../../shared/api/code.ts";
import { Instance } from "../../shared/api/instances.ts";
import * as overview from "../../shared/api/overview.ts";
import { Server } from "../../shared/api/servers.ts";
import { recordImage, recordOutdatedImages } from "../../shared/operations/monitoring/images.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, uniqueDomain } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { type Certificate, GB, reportWith } from "./reported.ts";

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

test("a server reports when it is first checked, and again when it has got an instance", async () => {
  const ownAccount = await account();
  const show = async (id: string): Promise<Server> => (await ownAccount.api.get(`/servers/${id}`)).as(Server);
  const { id } = await ownAccount.server();
  expect(await show(id)).toMatchObject(UNREPORTED);
  await check();
  const empty = await show(id);
  expect(empty).toMatchObject({ disk_free_bytes: 33 * GB, memory_free_bytes: 3.3 * GB, reported_at: expect.any(String) });
  const instance = await ownAccount.instance({ server_id: id });
  expect(instance.certificate).toEqual(PENDING);
  await check();
  const full = await show(id);
  expect(full.disk_free_bytes).toBeLessThan(32.5 * GB);
  expect(full.memory_free_bytes).toBe(2.8 * GB);
  expect(full.needs_reboot).toBe(false);
  const { certificate } = (await ownAccount.api.get(`/instances/${instance.id}`)).as(Instance);
  expect(certificate).toMatchObject({ status: "valid", checked_at: full.reported_at });
  expect(Date.parse(String(certificate.expires_at)) - Date.now()).toBeGreaterThan(89 * 86_400_000);
});

test("servers that need a reboot are filtered and counted, until they are rebooted or gone", async () => {
  const ownAccount = await account();
  await setQuota(ownAccount.id, "server", 10);
  const listServers = async (query: string) =>
    (await ownAccount.api.get(`/servers?${query}`)).as(z.array(z.looseObject({ id: z.string() })));
  const count = async () => (await ownAccount.api.get("/overview")).as(overview.get().data).servers?.needs_reboot;
  const [first, second] = [
    await ownAccount.server({ name: unique("needs-reboot") }),
    await ownAccount.server({ name: unique("needs-reboot") }),
  ];
  const other = await ownAccount.server();
  expect([await count(), await listServers("needs_reboot=true")]).toEqual([0, []]);
  await check();
  expect(await count()).toBe(2);
  expect((await listServers("needs_reboot=true&sort=name")).map(({ id }) => id).toSorted()).toEqual(
    [first.id, second.id].toSorted(),
  );
  expect(await listServers("needs_reboot=false")).toMatchObject([{ id: other.id }]);

  await ownAccount.until((await ownAccount.api.post(`/servers/${first.id}/actions`, { action: "reboot" })).as(Operation).id);
  await check(); // the first one after it brings a report
  expect((await ownAccount.api.get(`/servers/${first.id}`)).as(Server).needs_reboot).toBe(false);
  expect([await count(), await listServers("needs_reboot=true")]).toMatchObject([1, [{ id: second.id }]]);
  await ownAccount.until((await ownAccount.api.delete(`/servers/${second.id}`)).as(Operation).id);
  expect([await count(), await listServers("needs_reboot=true")]).toEqual([0, []]);
});

test("servers are filtered by what they last reported as free, once they have reported", async () => {
  const ownAccount = await account({ seeded: true });
  const [full, roomy] = [await seedServer(ownAccount.id), await seedServer(ownAccount.id)];
  await seedServer(ownAccount.id);
  const listIds = async (query: string) =>
    (await ownAccount.api.get(`/servers?${query}`)).as(z.array(z.looseObject({ id: z.string() }))).map(({ id }) => id);
  const report = async (of: { id: string }, disk_free_bytes: number, memory_free_bytes: number) =>
    recordReport(await getServer(ownAccount.id, of.id), { ...reportWith([]), disk_free_bytes, memory_free_bytes });
  await report(full, 3 * GB, 2 * GB);
  await report(roomy, 30 * GB, GB / 2);
  expect(await listIds(`disk_free_bytes_below=${3 * GB}`)).toEqual([]);
  expect(await listIds(`disk_free_bytes_below=${3 * GB + 1}`)).toEqual([full.id]);
  expect(await listIds(`memory_free_bytes_below=${GB}`)).toEqual([roomy.id]);
  expect(await listIds(`memory_free_bytes_below=${GB}&disk_free_bytes_below=${30 * GB}`)).toEqual([]);
  const empty = await listIds(`disk_free_bytes_below=${31 * GB}&instance_count_below=1`);
  expect(empty.toSorted()).toEqual([full.id, roomy.id].toSorted());
  clock.advance(1);
  await report(full, 20 * GB, 2 * GB);
  expect(await listIds(`disk_free_bytes_below=${10 * GB}`)).toEqual([]);
  const { error } = await ownAccount.api.get("/servers?disk_free_bytes_below=10GB");
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "disk_free_bytes_below" } });
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

test("a machine's report says nothing about another server's instances", async () => {
  const { id, domain } = await seedInstance(me.id);
  const other = await seedServer(me.id);
  await recordReport(other, reportWith([{ instance_id: id, domain }]));
  expect((await instanceOf(id)).certificate).toEqual(PENDING);
});

describe("the images of ERPs", () => {
  const update = async ({ api }: TestAccount) => (await api.get("/overview")).as(overview.get().data).instances?.update_available;

  test("an instance whose image is not the newest shows so after the report, in lists, filters, counts and its code", async () => {
    const ownAccount = await account();
    const { id: server_id } = await ownAccount.server();
    const old = await ownAccount.instance({ server_id, domain: uniqueDomain("old-image.shop") });
    const newest = await ownAccount.instance({ server_id });
    expect(old.update_available).toBeNull();
    await check();
    const show = async (id: string) => (await ownAccount.api.get(`/instances/${id}`)).as(Instance);
    const listed = z.array(z.looseObject({ id: z.string(), update_available: z.boolean().nullable() }));
    expect(await show(old.id)).toMatchObject({ update_available: true, updated_at: old.updated_at });
    expect((await ownAccount.api.get("/instances?update_available=true")).as(listed)).toMatchObject([
      { id: old.id, update_available: true },
    ]);
    expect((await ownAccount.api.get("/instances?update_available=false")).as(listed)).toMatchObject([{ id: newest.id }]);
    expect(await update(ownAccount)).toBe(1);
    const { image } = (await ownAccount.api.get(`/instances/${old.id}/code`)).as(Code);
    expect(image).toMatchObject({ version: "19.0", id: expect.stringMatching(/^sha256:/), update_available: true });
    expect(Date.parse(String(image?.newest_created_at))).toBeGreaterThan(Date.parse(String(image?.created_at)));

    await ownAccount.until((await ownAccount.api.delete(`/instances/${old.id}`)).as(Operation).id);
    expect(await update(ownAccount)).toBe(0);
    expect((await ownAccount.api.get("/instances?update_available=true")).as(listed)).toEqual([]);
  });

  test("a newer image is noticed with the next report, once, and an image that no version is known of is neither", async () => {
    const ownAccount = await account();
    const instance = await seedInstance(ownAccount.id);
    const server = await getServer(ownAccount.id, instance.server_id);
    const [first, second] = ["a", "b"].map((letter) => `sha256:${letter.repeat(64)}`);
    const judged = async (image: string | undefined, newest: string | undefined) => {
      const ids = newest === undefined ? [] : [["19.0", { ids: [newest], created_at: null }] as const];
      const used = { instance_id: instance.id, used_bytes: 1, quota_bytes: null, paused: false };
      clock.advance(1);
      const uses = [{ ...used, image: image === undefined ? null : { id: image, created_at: null } }];
      const report = await recordReport(server, { ...reportWith([]), uses });
      if (report === undefined) throw new Error("The report was not recorded");
      await recordOutdatedImages(server, report, new Map(ids));
      return [(await ownAccount.api.get(`/instances/${instance.id}`)).as(Instance).update_available, await update(ownAccount)];
    };
    expect(await judged(undefined, first)).toEqual([null, 0]);
    expect(await judged(first, undefined)).toEqual([null, 0]);
    expect(await judged(first, first)).toEqual([false, 0]);
    expect(await judged(first, second)).toEqual([true, 1]);
    expect(await judged(first, second)).toEqual([true, 1]);
    expect(await judged(second, second)).toEqual([false, 0]);
  });

  test("an image that is newer than what was looked up an hour ago is not to be updated", async () => {
    const instance = await seedInstance(me.id);
    const [pulled, lookedUp] = ["d", "e"].map((letter) => `sha256:${letter.repeat(64)}`);
    const record = async (created_at: string | null) => {
      const newest = new Map([["19.0", { ids: [String(lookedUp)], created_at: "2026-11-20T03:00:00.000Z" }]]);
      const current = await getInstance(me.id, instance.id);
      expect(await recordImage(current, { id: String(pulled), created_at }, newest)).toBe(true);
      return (await instanceOf(instance.id)).update_available;
    };
    expect(await record("2026-11-27T03:00:00.000Z")).toBe(false);
    expect(await record("2026-11-13T03:00:00.000Z")).toBe(true);
    expect(await record(null)).toBe(true);
  });

  test("a machine changes nothing of an instance that is on another one", async () => {
    const [instance, other] = [await seedInstance(me.id), await seedInstance(me.id)];
    const server = await getServer(me.id, instance.server_id);
    const image = { id: `sha256:${"c".repeat(64)}`, created_at: null };
    const uses = [{ instance_id: other.id, used_bytes: 1, quota_bytes: null, paused: false, image }];
    const report = await recordReport(server, { ...reportWith([]), uses });
    if (report === undefined) throw new Error("The report was not recorded");
    await recordOutdatedImages(server, report, new Map([["19.0", { ids: ["sha256:"], created_at: null }]]));
    expect((await instanceOf(other.id)).update_available).toBeNull();
  });
});
