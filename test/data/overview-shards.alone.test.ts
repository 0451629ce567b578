// The overview under contention: DynamoDB takes some twenty transactions a second on an item, and an account needs more of them.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { changeOf } from "../../shared/data/change.ts";
import { keys, type Item } from "../../shared/data/keys.ts";
import { emptyShards, overviewAsRead, overviewCounts } from "../../shared/data/overview-shards.ts";
import { ConditionFailed, find, queryAll, transact } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { type Local, startLocal, useLocal } from "../local/services.ts";

/** One after the other they would take longer than a change is tried. */
const TRANSACTION_MS = 300;
const CHANGES = 10;

let local: Local;
beforeAll(async () => {
  local = await startLocal({ transactionMilliseconds: TRANSACTION_MS });
  useLocal(local, {
    TABLE_NAME: "service",
    ENVIRONMENT: "test",
  });
});
afterAll(() => local.stop());

let id: string;
beforeEach(() => {
  id = newId("account");
});

/** Changes that each count a server more. */
async function changeOften(): Promise<void> {
  const changes = Array.from({ length: CHANGES }, async () => {
    const change = changeOf({ id });
    const serverId = newId("server");
    const number = String(Math.floor(Math.random() * 1e9)).padStart(12, "0");
    change.add("server", { id: serverId, number, created_at: change.at }, { status: "active" });
    await change.commit();
  });
  await Promise.all(changes);
}

/** What a version sees that does not know shards. */
const own = async (): Promise<Item | undefined> => find({ key: keys.overview(id), schema: z.custom<Item>() });
const filled = async (): Promise<Item[]> =>
  (await queryAll(keys.filledShards(), { consistent: true })).filter((item) => item["account_id"] === id);

test("ten changes at once succeed, and each raises the counts and the revision by one", async () => {
  await changeOften();
  expect(await overviewCounts(id)).toEqual({ revision: CHANGES, "revision#server": CHANGES, "server#active": CHANGES });
  expect((await filled()).length).toBeGreaterThan(1);
});

test("the shards are brought to the item that earlier versions read, and nobody sees a number twice or not at all", async () => {
  await changeOften();
  const over = new AbortController();
  const seen = new Set<unknown>();
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) seen.add((await overviewCounts(id))["revision"]);
  };
  const looks = Promise.all([look(), look()]);
  await emptyShards();
  over.abort();
  await looks;
  expect([...seen]).toEqual([CHANGES]);
  expect(await own()).toMatchObject({ revision: CHANGES, "server#active": CHANGES });
  expect(await filled()).toEqual([]);
});

test("what changes while the shards are emptied is not lost", async () => {
  await changeOften();
  await Promise.all([changeOften(), emptyShards()]);
  await emptyShards();
  expect(await own()).toMatchObject({ revision: 2 * CHANGES, "server#active": 2 * CHANGES });
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
