// An account's counts under contention: DynamoDB takes some twenty transactions a second on an item, and an account needs more of
// them.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { INDEXES } from "../../infra/table.ts";
import { startChange } from "../../shared/data/change.ts";
import { type Item, keys } from "../../shared/data/keys.ts";
import { listPage } from "../../shared/data/lists.ts";
import { formatNumber } from "../../shared/data/numbers.ts";
import { overviewAsRead, overviewCounts } from "../../shared/data/overview-shards.ts";
import { emptyShards } from "../../shared/data/shards.ts";
import { ConditionFailed, find, putIfAbsent, queryAll, transact } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { type Local, startLocal, useLocal } from "../local/services.ts";

/** One after the other they would take longer than a change is tried. */
const TRANSACTION_MS = 300;
const CHANGES = 10;

let local: Local;
beforeAll(async () => {
  local = await startLocal({ transactionMilliseconds: TRANSACTION_MS, indexes: INDEXES });
  useLocal(local, {
    TABLE_NAME: "service",
    ENVIRONMENT: "test",
  });
});
afterAll(() => local.stop());

let id: string;
beforeEach(async () => {
  id = newId("account");
  await putIfAbsent(keys.account(id), { used_backup_bytes: 0 });
});

/** Changes that each count a server more, in the same few blocks of the same lists, and on the account's own item. */
async function changeOften(): Promise<void> {
  const changes = Array.from({ length: CHANGES }, async (_, index) => {
    const change = startChange({ id });
    const serverId = newId("server");
    const number = formatNumber(1 + index * 7, serverId);
    change.add("server", { id: serverId, number, created_at: change.at }, { status: "active" });
    change.use("backup_bytes", 1000, { limited: false });
    await change.commit();
  });
  await Promise.all(changes);
}

/** What a version sees that does not know shards. */
const readOwnItem = async (): Promise<Item | undefined> => find({ key: keys.overview(id), schema: z.custom<Item>() });
const filled = async (): Promise<Item[]> =>
  (await queryAll(keys.filledShards(), { consistent: true })).filter((item) => item["account_id"] === id);

test("ten changes at once succeed, and each raises the counts and the revision by one", async () => {
  await changeOften();
  expect(await overviewCounts(id)).toEqual({ revision: CHANGES, "revision#server": CHANGES, "server#active": CHANGES });
  expect((await filled()).length).toBeGreaterThan(1);
});

/** The counts of all servers, and of those with a status. */
const totals = async (): Promise<number[]> => {
  const list = { kind: "server", accountId: id, schema: z.unknown() } as const;
  const pages = [list, { ...list, status: "active" }].map((each) => listPage(each, { per_page: 5, order: "desc" }));
  return (await Promise.all(pages)).map(({ meta }) => meta.total);
};
/** The same by what a version reads that does not know shards: it finds them by this prefix. */
const ownTotals = async (): Promise<number[]> => {
  const items = await Promise.all(
    ["all#", "active#"].map((beginsWith) => queryAll(keys.counts("server", id), { beginsWith, consistent: true })),
  );
  const blocks = items.map((each) => each.flatMap(Object.entries).filter(([name]) => /^b\d+$/.test(name)));
  return blocks.map((each) => each.reduce((sum, [, count]) => sum + Number(count), 0));
};
const usedBytes = async () =>
  (await find({ key: keys.account(id), schema: z.object({ used_backup_bytes: z.number() }) }))?.used_backup_bytes;

test("lists have their exact totals while shards hold a part of them, and afterwards", async () => {
  await changeOften();
  expect(await totals()).toEqual([CHANGES, CHANGES]);
  expect((await ownTotals())[0]).toBeLessThan(CHANGES);
  await emptyShards();
  expect(await totals()).toEqual([CHANGES, CHANGES]);
  expect(await ownTotals()).toEqual([CHANGES, CHANGES]);
  expect(await filled()).toEqual([]);
});

test("what operations use of the quotas waits for no other one, and is on the account's own item once the shards are empty", async () => {
  await changeOften();
  expect(await usedBytes()).toBeLessThan(CHANGES * 1000);
  await emptyShards();
  expect(await usedBytes()).toBe(CHANGES * 1000);
});

test("a page far down a list is found by the counts of shards, too", async () => {
  await changeOften();
  const schema = z.object({ number: z.string() });
  const { items } = await listPage({ kind: "server", accountId: id, schema }, { page: 2, per_page: 5, order: "asc" });
  expect(items.map(({ number }) => Number(number.split("#")[0]))).toEqual([36, 43, 50, 57, 64]);
});

test("the shards are brought to the item that earlier versions read, and nobody sees a number twice or not at all", async () => {
  await changeOften();
  const over = new AbortController();
  const seen = new Set<unknown>();
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) seen.add([(await overviewCounts(id))["revision"], ...(await totals())].join());
  };
  const looks = Promise.all([look(), look()]);
  await emptyShards();
  over.abort();
  await looks;
  expect([...seen]).toEqual([[CHANGES, CHANGES, CHANGES].join()]);
  expect(await readOwnItem()).toMatchObject({ revision: CHANGES, "server#active": CHANGES });
  expect(await filled()).toEqual([]);
});

test("what changes while the shards are emptied is not lost", async () => {
  await changeOften();
  await Promise.all([changeOften(), emptyShards()]);
  await emptyShards();
  expect(await readOwnItem()).toMatchObject({ revision: 2 * CHANGES, "server#active": 2 * CHANGES });
  expect(await ownTotals()).toEqual([2 * CHANGES, 2 * CHANGES]);
  expect(await usedBytes()).toBe(2 * CHANGES * 1000);
});

test("a correction of the counts knows what is in shards, and is not made if anything changes meanwhile", async () => {
  await changeOften();
  const { inShards, writes } = await overviewAsRead(id);
  expect(inShards["server#active"]).toBeGreaterThan(0);
  await transact(writes({ "server#active": 7 - Number(inShards["server#active"]) }));
  expect(await overviewCounts(id)).toMatchObject({ "server#active": 7, revision: CHANGES + 1 });
  const stale = await overviewAsRead(id);
  await changeOften();
  await expect(transact(stale.writes({ "server#active": 0 }))).rejects.toThrow(ConditionFailed);
});
