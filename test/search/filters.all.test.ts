// Filters of lists beyond labels: an instance's version, edition, image, drill and last backup, a server's provider, region, size
// and instances, a backup's kind, drill, size and lock, an operation's type, actor and server; and searches for emails and IP
// addresses.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { backupRef } from "../../shared/records/backups.ts";
import { startChange } from "../../shared/data/change.ts";
import { buildDrill, recordDrill } from "../../shared/operations/backups/drills.ts";
import { indexed } from "../harness/indexed.ts";
import { keys } from "../../shared/data/keys.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { find, queryAll, removeOne, updateOne } from "../../shared/data/table.ts";
import { because } from "../../shared/domain/reasons.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

const Ids = z.array(z.looseObject({ id: z.string() }));
let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const idsOf = async (path: string, of: TestAccount = me) => (await of.api.get(path)).as(Ids).map(({ id }) => id);
const sorted = (ids: readonly string[]) => ids.toSorted();

test("instances are filtered by version and edition, alone, together and on a server", async () => {
  const server = await seedServer(me.id);
  const old = await seedInstance(me.id, { erp_version: "17.0", edition: "enterprise", server_id: server.id });
  const same = await seedInstance(me.id, { erp_version: "17.0", edition: "community" });
  expect(sorted(await idsOf("/instances?erp_version=17.0"))).toEqual(sorted([old.id, same.id]));
  expect(await idsOf("/instances?erp_version=17.0&edition=enterprise&status=running")).toEqual([old.id]);
  expect(await idsOf(`/instances?erp_version=17.0&server_id=${server.id}`)).toEqual([old.id]);
  expect(await idsOf("/instances?erp_version=16.0")).toEqual([]);
  const { error } = await me.api.get("/instances?erp_version=newest");
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "erp_version" } });
  const page = await me.api.get("/instances?erp_version=17.0&per_page=1");
  expect(page.meta?.total).toBe(2);
  expect(await idsOf(`/instances?erp_version=17.0&per_page=1&cursor=${page.meta?.next_cursor}`)).toHaveLength(1);
  const elsewhere = await me.api.get(`/instances?edition=community&cursor=${page.meta?.next_cursor}`);
  expect(elsewhere.error).toMatchObject({ details: { field: "cursor" } });
});

test("instances whose last backup is older than a time, or that have none", async () => {
  const one = await account({ seeded: true });
  const [none, backed] = [await one.instance(), await one.instance()];
  const { operation_id } = (await one.api.post(`/instances/${backed.id}/backups`, {})).as(
    z.looseObject({ operation_id: z.string() }),
  );
  await one.until(operation_id);
  const at = (await one.api.get(`/instances/${backed.id}`)).as(
    z.looseObject({ protection: z.looseObject({ last_backup_at: z.string() }) }),
  ).protection.last_backup_at;
  const just = new Date(Date.parse(at) + 1).toISOString();
  const before = (time: string, more = "") => idsOf(`/instances?last_backup_before=${time}${more}`, one);
  expect(await before(at)).toEqual([none.id]);
  expect(sorted(await before(just))).toEqual(sorted([none.id, backed.id]));
  expect(await before(at, `&server_id=${none.server_id}`)).toEqual([none.id]);
  expect(await before(just, "&search=nothing")).toEqual([]);

  // Records from before are found after the migration, which keeps what is newer.
  for (const { pk, sk } of await queryAll(keys.backupTimes(one.id, "").pk)) await removeOne({ pk: String(pk), sk: String(sk) });
  await indexed(one.id);
  expect(await before(at)).toEqual([none.id]);
  const [{ id: backup } = { id: "" }] = (await one.api.get("/backups")).as(Ids);
  await one.until((await one.api.delete(`/backups/${backup}`)).as(z.looseObject({ id: z.string() })).id);
  expect(sorted(await before(at))).toEqual(sorted([none.id, backed.id]));
});

test("instances are filtered by what came of their last drill", async () => {
  const one = await account({ seeded: true });
  const instance = await one.instance();
  const backup = await one.backup(instance.id);
  const drilled = async (hasPassed: boolean) => {
    const { id } = (await one.api.post(`/backups/${backup.id}/drill`, {})).as(z.looseObject({ id: z.string() }));
    await one.until(id);
    const [operation, record] = [await findOperation(one.id, id), await find(backupRef(one.id, backup.id))];
    if (operation === undefined || record === undefined || hasPassed) return;
    // The records are as if a check had failed while the operation ran.
    const set = { state: "running", recorded: false };
    await updateOne(keys.record("operation", one.id, id), { set }, {});
    await updateOne(keys.record("backup", one.id, backup.id), { set: { operation_id: id } }, {});
    const drill = buildDrill([{ name: "restores", passed: false, detail: "broken" }], because("check_not_made"));
    await recordDrill({ ...operation, state: "running", recorded: undefined }, record, drill);
    await updateOne(keys.record("backup", one.id, backup.id), { set: { operation_id: null } }, {});
  };
  expect(await idsOf("/instances?drill=failed", one)).toEqual([]);
  await drilled(false);
  expect(await idsOf("/instances?drill=failed", one)).toEqual([instance.id]);
  expect(await idsOf("/instances?drill=passed", one)).toEqual([]);
  expect(await idsOf("/backups?drill=failed", one)).toEqual([backup.id]);
  await drilled(true);
  expect(await idsOf("/instances?drill=failed", one)).toEqual([]);
  expect(await idsOf("/instances?drill=passed", one)).toEqual([instance.id]);
  expect(await idsOf("/backups?drill=failed", one)).toEqual([]);
  expect(await idsOf("/backups?drill=passed", one)).toEqual([backup.id]);
});

/** Removes what lists are filtered by, as an earlier version left it out; then completes it as the migration does. */
async function fromBefore(one: TestAccount, kind: "server" | "backup"): Promise<void> {
  for (const partition of [keys.labels(kind, one.id), keys.entries(kind, one.id)])
    for (const { pk, sk } of await queryAll(partition)) await removeOne({ pk: String(pk), sk: String(sk) });
  await indexed(one.id);
}

test("servers are filtered by provider, region and size, alone and together, also those from before", async () => {
  const one = await account({ seeded: true });
  const small = await seedServer(one.id, { region: "eu-north", size: "small" });
  const large = await seedServer(one.id, { region: "eu-north", size: "large" });
  const other = await seedServer(one.id, { region: "eu-central", size: "small", labels: { env: "test" } });
  for (const look of [async () => undefined, () => fromBefore(one, "server")]) {
    await look();
    expect(sorted(await idsOf("/servers?region=eu-north", one))).toEqual(sorted([small.id, large.id]));
    expect(sorted(await idsOf("/servers?size=small", one))).toEqual(sorted([small.id, other.id]));
    expect(await idsOf("/servers?region=eu-north&size=large&status=active", one)).toEqual([large.id]);
    expect(await idsOf("/servers?size=small&label=env:test", one)).toEqual([other.id]);
    expect(await idsOf("/servers?provider=sandbox&region=us-east", one)).toEqual([]);
    expect(await idsOf("/servers?provider=sandbox", one)).toHaveLength(3);
  }
});

test("backups are filtered by kind and by what their drill found, of all and of an instance, also those from before", async () => {
  const one = await account({ seeded: true });
  const shop = await seedInstance(one.id);
  const drill = { at: new Date().toISOString(), checks: [] };
  const failed = await seedBackup(shop, { drill: { ...drill, status: "failed" } });
  const nightly = await seedBackup(shop, { kind: "scheduled", drill: { ...drill, status: "passed" } });
  const broken = await seedBackup(shop, { kind: "scheduled", state: "failed" });
  for (const look of [async () => undefined, () => fromBefore(one, "backup")]) {
    await look();
    for (const path of ["/backups?", `/instances/${shop.id}/backups?`, `/backups?instance_id=${shop.id}&`]) {
      expect(sorted(await idsOf(`${path}kind=scheduled`, one)), path).toEqual(sorted([nightly.id, broken.id]));
      expect(await idsOf(`${path}kind=scheduled&status=failed`, one), path).toEqual([broken.id]);
      expect(await idsOf(`${path}drill=failed`, one), path).toEqual([failed.id]);
      expect(await idsOf(`${path}drill=passed&kind=manual`, one), path).toEqual([]);
    }
  }
});

test("servers are filtered by how many instances they have, which changes with each", async () => {
  const one = await account({ seeded: true });
  const [empty, used] = [await seedServer(one.id), await one.server()];
  const first = await one.instance({ server_id: used.id });
  await one.instance({ server_id: used.id });
  const below = (count: number, more = "") => idsOf(`/servers?instance_count_below=${count}${more}`, one);
  expect([await below(1), await below(2), sorted(await below(3))]).toEqual([[empty.id], [empty.id], sorted([empty.id, used.id])]);
  expect(await below(3, "&status=active&sort=name&per_page=1&page=2")).toHaveLength(1);
  expect(await below(3, "&region=nowhere")).toEqual([]);
  await one.until((await one.api.delete(`/instances/${first.id}`)).as(z.looseObject({ id: z.string() })).id);
  expect(sorted(await below(2))).toEqual(sorted([empty.id, used.id]));
});

test("backups are filtered by size and lock, of all and of an instance, also those from before", async () => {
  const one = await account({ seeded: true });
  const { id: instance } = await one.instance();
  const small = await one.backup(instance);
  const Made = z.looseObject({ id: z.string(), operation_id: z.string() });
  const large = (await one.api.post(`/instances/${instance}/backups`, {})).as(Made);
  await one.until(large.operation_id);
  const record = await find(backupRef(one.id, large.id));
  const lock = async (id: string, locked: boolean) => one.api.put(`/backups/${id}`, { locked });
  await lock(small.id, true);
  await lock(large.id, true);
  await lock(large.id, false);
  const size = Number(record?.size_bytes);
  expect(size).toBeGreaterThan(0);
  for (const look of [async () => undefined, () => fromBefore(one, "backup")]) {
    await look();
    for (const path of ["/backups?", `/instances/${instance}/backups?`, `/backups?instance_id=${instance}&`]) {
      expect(await idsOf(`${path}locked=true`, one), path).toEqual([small.id]);
      expect(await idsOf(`${path}locked=false`, one), path).toEqual([large.id]);
      expect(await idsOf(`${path}locked=true&kind=scheduled`, one), path).toEqual([]);
      expect(await idsOf(`${path}size_bytes_above=${size}&locked=false`, one), path).toEqual([]);
      expect(await idsOf(`${path}size_bytes_above=${size - 1}&locked=false`, one), path).toEqual([large.id]);
    }
  }
  // A version that does not know of the filter unlocks, and the next upgrade corrects what the lock had left.
  await updateOne(keys.record("backup", one.id, small.id), { set: { locked: false } }, {});
  await indexed(one.id);
  expect(await idsOf("/backups?locked=true", one)).toEqual([]);
  expect(await idsOf("/backups?locked=false", one)).toHaveLength(2);
});

test("instances are filtered by whether there is a newer image, also on a server, and those of which that is unknown are neither", async () => {
  const { id: server_id } = await seedServer(me.id);
  const old = await seedInstance(me.id, { server_id, update_available: true });
  const newest = await seedInstance(me.id, { server_id, update_available: false });
  await seedInstance(me.id, { server_id });
  expect(await idsOf("/instances?update_available=true")).toEqual([old.id]);
  expect(await idsOf("/instances?update_available=false")).toEqual([newest.id]);
  expect(await idsOf(`/instances?update_available=true&server_id=${server_id}&erp_version=19.0`)).toEqual([old.id]);
  expect((await me.api.get("/instances?update_available=maybe")).error).toMatchObject({ details: { field: "update_available" } });
});

test("a search finds an instance by its administrator's email, however that is written, until it changes", async () => {
  const instance = await seedInstance(me.id, { admin_email: "Anna.Smith@xn--mller-kva.example.com" });
  const search = async (text: string) => [
    await idsOf(`/instances?search=${encodeURIComponent(text)}`),
    await idsOf(`/search?q=${encodeURIComponent(text)}`),
  ];
  for (const text of ["Anna.Smith@xn--mller-kva.example.com", "anna.smith@müller.example.com", " ANNA.SMITH@MÜLLER.example.com "])
    expect(await search(text), text).toEqual([[instance.id], [instance.id]]);
  expect(await idsOf(`/instances?search=anna.smith%40m%C3%BCller.example.com&server_id=${instance.server_id}`)).toEqual([
    instance.id,
  ]);
  await me.api.put(`/instances/${instance.id}`, { admin_email: "other@example.org" });
  expect(await search("anna.smith@müller.example.com")).toEqual([[], []]);
  expect(await search("other@example.org")).toEqual([[instance.id], [instance.id]]);
  const { api } = await me.token(["servers:read"]);
  expect((await api.get("/search?q=other@example.org")).as(Ids)).toEqual([]);
});

test("a search finds a server and its instances by an IP address", async () => {
  const server = await me.server();
  const ip = z.looseObject({ ip_address: z.string() }).parse(server).ip_address;
  const otherServer = await seedServer(me.id, { ip_address: "198.51.100.23" });
  const instance = await seedInstance(me.id, { server_id: otherServer.id, server_ip: "198.51.100.23" });
  expect(await idsOf(`/servers?search=${ip}`)).toContain(server.id);
  expect(await idsOf("/servers?search=198.51.100.23")).toEqual([otherServer.id]);
  expect(sorted(await idsOf("/search?q=198.51.100.23"))).toEqual(sorted([otherServer.id, instance.id]));
  expect(sorted(await idsOf("/search?q=::ffff:198.51.100.23"))).toEqual(sorted([otherServer.id, instance.id]));
});

test("a part of an IP address finds the servers that have it, and nothing that is on them", async () => {
  const one = await account({ seeded: true });
  const [first, second] = [
    await seedServer(one.id, { ip_address: "203.0.113.10" }),
    await seedServer(one.id, { ip_address: "203.0.114.10" }),
  ];
  const sixth = await seedServer(one.id, { ip_address: "2001:db8:0:0::A7" });
  await seedServer(one.id, { ip_address: null });
  await seedInstance(one.id, { server_id: first.id, server_ip: first.ip_address });
  for (const list of ["/search?q=", "/servers?search="]) {
    const find = async (part: string) => sorted(await idsOf(`${list}${encodeURIComponent(part)}`, one));
    expect(await find("203.0.113")).toEqual([first.id]);
    expect(await find(" 113.10 ")).toEqual([first.id]);
    expect(await find("203.0.")).toEqual(sorted([first.id, second.id]));
    expect(await find(":DB8:")).toEqual([sixth.id]);
    expect(await find("203.0.113.1")).toEqual([]); // a whole one, of nobody
    expect(await find(".1.1")).toEqual([]);
  }
  const { api } = await one.token(["instances:read"]);
  expect((await api.get("/search?q=203.0.113")).as(Ids)).toEqual([]);
});

test("operations are filtered by type, actor, server, status and time, in all and of a resource", async () => {
  const one = await account({ seeded: true });
  const instance = await one.instance();
  const { api, id: other } = await one.token();
  const Started = z.looseObject({ id: z.string() });
  const restart = (await api.post(`/instances/${instance.id}/actions`, { action: "restart" })).as(Started).id;
  await one.until(restart);
  const stop = (await one.api.post(`/instances/${instance.id}/actions`, { action: "stop" })).as(Started).id;
  await one.until(stop);
  const list = (query: string) => idsOf(`/operations?${query}`, one);
  expect(await list("type=instance.restart")).toEqual([restart]);
  expect(await list(`actor=${other}`)).toEqual([restart]);
  expect(await list(`actor=${one.tokenId}&type=instance.stop&status=succeeded`)).toEqual([stop]);
  expect(await list(`actor=${one.tokenId}&type=instance.restart`)).toEqual([]);
  expect(await list("type=instance.stop&status=failed")).toEqual([]);
  expect(await list(`type=instance.stop&resource_id=${instance.id}`)).toEqual([stop]);
  expect(await list(`actor=${other}&resource_id=${instance.id}`)).toEqual([restart]);
  expect(await list("type=instance.stop&created_after=2020-01-01&created_before=2021-01-01")).toEqual([]);
  expect(await list("type=instance.stop&created_after=2020-01-01")).toEqual([stop]);
  expect((await one.api.get("/operations?type=instance.explode")).error?.details).toMatchObject({ field: "type" });

  const elsewhere = await one.instance({ server_id: (await one.server()).id });
  const Begun = z.looseObject({ operation_id: z.string() });
  const madeHere = (await one.api.post(`/instances/${instance.id}/backups`, {})).as(Begun).operation_id;
  const madeThere = (await one.api.post(`/instances/${elsewhere.id}/backups`, {})).as(Begun).operation_id;
  for (const each of [madeHere, madeThere]) await one.until(each);
  const of = (server_id: string | null) => `server_id=${server_id}`;
  const madeOn = await list(of(instance.server_id));
  expect(sorted(madeOn)).toEqual(sorted([restart, stop, madeHere]));
  expect(await list(`${of(instance.server_id)}&type=backup.create`)).toEqual([madeHere]);
  expect(await list(`${of(elsewhere.server_id)}&type=backup.create`)).toEqual([madeThere]);
  expect(await list(`${of(elsewhere.server_id)}&type=instance.stop`)).toEqual([]);
  expect(await list(`${of(instance.server_id)}&resource_id=${instance.id}&type=instance.stop`)).toEqual([stop]);
  expect(await list(`${of(elsewhere.server_id)}&resource_id=${instance.id}`)).toEqual([]);
  const empty = await one.server();
  const deletion = (await one.api.delete(`/servers/${empty.id}`)).as(Started).id;
  await one.until(deletion);
  expect(await list(of(empty.id))).toEqual([deletion]);
  expect(await list(of(unusedId("server")))).toEqual([]);

  for (const { pk, sk } of await queryAll(keys.entries("operation", one.id))) await removeOne({ pk: String(pk), sk: String(sk) });
  expect(await list("type=instance.stop")).toEqual([]);
  await indexed(one.id);
  await indexed(one.id);
  expect(await list("type=instance.stop&status=succeeded")).toEqual([stop]);
  expect(await list(of(instance.server_id))).toEqual(madeOn);
  const change = startChange({ id: one.id });
  const record = await findOperation(one.id, stop);
  if (record !== undefined) change.removeListed({ kind: "operation", record, status: record.state }, {});
  await change.commit();
  expect(await list("type=instance.stop")).toEqual([]);
});
