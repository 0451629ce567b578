// Writes as many records at once as a large account has, past the API, with their counts and what searches find.
import { randomBytes } from "node:crypto";
import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";
import { buildEntry, searchFieldsOf, labelsAndTagsOf } from "../../shared/data/entries.ts";
import { type Key, keys, keyString, placement } from "../../shared/data/keys.ts";
import { buildMembers } from "../../shared/data/label-index.ts";
import { buildBackupTime } from "../../shared/data/backup-times.ts";
import { countPlace, markPlace, formatNumber } from "../../shared/data/numbers.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import type { Labels } from "../../shared/api/fields.ts";
import { idFrom } from "../../shared/domain/ids.ts";
import { instanceFields, serverFields } from "./seed.ts";
import { table } from "./table.ts";
import { unusedId } from "./account.ts";

/** Items of the table, 25 in a call, 8 calls at a time. */
export async function writeItems(items: readonly Record<string, unknown>[]): Promise<void> {
  const { client, table: name } = table();
  const batches = Array.from({ length: Math.ceil(items.length / 25) }, (_, i) => items.slice(i * 25, i * 25 + 25));
  for (let from = 0; from < batches.length; from += 8)
    await Promise.all(
      batches.slice(from, from + 8).map(async (batch) => {
        const { UnprocessedItems } = await client.send(
          new BatchWriteCommand({ RequestItems: { [name]: batch.map((Item) => ({ PutRequest: { Item } })) } }),
        );
        expect(Object.keys(UnprocessedItems ?? {})).toEqual([]);
      }),
    );
}

const MINUTE = 60_000;
const FIRST = Date.parse("2026-01-01T00:00:00.000Z");

/** Returns when "Shop 0", "Shop 1" and so on of `seedManyInstances` were created. */
export const createdAt = (index: number): string => new Date(FIRST + index * MINUTE).toISOString();

/**
 * Instances "Shop 0", "Shop 1" and so on, on 1,000 servers in turn. Searches find them all; only those that `isRead` says have
 * records, because reading the others costs nothing.
 */
export async function seedManyInstances(
  accountId: string,
  {
    count,
    isRead,
    labels = (index) => ({ env: index % 3 === 0 ? "production" : "staging", team: "sales" }),
  }: { count: number; isRead: (index: number) => boolean; labels?: (index: number) => Labels },
): Promise<void> {
  const servers = Array.from({ length: 1_000 }, () => unusedId("server"));
  const items: Record<string, unknown>[] = [];
  const counts = new Map<string, Record<string, unknown>>();
  const times = new Map<string, Record<string, unknown>>();
  const labeled = new Map<string, Key & { m: Set<Uint8Array> }>();
  const add = (filter: string, index: number) => {
    const { leaf, attribute } = countPlace(formatNumber(index, ""));
    const key = keys.count("instance", accountId, filter, leaf);
    const item = counts.get(key.sk) ?? { ...key };
    item[attribute] = Number(item[attribute] ?? 0) + 1;
    counts.set(key.sk, item);
  };
  for (const [i, id] of servers.entries())
    items.push({ ...serverFields(accountId, id, formatNumber(i, id)), ...keys.record("server", accountId, id) });
  for (let index = 0; index < count; index++) {
    const id = idFrom("instance", FIRST + index * MINUTE, randomBytes(10));
    const number = formatNumber(index, id);
    const record = InstanceRecord.parse({
      ...instanceFields(accountId, id, number, servers[index % servers.length] ?? ""),
      name: `Shop ${index}`,
      domain: `shop-${index}.example.com`,
      database_name: `shop_${index}`,
      labels: labels(index),
      state: index % 2 === 0 ? "running" : "stopped",
      created_at: createdAt(index),
      last_backup_at: createdAt(index),
    });
    const time = buildBackupTime(accountId, id, createdAt(index));
    times.set(time.key.sk, { ...times.get(time.key.sk), ...time.key, [time.name]: time.stamp });
    const place = { status: record.state, protection: record.protection_status };
    items.push({
      ...buildEntry(id, record.created_at, { ...searchFieldsOf("instance", record), ...place }),
      ...keys.entry("instance", accountId, id),
    });
    for (const { key, member } of buildMembers("instance", accountId, { id, labels: labelsAndTagsOf("instance", record) })) {
      const item = labeled.get(keyString(key)) ?? { ...key, m: new Set<Uint8Array>() };
      labeled.set(keyString(key), item);
      item.m.add(member);
    }
    add("all", index);
    add(record.state, index);
    const mark = markPlace(number);
    if (mark !== undefined) {
      const key = keys.marks("instance", accountId, mark.leaf);
      counts.set(key.sk, { ...counts.get(key.sk), ...key, [mark.attribute]: Date.parse(record.created_at) });
    }
    if (isRead(index))
      items.push({ ...record, ...keys.record("instance", accountId, id), ...placement("instance", accountId, number, place) });
  }
  await writeItems([...counts.values(), ...times.values(), ...[...labeled.values()].map((item) => ({ ...item })), ...items]);
}
