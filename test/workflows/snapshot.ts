// Everything of an account, in the table, on the sandbox's machines and in the store, and what must be true of it at rest.
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { expect } from "vitest";
import type { Cloud } from "../../infra/local/cloud.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { keys, type ListKind } from "../../shared/data/keys.ts";
import { protectionFilter } from "../../shared/data/lists.ts";
import { BackupRecord, InstanceRecord, OperationRecord, ServerRecord } from "../../shared/data/records.ts";
import { findErp, listMachines } from "../../shared/data/sandbox.ts";
import { type Item, queryAll } from "../../shared/data/table.ts";
import { SERVER_PHASES } from "../../shared/domain/lifecycle.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";

const all = (pk: string): Promise<Item[]> => queryAll(pk, { consistent: true });
const recordsOf = (kind: ListKind, accountId: string) => all(keys.record(kind, accountId, "").pk);

export async function snapshotOf(cloud: Cloud, accountId: string) {
  const [servers, instances, backups, operations, unique, sealed, drills, open, expiring, watched, machines, archives, account] =
    await Promise.all([
      recordsOf("server", accountId).then((items) => items.map((item) => ServerRecord.parse(item))),
      recordsOf("instance", accountId).then((items) => items.map((item) => InstanceRecord.parse(item))),
      recordsOf("backup", accountId).then((items) => items.map((item) => BackupRecord.parse(item))),
      recordsOf("operation", accountId).then((items) => items.map((item) => OperationRecord.parse(item))),
      all(keys.domain(accountId, "").pk),
      all(keys.sealed(accountId, "").pk),
      all(keys.drill(accountId, "").pk),
      all(keys.open()).then((items) => items.filter((item) => item["account_id"] === accountId)),
      all(keys.expiring()).then((items) => items.filter((item) => item["account_id"] === accountId)),
      all(keys.watched()).then((items) => items.filter((item) => item["account_id"] === accountId)),
      listMachines().then((found) => found.filter((machine) => machine.account_id === accountId)),
      archivesOf(cloud, accountId),
      getAccount(accountId),
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
    (["server", "instance", "backup", "operation"] as const).map(async (kind) => ({
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
  };
}
export type Snapshot = Awaited<ReturnType<typeof snapshotOf>>;

/** One client for all snapshots of a cloud: to make one and warm it costs more than what it is asked. */
const stores = new WeakMap<Cloud, S3Client>();

function storeOf(cloud: Cloud): S3Client {
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

async function archivesOf(cloud: Cloud, accountId: string): Promise<string[]> {
  const pages = await Promise.all(
    cloud.template.buckets.map(({ name }) =>
      storeOf(cloud).send(new ListObjectsV2Command({ Bucket: name, Prefix: `accounts/${accountId}/` })),
    ),
  );
  return pages.flatMap(({ Contents = [] }) => Contents.flatMap(({ Key = [] }) => Key)).toSorted();
}

/** Nothing waits, nothing is locked, no secret is left: this must hold however the operations ended. */
export function expectFree({ servers, instances, backups, operations, sealed, drills, open }: Snapshot): void {
  const held = [...servers, ...instances, ...backups].filter(({ operation_id }) => operation_id !== null);
  expect(held, "held").toEqual([]);
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
}

/** What the table says is what exists, item for item: nothing is missing, and no failure has left anything. */
export function expectConsistent(snapshot: Snapshot): void {
  expectFree(snapshot);
  expectMarkers(snapshot);
  expectCounts(snapshot);
  const { servers, instances, backups, machines, erps, archives } = snapshot;
  expect(sorted(machines.map(({ machine_id }) => machine_id)), "machines").toEqual(
    sorted(servers.flatMap(({ machine_id }) => machine_id ?? [])),
  );
  expect(
    servers.filter(({ state, machine_id }) => (machine_id === null) !== (state === "create_failed")),
    "machines of servers",
  ).toEqual([]);
  expect(sorted(archives), "archives").toEqual(
    sorted(backups.filter(({ state }) => state === "completed").map((backup) => archiveKey(backup))),
  );
  for (const { machine_id, instance_id, erp } of erps) {
    const instance = instances.find(({ id }) => id === instance_id);
    const server = servers.find((each) => each.machine_id === machine_id);
    expect(instance, `the instance of the ERP ${instance_id}`).toBeDefined();
    expect(instance?.server_id, "the ERP's server").toBe(server?.id);
    expect(erp?.replaced, "what a restore has put aside").toBeNull();
    expect(erp, "the ERP").toMatchObject({ domain: instance?.domain, database_name: instance?.database_name });
    expect(erp?.database, "the ERP's database").not.toBeNull();
    if (instance?.state !== "failed") expect(erp?.status).toBe(instance?.state);
  }
  const without = instances.filter(({ id, state }) => state !== "failed" && !erps.some(({ instance_id }) => instance_id === id));
  expect(without, "instances without an ERP").toEqual([]);
}

const sorted = (values: readonly string[]): string[] => values.toSorted();

/** Every marker has a record, and every record has its markers. */
export function expectMarkers({ account, servers, instances, backups, unique, expiring, watched }: Snapshot): void {
  const wanted = [
    ...servers.map(({ id, name }) => [keys.serverName(account.id, name).sk, id]),
    ...instances.flatMap(({ id, domain, server_id, database_name }) => [
      [keys.domain(account.id, domain).sk, id],
      [keys.databaseName(account.id, server_id, database_name).sk, id],
    ]),
  ];
  const own = unique.filter(({ sk }) => !String(sk).startsWith("token_name#"));
  expect(sorted(own.map(({ sk, owner_id }) => `${String(sk)} ${String(owner_id)}`)), "markers").toEqual(
    sorted(wanted.map(([sk, id]) => `${sk} ${id}`)),
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
}

/** The counts that give lists their totals. */
export function expectCounts({ counts, servers, instances, backups, operations }: Snapshot): void {
  const statuses: Record<string, string[]> = {
    server: servers.map(({ state }) => SERVER_PHASES[state]),
    instance: instances.map(({ state }) => state),
    backup: backups.map(({ state }) => state),
    operation: operations.map(({ state }) => state),
  };
  for (const { kind, items } of counts) {
    const numbers = new Map<string, number>();
    for (const { pk: _pk, sk, ...blocks } of items) {
      const filter = String(sk).split("#").slice(0, -1).join("#");
      const sum = Object.values(blocks).reduce<number>((total, count) => total + Number(count), 0);
      numbers.set(filter, (numbers.get(filter) ?? 0) + sum);
    }
    const real = new Map<string, number>();
    for (const status of statuses[kind] ?? [])
      for (const filter of ["all", status]) real.set(filter, (real.get(filter) ?? 0) + 1);
    if (kind === "instance")
      for (const { protection_status } of instances) {
        const filter = protectionFilter(protection_status);
        real.set(filter, (real.get(filter) ?? 0) + 1);
      }
    const counted = [...numbers].filter(([, count]) => count !== 0);
    expect(Object.fromEntries(counted), `totals of ${kind}s`).toEqual(Object.fromEntries(real));
  }
}
