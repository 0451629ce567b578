// How long a bulk action tries what is held, and how fast it goes: with a clock that moves by hours.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import * as operations from "../../shared/api/operations.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys, keyString } from "../../shared/data/keys.ts";
import { readAll, updateOne } from "../../shared/data/table.ts";
import { startChange } from "../../shared/data/change.ts";
import { newId } from "../../shared/domain/ids.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import { BULK } from "../../shared/domain/limits.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

const clock = testClock();
let cloud: TestCloud;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared, timeScale: 0 });
});

const Items = operations.items().data;
const Task = z.looseObject({ task: z.string() });
const Part = z.looseObject({ targets: z.array(z.looseObject({})) });
const WAIT = { timeout: 60_000 };
const begin = async (me: TestAccount, body: Record<string, unknown>) => (await me.api.post("/bulk", body)).as(Operation);
const itemsOf = async (me: TestAccount, id: string) => (await me.api.get(`/operations/${id}/items?per_page=100`)).as(Items);
const statusesOf = async (me: TestAccount, id: string) => (await itemsOf(me, id)).map(({ status }) => status);

/** A call of the task begins nothing more after so long, and ends. */
const CALL_MINUTES = 3.5;

/**
 * Lets time pass, and waits until a call of the task that has begun since has ended. The clock jumps between two calls: a request
 * that is on its way meanwhile would be too old for the table.
 */
async function pass(minutes: number): Promise<void> {
  let [jumped, ended] = [false, false];
  const close = cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "runItems") return next(call);
    if (!jumped) clock.advance(minutes);
    jumped = true;
    try {
      return await next(call);
    } finally {
      ended = true; // by an error if there is more to do, after which it is called again
    }
  });
  const look = () => {
    clock.advance(CALL_MINUTES);
    return ended;
  };
  await expect.poll(look, { timeout: 60_000, interval: 2_000 }).toBe(true);
  close();
}

test("what another operation holds is tried for an hour, and then fails", async () => {
  const me = await account({ seeded: true });
  const { id: heldId } = await me.instance();
  const release = holdWork(cloud, "restartErp");
  const { id: restart } = (await me.api.post(`/instances/${heldId}/actions`, { action: "restart" })).as(Operation);
  const { id } = await begin(me, { action: "stop", select: { ids: [heldId] } });
  const error = async () => (await itemsOf(me, id))[0]?.error?.code;
  await expect.poll(error, WAIT).toBe("OPERATION_IN_PROGRESS");
  await pass(BULK.heldMinutes / 2);
  expect(await statusesOf(me, id)).toEqual(["waiting"]);
  await pass(BULK.heldMinutes);
  await me.until(id);
  expect(await itemsOf(me, id)).toMatchObject([{ status: "failed", error: { code: "OPERATION_IN_PROGRESS" } }]);
  release();
  await me.until(restart);
});

test("a backup that waits for the drill of another one does not fail, however long that takes", async () => {
  const me = await account({ seeded: true });
  const { id: instance } = await me.instance();
  const ids = [(await me.backup(instance)).id, (await me.backup(instance)).id, (await me.backup(instance)).id];
  const release = holdWork(cloud, "verifyArchive");
  const { id } = await begin(me, { action: "drill", select: { ids } });
  const OTHERS_WAIT = ["running", "waiting", "waiting"];
  await expect.poll(() => statusesOf(me, id), WAIT).toEqual(OTHERS_WAIT);
  // An earlier version selected them like this, so that they are all asked for, and not one after the other.
  const part = keys.bulkPart(me.id, id, 0);
  const targets = Part.parse((await readAll([part])).get(keyString(part))).targets.map((each) => ({
    ...each,
    server_id: null,
  }));
  await updateOne(part, { set: { targets } }, {});
  await pass(0);
  clock.advance(BULK.heldMinutes);
  await pass(0);
  expect(await statusesOf(me, id)).toEqual(OTHERS_WAIT);
  release();
  await me.until(id);
  expect(await statusesOf(me, id)).toEqual(["succeeded", "succeeded", "succeeded"]);
  for (const backup of ids) expect((await me.api.get(`/backups/${backup}`)).as(Backup).drill?.status).toBe("passed");
});

test("ten resources are in work at once, and two of one server", async () => {
  const me = await account({ seeded: true });
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 100);
  const { id: crowded } = await me.server();
  const servers = [crowded, crowded, crowded];
  for (let i = 0; i < BULK.atOnce; i++) servers.push((await me.server()).id);
  const ids: string[] = [];
  for (const server_id of servers) ids.push((await me.instance({ server_id })).id);
  const release = holdWork(cloud, "stopErp");
  const { id } = await begin(me, { action: "stop", select: { ids } });
  const inWork = async () => (await statusesOf(me, id)).flatMap((status, index) => (status === "running" ? [index] : []));
  const FIRST = [0, 1, 3, 4, 5, 6, 7, 8, 9, 10];
  await expect.poll(inWork, WAIT).toEqual(FIRST);
  await pass(0);
  expect(await inWork()).toEqual(FIRST);
  release();
  await me.until(id);
  expect((await me.api.get(`/operations/${id}`)).as(Operation).result?.bulk).toMatchObject({ succeeded: ids.length });
});

test("an account's bulk actions delete twenty a minute, however many of them there are", async () => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id);
  const half = async () => {
    const ids: string[] = [];
    for (let i = 0; i < 15; i++) ids.push((await seedBackup(instance)).id);
    return (await begin(me, { action: "delete", select: { ids } })).id;
  };
  const bulks = [await half(), await half()];
  const deletions = () => me.api.get("/operations?type=backup.delete&per_page=100&order=asc");
  await expect.poll(async () => (await deletions()).meta?.total, WAIT).toBeGreaterThanOrEqual(BULK.deletionsPerMinute);
  clock.advance(1);
  for (const id of bulks) await me.until(id);
  const times = (await deletions()).as(Operation.array()).map(({ created_at }) => Date.parse(created_at));
  expect(times).toHaveLength(30);
  const [last = NaN, next = NaN] = times.slice(BULK.deletionsPerMinute - 1);
  expect(next - last, "only the jump of the clock has made room for more").toBeGreaterThan(30_000);
});

const resultOf = async (me: TestAccount, id: string) => (await me.api.get(`/operations/${id}`)).as(Operation).result?.bulk;
const hold = () => ({ operation_id: unusedId("operation") });

test("what is held takes no deletion from what is free", async () => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id);
  const ids: string[] = [];
  for (let i = 0; i < BULK.deletionsPerMinute + 2; i++) ids.push((await seedBackup(instance, hold())).id);
  const free = [(await seedBackup(instance)).id, (await seedBackup(instance)).id];
  const { id } = await begin(me, { action: "delete", select: { ids: [...ids, ...free] } });
  await expect.poll(async () => (await statusesOf(me, id)).slice(-2), WAIT).toEqual(["succeeded", "succeeded"]);
  expect(await resultOf(me, id)).toMatchObject({ waiting: ids.length, failed: 0 });
  await me.api.post(`/operations/${id}/actions`, { action: "cancel" });
  await me.until(id, "failed");
});

test("a deleted instance's backup that is held is tried for an hour, too", async () => {
  const me = await account({ seeded: true });
  const [one, other] = [await me.instance(), await me.instance()];
  const ids = [one.id, other.id];
  const backups = await Promise.all(ids.map(async (instance) => keys.record("backup", me.id, (await me.backup(instance)).id)));
  for (const key of backups) await updateOne(key, { set: hold() }, {});
  const { id } = await begin(me, { action: "delete", select: { ids }, parameters: { with_backups: true } });
  await expect.poll(async () => (await me.api.get("/instances")).meta?.total, WAIT).toBe(0);
  await pass(BULK.heldMinutes / 2);
  expect(await statusesOf(me, id)).toEqual(["running", "running"]);
  const [first] = backups;
  if (first !== undefined) await updateOne(first, { set: { operation_id: null } }, {});
  await pass(BULK.heldMinutes);
  await me.until(id);
  expect(await itemsOf(me, id)).toMatchObject([
    { status: "succeeded", error: null },
    { status: "failed", error: { code: "INVALID_STATE", reason: { code: "backups_left", parameters: { count: "1" } } } },
  ]);
});

test("a bulk action that is paused to its end says what it has not begun", async () => {
  const me = await account({ seeded: true });
  const ids = [(await seedInstance(me.id, hold())).id, (await seedInstance(me.id, hold())).id];
  const { id } = await begin(me, { action: "stop", select: { ids } });
  await me.api.post(`/operations/${id}/actions`, { action: "pause" });
  await pass(BULK.hours * 60);
  await me.until(id);
  expect(await resultOf(me, id)).toMatchObject({ waiting: 0, cancelled: 2 });
  const expired = { status: "cancelled", error: { reason: { code: "bulk_expired" } } };
  expect(await itemsOf(me, id)).toMatchObject([expired, expired]);
});

test("what a killed call has begun is followed, and not cancelled", async () => {
  const me = await account({ seeded: true });
  const { id: begunId, server_id } = await seedInstance(me.id, hold());
  const { id: waiting } = await seedInstance(me.id, { server_id, ...hold() });
  const { id } = await begin(me, { action: "stop", select: { ids: [begunId, waiting] } });
  await expect.poll(async () => (await itemsOf(me, id)).every(({ error }) => error !== null), WAIT).toBe(true);
  // The records are as if the call had begun the operation, and was killed before it wrote that.
  const change = startChange(await getAccount(me.id));
  const { id: operationId } = reserveOperation(
    change,
    { operator: "test", requestId: id },
    { id: newId("operation"), type: "instance.stop", resource: { type: "instance", id: begunId, name: "Shop" } },
  );
  await change.commit();
  await updateOne(keys.record("operation", me.id, operationId), { set: { state: "succeeded" } }, {});
  await me.api.post(`/operations/${id}/actions`, { action: "cancel" });
  await me.until(id, "failed");
  expect(await itemsOf(me, id)).toMatchObject([{ status: "succeeded", operation_id: operationId }, { status: "cancelled" }]);
});
