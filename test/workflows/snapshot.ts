// Everything of an account, in the table, on the sandbox's machines and in the store, and what must be true of it at rest.
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { expect } from "vitest";
import { getAccount } from "../../shared/records/accounts.ts";
import { countItems, findBulk } from "../../shared/records/bulk.ts";
import { alertTotal } from "../../shared/data/counters.ts";
import { buildEntry, searchFieldsOf, labelsAndTagsOf } from "../../shared/data/entries.ts";
import { buildMembers, memberString, readMembers } from "../../shared/data/label-index.ts";
import { actorFilter, keys, type ListKind, protectionFilter, type Item } from "../../shared/data/keys.ts";
import { AlertRecord } from "../../shared/records/schemas/alert.ts";
import { BackupRecord } from "../../shared/records/schemas/backup.ts";
import { EventRecord } from "../../shared/records/schemas/event.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { ServerRecord } from "../../shared/records/schemas/server.ts";
import { findErp, listMachines } from "../../shared/providers/sandbox/machines.ts";
import { readCounts } from "../../shared/data/shards.ts";
import { queryAll, readAll } from "../../shared/data/table.ts";
import { ALERT } from "../../shared/domain/alerts.ts";
import { isOpen, RESOURCE_TYPES, SERVER_PHASES } from "../../shared/domain/lifecycle.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import type { TestCloud } from "../harness/facts.ts";

const all = (pk: string): Promise<Item[]> => queryAll(pk, { consistent: true });
const recordsOf = (kind: ListKind, accountId: string) => all(keys.record(kind, accountId, "").pk);

export async function snapshotOf(cloud: TestCloud, accountId: string) {
  const [
    servers,
    instances,
    backups,
    operations,
    events,
    outcomes,
    alerts,
    uploads,
    unique,
    sealed,
    drills,
    open,
    expiring,
    watched,
    machines,
    archives,
    account,
    [overview],
    entries,
  ] = await Promise.all([
    recordsOf("server", accountId).then((items) => items.map((item) => ServerRecord.parse(item))),
    recordsOf("instance", accountId).then((items) => items.map((item) => InstanceRecord.parse(item))),
    recordsOf("backup", accountId).then((items) => items.map((item) => BackupRecord.parse(item))),
    recordsOf("operation", accountId).then((items) => items.map((item) => OperationRecord.parse(item))),
    recordsOf("event", accountId).then((items) => items.map((item) => EventRecord.parse(item))),
    recordsOf("outcome", accountId).then((items) => items.map((item) => EventRecord.parse(item))),
    recordsOf("alert", accountId).then((items) => items.map((item) => AlertRecord.parse(item))),
    all(keys.upload(accountId, "").pk),
    all(keys.domain(accountId, "").pk),
    all(keys.sealed(accountId, "").pk),
    all(keys.drill(accountId, "").pk),
    all(keys.open()).then((items) => items.filter((item) => item["account_id"] === accountId)),
    all(keys.expiring()).then((items) => items.filter((item) => item["account_id"] === accountId)),
    all(keys.watched()).then((items) => items.filter((item) => item["account_id"] === accountId)),
    listMachines().then((machines) => machines.filter((machine) => machine.account_id === accountId)),
    archivesOf(cloud, accountId),
    getAccount(accountId),
    readAll([keys.overview(accountId)]).then((items) => [...items.values()]),
    Promise.all(
      RESOURCE_TYPES.map(async (kind) => ({
        kind,
        items: await all(keys.entries(kind, accountId)),
        labels: await readMembers(kind, accountId),
      })),
    ),
  ]);
  const erps = await Promise.all(
    machines.map(async ({ machine_id }) => {
      const items = await all(keys.sandboxErp(machine_id, "").pk);
      return Promise.all(
        items.map(async ({ sk }) => ({ machine_id, instance_id: String(sk), erp: await findErp(machine_id, String(sk)) })),
      );
    }),
  );
  const counts = await Promise.all(
    (["server", "instance", "backup", "operation", "event", "outcome", "alert"] as const).map(async (kind) => ({
      kind,
      items: await all(keys.counts(kind, accountId)),
    })),
  );
  return {
    account,
    servers,
    instances,
    backups,
    operations,
    events,
    outcomes,
    alerts,
    uploads,
    unique,
    sealed,
    drills,
    open,
    expiring,
    watched,
    machines,
    archives,
    erps: erps.flat(),
    counts,
    overview,
    entries,
    bulks: await bulksOf(accountId, operations),
  };
}
export type Snapshot = Awaited<ReturnType<typeof snapshotOf>>;

/** How many bulk actions count as in progress, and how far each is with its resources. */
async function bulksOf(accountId: string, operations: readonly OperationRecord[]) {
  const [items, counters] = await Promise.all([
    Promise.all(
      operations
        .filter(({ type }) => type === "bulk.run")
        .map(async ({ id }) => ({ id, items: (await findBulk(accountId, id, { consistent: true }))?.items ?? [] })),
    ),
    readAll([keys.bulkActions(accountId)]),
  ]);
  return { items, counted: [...counters.values()].reduce((sum, { count }) => sum + Number(count), 0) };
}

/** One client for all snapshots of a cloud: to make one and warm it costs more than what it is asked. */
const stores = new WeakMap<TestCloud, S3Client>();

function storeOf(cloud: TestCloud): S3Client {
  const { accessKeyId, secretAccessKey } = cloud.operator;
  const s3 =
    stores.get(cloud) ??
    new S3Client({
      endpoint: cloud.awsUrl,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
  stores.set(cloud, s3);
  return s3;
}

async function archivesOf(cloud: TestCloud, accountId: string): Promise<string[]> {
  const pages = await Promise.all(
    cloud.template.buckets.map(({ name }) =>
      storeOf(cloud).send(new ListObjectsV2Command({ Bucket: name, Prefix: `accounts/${accountId}/` })),
    ),
  );
  return pages.flatMap(({ Contents = [] }) => Contents.flatMap(({ Key = [] }) => Key)).toSorted();
}

/** Nothing waits, nothing is locked, no secret is left: this must hold however the operations ended. */
export function expectFree({ servers, instances, backups, operations, sealed, drills, open, bulks }: Snapshot): void {
  const heldRecords = [...servers, ...instances, ...backups].filter(({ operation_id }) => operation_id !== null);
  expect(heldRecords, "held").toEqual([]);
  expect(
    backups.filter(({ used_by }) => used_by !== undefined && used_by.size > 0),
    "in use",
  ).toEqual([]);
  expect(
    operations.filter(({ state }) => state === "pending" || state === "running"),
    "not ended",
  ).toEqual([]);
  expect(open, "markers of open operations").toEqual([]);
  expect(sealed, "sealed secrets").toEqual([]);
  expect(drills, "places of drills").toEqual([]);
  expect(bulks.counted, "bulk actions in progress").toBe(0);
}

/** What the table says is what exists, item for item: nothing is missing, and no failure has left anything. */
export function expectConsistent(snapshot: Snapshot): void {
  expectFree(snapshot);
  expectMarkers(snapshot);
  expectCounts(snapshot);
  expectOutcomes(snapshot);
  expectEntries(snapshot);
  expectBulks(snapshot);
  const { servers, instances, backups, machines, erps, archives } = snapshot;
  expect(sorted(machines.map(({ machine_id }) => machine_id)), "machines").toEqual(
    sorted(servers.flatMap(({ machine_id }) => machine_id ?? [])),
  );
  expect(
    servers.filter(({ state, machine_id }) => (machine_id === null) !== (state === "create_failed")),
    "machines of servers",
  ).toEqual([]);
  // One that turned out to be corrupt keeps its archive until a user deletes it; one whose import failed, for another try.
  const keptKeys = backups
    .filter(({ state, completed_at, upload }) => state === "failed" && (completed_at !== null || upload !== undefined))
    .map(archiveKey);
  expect(sorted(archives.filter((key) => !keptKeys.includes(key))), "archives").toEqual(
    sorted(backups.filter(({ state }) => state === "completed").map((backup) => archiveKey(backup))),
  );
  for (const { machine_id, instance_id, erp } of erps) {
    const instance = instances.find(({ id }) => id === instance_id);
    const server = servers.find((each) => each.machine_id === machine_id);
    expect(instance, `the instance of the ERP ${instance_id}`).toBeDefined();
    expect(instance?.server_id, "the ERP's server").toBe(server?.id);
    expect(erp?.replaced, "what a restore has put aside").toBeNull();
    expect([erp?.before_code, erp?.fetched], "what a deploy has put aside, or fetched").toEqual([null, null]);
    expect(erp, "the ERP").toMatchObject({ domain: instance?.domain, database_name: instance?.database_name });
    expect(erp?.database, "the ERP's database").not.toBeNull();
    if (instance?.state !== "failed") expect(erp?.status).toBe(instance?.state);
  }
  const without = instances.filter(({ id, state }) => state !== "failed" && !erps.some(({ instance_id }) => instance_id === id));
  expect(without, "instances without an ERP").toEqual([]);
}

const sorted = (values: readonly string[]): string[] => values.toSorted();

/** Every marker has a record, and every record has its markers. */
export function expectMarkers({ account, servers, instances, backups, uploads, unique, expiring, watched }: Snapshot): void {
  const expected = [
    ...servers.map(({ id, name }) => [keys.serverName(account.id, name).sk, id]),
    ...instances.flatMap(({ id, domain, previous_domains, server_id, database_name }) => [
      ...previous_domains.map((each) => [keys.redirect(account.id, each.domain).sk, id]),
      [keys.domain(account.id, domain).sk, id],
      [keys.databaseName(account.id, server_id, database_name).sk, id],
    ]),
  ];
  const markers = unique.filter(({ sk }) => !String(sk).startsWith("token_name#"));
  expect(sorted(markers.map(({ sk, owner_id }) => `${String(sk)} ${String(owner_id)}`)), "markers").toEqual(
    sorted(expected.map(([sk, id]) => `${sk} ${id}`)),
  );
  expect(sorted(expiring.map(({ backup_id }) => String(backup_id))), "expiring").toEqual(
    sorted(backups.filter(({ expires_at }) => expires_at !== null).map(({ id }) => id)),
  );
  expect(sorted(watched.map(({ server_id }) => String(server_id))), "watched").toEqual(sorted(servers.map(({ id }) => id)));
  for (const server of servers)
    expect(server.instances, `instances of ${server.id}`).toBe(
      instances.filter(({ server_id }) => server_id === server.id).length,
    );
  expect([account.used_server, account.used_instance], "used of the quotas").toEqual([servers.length, instances.length]);
  expectCountedBackups({ account, backups, uploads });
}

/** The quotas of backups count each backup and upload, and the bytes that are stored for it. Seeded ones count nothing. */
export function expectCountedBackups({ account, backups, uploads }: Pick<Snapshot, "account" | "backups" | "uploads">): void {
  const counted = backups.filter(({ counted_bytes }) => counted_bytes !== undefined);
  for (const { id, counted_bytes, size_bytes, upload, operation_id } of counted)
    if (operation_id === null) expect(counted_bytes, `bytes counted for ${id}`).toBe(size_bytes ?? upload?.size_bytes ?? 0);
  const bytes = [
    ...counted.map(({ counted_bytes = 0 }) => counted_bytes),
    ...uploads.filter(({ counted }) => counted === true).map(({ size_bytes }) => Number(size_bytes)),
  ];
  expect([account.used_backup, account.used_backup_bytes], "used of the quotas of backups").toEqual([
    counted.length,
    bytes.reduce((sum, each) => sum + each, 0),
  ]);
}

/** Every operation that has ended says so in one event, and no other one does. */
function expectOutcomes({ operations, outcomes }: Snapshot): void {
  const ended = operations.filter(({ state }) => !isOpen(state)).map(({ id, type, state }) => `${id} ${type}.${state}`);
  const operationOutcomes = outcomes.filter(({ operation_id }) => operation_id !== null);
  expect(
    operationOutcomes.map(({ operation_id, type }) => `${operation_id} ${type}`).toSorted(),
    "outcomes of operations",
  ).toEqual(ended.toSorted());
}

/** The counts that give lists and the overview their totals. */
export function expectCounts({
  counts,
  overview,
  servers,
  instances,
  backups,
  operations,
  events,
  outcomes,
  alerts,
}: Snapshot): void {
  const filters: Record<ListKind, string[]> = {
    server: servers.map(({ state }) => SERVER_PHASES[state]),
    instance: instances.flatMap(({ state, protection_status }) => [state, protectionFilter(protection_status)]),
    backup: backups.map(({ state }) => state),
    operation: operations.map(({ state }) => state),
    event: events.flatMap(({ type, actor }) => [type, actorFilter(actor.id)]),
    outcome: outcomes.flatMap(({ type, actor }) => [type, actorFilter(actor.id)]),
    alert: alerts.flatMap(({ state, kind }) => [state, actorFilter(kind)]),
  };
  const records: Record<ListKind, number> = {
    server: servers.length,
    instance: instances.length,
    backup: backups.length,
    operation: operations.length,
    event: events.length,
    outcome: outcomes.length,
    alert: alerts.length,
  };
  for (const { kind, items } of counts) {
    const numbers = new Map<string, number>();
    for (const item of items) {
      const filter = keys.filterOfCounts(String(item["sk"]));
      if (filter === undefined) continue; // when blocks begin
      const sum = Object.values(readCounts(item)).reduce((total, count) => total + count, 0);
      numbers.set(filter, (numbers.get(filter) ?? 0) + sum);
    }
    const real = tally(filters[kind]);
    if (records[kind] > 0) real.set("all", records[kind]);
    expect(withoutZeros(numbers), `totals of ${kind}s`).toEqual(Object.fromEntries(real));
  }
  const { pk: _pk, sk: _sk, ...numbers } = overview ?? {};
  const overviewCounts = Object.entries(numbers).filter(([name]) => !/^(revision|low_disk)/.test(name));
  const open = operations.flatMap(({ state }) => (isOpen(state) ? [`operation#${state}`] : []));
  const present = RESOURCE_TYPES.flatMap((kind) => filters[kind].map((filter) => `${kind}#${filter}`));
  const openAlerts = alerts.flatMap(({ state, resource }) => (state === ALERT.open ? [alertTotal(resource.type)] : []));
  const updates = instances.flatMap(({ update_available }) => (update_available === true ? ["update_available"] : []));
  const reboots = servers.flatMap(({ needs_reboot }) => (needs_reboot === true ? ["needs_reboot"] : []));
  expect(withoutZeros(overviewCounts), "the overview").toEqual(
    Object.fromEntries(tally([...present, ...open, ...openAlerts, ...updates, ...reboots])),
  );
}

/** A bulk action has begun nothing twice; one that succeeded has dealt with every resource, and shows how many. */
function expectBulks({ operations, bulks }: Snapshot): void {
  for (const { id, items } of bulks.items) {
    const starts = operations.filter(({ request_id }) => request_id === id).map(({ type, resource }) => `${type} ${resource.id}`);
    expect(sorted(starts), "what a bulk action began").toEqual(sorted([...new Set(starts)]));
    const { state, result } = operations.find((each) => each.id === id) ?? {};
    if (state !== "succeeded") continue;
    expect(countItems(items), "the resources of a bulk action").toMatchObject({ waiting: 0, running: 0 });
    expect(result?.bulk, "what a bulk action shows").toMatchObject(countItems(items));
  }
}

function tally(values: readonly string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const value of values) numbers.set(value, (numbers.get(value) ?? 0) + 1);
  return numbers;
}

const withoutZeros = (numbers: Iterable<readonly [string, unknown]>): Record<string, number> =>
  Object.fromEntries([...numbers].flatMap(([name, number]) => (Number(number) === 0 ? [] : [[name, Number(number)]])));

/** What records are searched and filtered by is what they are. */
export function expectEntries({ entries, servers, instances, backups }: Snapshot): void {
  const records = {
    server: servers.map((record) => ({ record, status: SERVER_PHASES[record.state], protection: undefined })),
    instance: instances.map((record) => ({ record, status: record.state, protection: record.protection_status })),
    backup: backups.map((record) => ({ record, status: record.state, protection: undefined })),
  };
  for (const { kind, items, labels } of entries) {
    const members = records[kind].flatMap(({ record }) =>
      buildMembers(kind, record.account_id, { id: record.id, labels: labelsAndTagsOf(kind, record) }),
    );
    expect(labels.map(memberString).toSorted(), `labels of ${kind}s`).toEqual(members.map(memberString).toSorted());
    const expected = records[kind].map(({ record, status, protection }): [string, unknown] => {
      const { account_id, id, created_at } = record;
      return [
        keys.entry(kind, account_id, id).sk,
        plain(buildEntry(id, created_at, { ...searchFieldsOf(kind, record), status, protection })),
      ];
    });
    const storedEntries = items.map(({ pk: _pk, sk, ...entry }): [string, unknown] => [String(sk), plain(entry)]);
    expect(Object.fromEntries(storedEntries), `search entries of ${kind}s`).toEqual(Object.fromEntries(expected));
  }
}

/** Binary attributes as text, whatever class they have. */
const plain = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value]),
  );
