// What dry runs announce, compared with what the requests then do.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { DryRun } from "../shared/api/dry-run.ts";
import { Instance } from "../shared/api/instances.ts";
import { Operation } from "../shared/api/operations.ts";
import { ROOT } from "../infra/built.ts";
import { recordReport } from "../shared/records/host-reports.ts";
import { account, type TestAccount, uniqueDatabase, uniqueDomain } from "./harness/account.ts";
import type { Client } from "./harness/client.ts";
import { seedBackup, seedInstance, seedServer, seedWaiting } from "./harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

/** Has rate limits of its own in each test: together they make more requests a minute than one credential may. */
let api: Client;
beforeEach(async () => {
  ({ api } = await me.token());
});

const Listed = z.looseObject({ id: z.string() }).array();

const FLEETING = new Set(["operation_id", "updated_at", "allowed_actions", "protection", "instance_count"]);

/** The records of the account, without what only says that an operation or a backup is or was there. */
async function records(reader: Client): Promise<Map<string, string>> {
  const lists = await Promise.all(["servers", "instances", "backups"].map((list) => reader.get(`/${list}?per_page=100`)));
  const all = lists.flatMap((response) => response.as(Listed));
  return new Map(
    all.map(
      (record) =>
        [record.id, JSON.stringify(record, (field, value: unknown) => (FLEETING.has(field) ? undefined : value))] as const,
    ),
  );
}

const typeOf = (id: string) => ({ srv: "server", ins: "instance", bak: "backup" })[id.split("_")[0] ?? ""];

/** Does it after its dry run, and compares what has changed with the effects. */
async function expectAnnounced(method: string, path: string, body?: unknown): Promise<DryRun> {
  const { api: ownApi } = await me.token();
  const announced = (await ownApi.send(method, `${path}?dry_run=true`, body)).as(DryRun);
  const before = await records(ownApi);
  const response = await ownApi.send(method, path, body);
  expect(response.error).toBeUndefined();
  const operation =
    response.status === 202 ? response.as(Operation).id : response.as(Instance.pick({ operation_id: true })).operation_id;
  if (operation !== null) await me.until(operation);
  const after = await records(ownApi);
  const created = [...after.keys()].filter((id) => !before.has(id));
  const deleted = [...before.keys()].filter((id) => !after.has(id));
  const changed = [...after].filter(([id, text]) => before.has(id) && before.get(id) !== text).map(([id]) => id);
  const of = (action: string) => announced.effects.filter((effect) => effect.action === action).map(({ resource }) => resource);
  expect(of("create").map(({ type }) => type)).toEqual(created.map(typeOf));
  const deletions = of("delete").filter(({ type }) => type !== "backup_policy");
  expect(deletions.map(({ id }) => id)).toEqual(deleted);
  const touched = announced.effects.filter(({ action }) => !["create", "delete", "read"].includes(action));
  expect(touched.map(({ resource }) => resource.id)).toEqual(expect.arrayContaining(changed));
  for (const { type, id } of [...touched, ...announced.effects].map((effect) =>
    "resource" in effect ? effect.resource : effect,
  ))
    if (id !== null && type !== "backup_policy") expect(typeOf(id)).toBe(type);
  return announced;
}

const dryRun = async (method: string, path: string, body?: unknown): Promise<DryRun> =>
  (await api.send(method, `${path}?dry_run=true`, body)).as(DryRun);

test("a dry run announces exactly what the request creates, changes and deletes", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const to = (path: string) => `/instances/${instance.id}${path}`;
  const body = await me.instanceBody();
  expect((await expectAnnounced("POST", "/instances", body)).effects[0]?.detail).toContain(String(body["domain"]));
  const clone = { name: "Staging", backup_id: backup.id };
  const unnamed = await expectAnnounced("POST", to("/clone"), { ...clone, domain: uniqueDomain() });
  expect(unnamed.effects[0]?.detail).toContain("with a database named after it");
  const named = await dryRun("POST", to("/clone"), { ...clone, domain: uniqueDomain(), database_name: "staging" });
  expect(named.effects[0]?.detail).toContain("with the database staging");
  await expectAnnounced("POST", to("/actions"), { action: "backup" });
  await expectAnnounced("POST", to("/actions"), { action: "stop" });
  await expectAnnounced("POST", to("/actions"), { action: "start" });
  await expectAnnounced("PUT", to(""), { name: "Renamed", domain: uniqueDomain() });
  await expectAnnounced("POST", `/backups/${backup.id}/restore`, { backup_first: true });
  await expectAnnounced("POST", `/backups/${backup.id}/restore`, { backup_first: false, restore_filestore: false });
  await expectAnnounced("POST", `/backups/${backup.id}/drill`, {});
  await expectAnnounced("DELETE", `/backups/${backup.id}`);
  await api.put(to("/backup-policy"), { schedule: "0 2 * * *", keep: { last: 1 }, enabled: false });
  const deletion = await expectAnnounced("DELETE", to(""));
  expect(deletion.effects.map(({ action, resource }) => [action, resource.type])).toEqual([
    ["delete", "instance"],
    ["delete", "backup_policy"],
  ]);
  await expectAnnounced("DELETE", `/servers/${(await me.server()).id}`);
});

test("a dry run announces what a backup policy does, the account's for a new instance too", async () => {
  const other = await account({ seeded: true });
  const detailsOf = async (method: string, path: string, body: unknown) =>
    (await other.api.send(method, `${path}?dry_run=true`, body))
      .as(DryRun)
      .effects.map(({ action, detail }) => `${action}: ${detail}`);
  const instance = await seedInstance(other.id);
  const policy = { schedule: "0 2 * * *", keep: { last: 1 }, drill_every_days: 7 };
  const announced = [
    "update: Backs up the instance by the schedule 0 2 * * * (UTC)",
    "read: Drills the newest completed backup every 7 days",
    "create: Takes a backup as soon as the instance is available",
  ];
  expect(await detailsOf("PUT", `/instances/${instance.id}/backup-policy`, policy)).toEqual(announced);
  await other.api.put("/settings", { default_backup_policy: policy });
  expect((await detailsOf("POST", "/instances", await other.instanceBody())).slice(1)).toEqual(announced);
  const source = await seedInstance(other.id);
  const backup = await seedBackup(source);
  const clone = { name: "Copy", domain: uniqueDomain(), backup_id: backup.id, neutralize: false };
  expect(await detailsOf("POST", `/instances/${source.id}/clone`, clone)).toEqual(expect.arrayContaining(announced));
});

test("a dry run says how much a restore, a clone, a drill and each drill of a policy download, to those who may read the backup", async () => {
  const other = await account({ seeded: true });
  const instance = await seedInstance(other.id);
  const backup = await seedBackup(instance, { size_bytes: 3_210_000_000 });
  const policy = { schedule: "0 2 * * *", keep: { last: 1 }, drill_every_days: 7 };
  const readsOf = async (method: string, path: string, body: unknown, { api }: Pick<TestAccount, "api"> = other) =>
    (await api.send(method, `${path}?dry_run=true`, body)).as(DryRun).effects.filter(({ action }) => action === "read");
  const clone = { name: "Copy", domain: uniqueDomain(), backup_id: backup.id };
  const download = {
    code: "archive_downloaded",
    parameters: { archive_bytes: 3_210_000_000 },
    detail: "Downloads the archive (3.2 GB) to the server, once; the backup cannot be deleted until the operation ends",
  };
  expect(await readsOf("POST", `/backups/${backup.id}/restore`, {})).toMatchObject([download]);
  expect(await readsOf("POST", `/instances/${instance.id}/clone`, clone)).toMatchObject([download]);
  expect(await readsOf("POST", `/backups/${backup.id}/drill`, {})).toMatchObject([download]);
  const drills = (days: string) => ({
    detail: `Drills the newest completed backup every ${days}; each drill downloads its archive to the server, 3.2 GB for the newest one now`,
  });
  const path = `/instances/${instance.id}/backup-policy`;
  expect(await readsOf("PUT", path, policy)).toMatchObject([drills("7 days")]);
  expect(await readsOf("PUT", path, { ...policy, drill_every_days: 1 })).toMatchObject([drills("day")]);
  const writer = await other.token(["backups:write", "backups:restore", "instances:write"]);
  const unread = await readsOf("POST", `/backups/${backup.id}/restore`, {}, writer);
  expect(unread).toMatchObject([{ code: "archive_read", parameters: {} }]);
});

test("a dry run of a clone says whether the copy is neutralized, and its users reset", async () => {
  const other = await account({ seeded: true });
  const instance = await seedInstance(other.id);
  const { id: backup_id } = await seedBackup(instance);
  const path = `/instances/${instance.id}/clone?dry_run=true`;
  const updates = async (body: object) =>
    (await other.api.post(path, { name: "Copy", domain: uniqueDomain(), backup_id, ...body }))
      .as(DryRun)
      .effects.filter(({ action }) => action === "update")
      .map(({ detail }) => detail.split(" ")[0]);
  expect(await updates({})).toEqual(["Neutralizes", "Resets"]);
  expect(await updates({ reset_users: false })).toEqual(["Neutralizes"]);
  expect(await updates({ neutralize: false })).toEqual([]);
  expect(await updates({ restore_database: false })).toEqual([]);
});

test("each sentence of a dry run comes with its code and parameters", async () => {
  const instance = await seedInstance(me.id, { name: "Before", domain: uniqueDomain() });
  const domain = uniqueDomain();
  const { effects, warnings, warning_reasons } = (
    await api.put(`/instances/${instance.id}?dry_run=true`, { name: "After", domain })
  ).as(DryRun);
  expect(effects.map(({ code, parameters, detail }) => ({ code, parameters, detail }))).toEqual([
    { code: "name_changed", parameters: { before: "Before", after: "After" }, detail: "Changes name from Before to After" },
    {
      code: "domain_changed",
      parameters: { before: instance.domain, after: domain },
      detail: `Changes domain from ${instance.domain} to ${domain}`,
    },
  ]);
  expect(warning_reasons).toEqual([
    { code: "domain_redirects", parameters: { before: instance.domain, after: domain, days: 90 } },
  ]);
  expect(warnings).toEqual([expect.stringContaining(`${instance.domain} redirects to ${domain} for 90 days`)]);
});

test("a dry run of an update names the labels", async () => {
  const { id } = await seedInstance(me.id, { labels: { env: "production" } });
  const detailOf = async (body: unknown) => (await api.put(`/instances/${id}?dry_run=true`, body)).as(DryRun).effects[0]?.detail;
  expect(await detailOf({ labels: { env: "production" } })).toBe("Changes nothing");
  expect(await detailOf({ labels: { env: "staging" } })).toBe("Changes its labels");
});

test("the downtime is estimated from what the instance did before, and unknown without it", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  const restart = () => dryRun("POST", `/instances/${instance.id}/actions`, { action: "restart" });
  const restore = (body: object) => dryRun("POST", `/backups/${backup.id}/restore`, body);
  expect(await restart()).toMatchObject({ downtime_seconds: null, disk_bytes: 0 });
  expect(await restore({})).toMatchObject({ downtime_seconds: null });
  await me.until((await api.post(`/instances/${instance.id}/actions`, { action: "restart" })).as(Operation).id);
  const { result } = await me.until((await api.post(`/backups/${backup.id}/restore`, {})).as(Operation).id);
  expect((await restart()).downtime_seconds).toBeGreaterThanOrEqual(0);
  expect((await restore({})).downtime_seconds).toBeGreaterThanOrEqual(result?.downtime_seconds ?? Infinity);
  expect(await restore({ backup_first: false })).toMatchObject({ downtime_seconds: null });
  await me.until((await api.post(`/instances/${instance.id}/actions`, { action: "stop" })).as(Operation).id);
  expect(await restore({})).toMatchObject({ downtime_seconds: 0 });
});

test("a dry run warns before data is lost for good", async () => {
  const server = await seedServer(me.id, { state: "unreachable" });
  const unsaved = await seedInstance(me.id, { server_id: server.id, database_name: uniqueDatabase() });
  const deletion = await dryRun("DELETE", `/instances/${unsaved.id}`);
  expect(deletion).toMatchObject({ downtime_seconds: null, warnings: [expect.stringContaining("no completed backup")] });
  expect(deletion.effects[0]?.detail).toContain("the server is not active");
  const instance = await seedInstance(me.id);
  const backup = await seedBackup(instance);
  expect(await dryRun("DELETE", `/instances/${instance.id}`)).toMatchObject({ warnings: [] });
  expect(await dryRun("DELETE", `/backups/${backup.id}`)).toMatchObject({
    warnings: [expect.stringContaining("last completed")],
  });
  expect(await dryRun("POST", `/backups/${backup.id}/restore`, { backup_first: false })).toMatchObject({
    warnings: [expect.stringContaining("current data cannot be recovered")],
  });
  const filesOnly = { backup_first: false, restore_database: false };
  expect(await dryRun("POST", `/backups/${backup.id}/restore`, filesOnly)).toMatchObject({
    warnings: [expect.stringContaining("replaced files cannot be recovered")],
  });
  const clone = { name: "Twin", domain: uniqueDomain(), backup_id: backup.id, neutralize: false };
  expect(await dryRun("POST", `/instances/${instance.id}/clone`, clone)).toMatchObject({
    disk_bytes: null,
    warnings: [expect.stringContaining("not neutralized")],
  });
});

test("a dry run warns before the last completed backup is deleted, however many failed ones are newer", async () => {
  const instance = await seedInstance(me.id);
  const { id } = await seedBackup(instance);
  for (let i = 0; i < 101; i++) await seedBackup(instance, { state: "failed", size_bytes: null, completed_at: null });
  const warningsOf = async (path: string) => (await api.delete(`${path}?dry_run=true`)).as(DryRun).warnings;
  expect(await warningsOf(`/backups/${id}`)).toEqual([expect.stringContaining("last completed")]);
  expect(await warningsOf(`/instances/${instance.id}`)).toEqual([]);
  const newer = await seedBackup(instance);
  for (const each of [id, newer.id]) expect(await warningsOf(`/backups/${each}`)).toEqual([]);
});

test("a dry run warns of a disk that is low as its server last reported, and of work that would make it so", async () => {
  const server = await seedServer(me.id, { specs: { cpu: 2, memory_gb: 4, disk_gb: 40 } });
  const instance = await seedInstance(me.id, { server_id: server.id });
  const backup = await seedBackup(instance, { size_bytes: 9_000_000_000 });
  const body = await me.instanceBody({ server_id: server.id });
  const warningsOf = async (path: string, request: unknown) => (await dryRun("POST", path, request)).warnings;
  const all = async () => [
    await warningsOf("/instances", body),
    await warningsOf(`/instances/${instance.id}/clone`, { name: "Twin", domain: uniqueDomain(), backup_id: backup.id }),
    await warningsOf(`/instances/${instance.id}/actions`, { action: "backup" }),
    await warningsOf(`/backups/${backup.id}/restore`, {}),
  ];
  const report = (disk_free_bytes: number) =>
    recordReport(server, { disk_free_bytes, memory_free_bytes: 1, certificates: undefined });
  expect(await all()).toEqual([[], [], [], []]);
  await report(15_000_000_000);
  expect(await all()).toEqual([[], [], [], []]);
  await report(14_900_000_000);
  const tooBig = [
    expect.stringMatching(`^Low disk space: this needs at least 9.0 GB, and server ${server.name} reported 14.9 GB free at 2`),
  ];
  expect(await all()).toEqual([[], tooBig, tooBig, tooBig]);
  await report(5_900_000_000);
  const low = [expect.stringMatching(`^Low disk space: server ${server.name} reported 5.9 GB free at 2`)];
  expect(await all()).toEqual([low, low, low, low]);
});

test("a dry run warns of an instance that a server has too little memory for, as its machine shares it", async () => {
  const script = (name: string) => readFileSync(join(ROOT, `shared/hosts/script/${name}.sh`), "utf8");
  const least = Number(/mb=\$\(\(mb > (\d+) \? mb : \1\)\)/.exec(script("install"))?.[1]);
  const buffer = Number(/^BUFFER_MB=(\d+)/m.exec(script("buffer"))?.[1]);
  const specs = { cpu: 2, memory_gb: 4, disk_gb: 40 };
  const server = await seedServer(me.id, { specs });
  const fitting = Math.floor(((specs.memory_gb * 1024 * 15) / 16 - 384) / (least + buffer));
  const warnings = async () =>
    (await dryRun("POST", "/instances", await me.instanceBody({ server_id: server.id }))).warning_reasons;
  for (let count = 0; count < fitting; count++) {
    expect(await warnings(), `with ${count}`).toEqual([]);
    await seedInstance(me.id, { server_id: server.id });
  }
  const parameters = { server_name: server.name, instance_count: fitting + 1, needed_mb: least + buffer, memory_gb: 4 };
  expect(await warnings()).toEqual([{ code: "memory_low", parameters }]);
});

test("a dry run of a deletion names the scheduled backup that waits, and a policy that is turned off does", async () => {
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const instance = await seedInstance(me.id, { last_backup_at: at, last_backup_begun_at: at });
  const path = `/instances/${instance.id}`;
  const policy = { schedule: "0 3 * * *", keep: { last: 1 } };
  await api.put(`${path}/backup-policy`, policy);
  const waiting = await seedWaiting(instance);
  const effect = {
    action: "delete",
    resource: { type: "backup", id: waiting },
    code: "waiting_backup_deleted",
    parameters: {},
    detail: "Removes the scheduled backup that waits for its turn",
  };
  expect((await dryRun("DELETE", path)).effects).toContainEqual(effect);
  expect((await dryRun("PUT", `${path}/backup-policy`, { ...policy, enabled: false })).effects).toContainEqual(effect);
  expect((await dryRun("PUT", `${path}/backup-policy`, policy)).effects).not.toContainEqual(effect);
  const { api: blind } = await me.token(["instances:write", "backups:write"]);
  for (const [method, of, body] of [
    ["DELETE", path, undefined],
    ["PUT", `${path}/backup-policy`, { ...policy, enabled: false }],
  ] as const)
    expect((await blind.send(method, `${of}?dry_run=true`, body)).text).not.toContain(waiting);
});
