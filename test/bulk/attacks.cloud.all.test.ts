// Bulk actions under attack: many resources, two runs at once, a token that is revoked, too many at once.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Event } from "../../shared/api/events.ts";
import { ListedInstance } from "../../shared/api/instances.ts";
import * as operations from "../../shared/api/operations.ts";
import { Operation } from "../../shared/api/operations.ts";
import { BULK } from "../../shared/domain/limits.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await processCloud();
});

const Items = operations.items().data;
const Task = z.looseObject({ task: z.string() });

/** Each call of the task of a bulk action from now on is made twice at once. */
const runTwice = (): (() => void) =>
  cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "runItems") return next(call);
    const [one, other] = await Promise.allSettled([next(call), next(call)]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    return one.value;
  });

const showOperation = async (me: TestAccount, id: string) => (await me.api.get(`/operations/${id}`)).as(Operation);

test("of 120 resources each gets its outcome, once, and those that cannot be changed fail", async () => {
  const me = await account({ seeded: true });
  await setQuota(me.id, "instance", 1_000);
  const { id: server_id } = await seedServer(me.id);
  const ids: string[] = [];
  for (let i = 0; i < 120; i++)
    ids.push((await seedInstance(me.id, { server_id, state: i % 20 === 7 ? "deleting" : "running" })).id);
  const { id } = (await me.api.post("/bulk", { action: "set_labels", select: { ids }, parameters: { add: { bulk: "yes" } } })).as(
    Operation,
  );
  await me.until(id);
  expect((await showOperation(me, id)).result?.bulk).toMatchObject({
    total: 120,
    waiting: 0,
    succeeded: 114,
    failed: 6,
    cancelled: 0,
  });
  const failed = await me.api.get(`/operations/${id}/items?status=failed`);
  expect(failed.meta?.total).toBe(6);
  expect((await me.api.get("/instances?label=bulk:yes&per_page=1")).meta?.total).toBe(114);
  const changed: string[] = [];
  for (const page of [1, 2]) {
    const events = await me.api.get(`/events?type=instance.update&per_page=100&page=${page}`);
    changed.push(...events.as(Event.array()).map(({ resource }) => resource.id));
  }
  expect([changed.length, new Set(changed).size]).toEqual([114, 114]);
});

test("two runs of the task at once begin nothing twice", async () => {
  const me = await account({ seeded: true });
  const instances = [await me.instance(), await me.instance(), await me.instance()];
  const close = runTwice();
  const { id } = (await me.api.post("/bulk", { action: "stop", select: { ids: instances.map((each) => each.id) } })).as(
    Operation,
  );
  await me.until(id);
  close();
  const stops = (await me.api.get("/operations?type=instance.stop&per_page=100")).as(Operation.array());
  expect(stops.map(({ resource }) => resource.id).toSorted()).toEqual(instances.map((each) => each.id).toSorted());
  expect((await showOperation(me, id)).result?.bulk).toMatchObject({ succeeded: 3, failed: 0 });
});

/** Each drill of a bulk action is of its own backup. */
async function expectOwnDrills(me: TestAccount, id: string, ids: readonly string[]): Promise<Operation[]> {
  expect((await showOperation(me, id)).result?.bulk).toMatchObject({ succeeded: ids.length, failed: 0 });
  const items = (await me.api.get(`/operations/${id}/items`)).as(Items);
  const drills = await Promise.all(
    items.map(async ({ operation_id }) => (await me.api.get(`/operations/${operation_id}`)).as(Operation)),
  );
  expect(drills.map(({ type, resource }) => [type, resource.id])).toEqual(ids.map((each) => ["backup.drill", each]));
  return drills;
}

test("each backup is drilled, also where all are drilled on one server", async () => {
  const me = await account({ seeded: true });
  const [one, other] = [await me.instance(), await me.instance({ server_id: (await me.server()).id })];
  const ids: string[] = [];
  for (const instance of [one, one, one, other]) ids.push((await me.backup(instance.id)).id);
  for (const [parameters, servers] of [
    [{}, [one.server_id, one.server_id, one.server_id, other.server_id]],
    [{ server_id: other.server_id }, ids.map(() => other.server_id)],
  ] as const) {
    const { id } = (await me.api.post("/bulk", { action: "drill", select: { ids }, parameters })).as(Operation);
    await me.until(id);
    for (const [index, drill] of (await expectOwnDrills(me, id, ids)).entries())
      expect((await me.api.get(`/operations?resource_id=${servers[index]}&per_page=100`)).text).toContain(drill.id);
  }
  for (const id of ids) expect((await me.api.get(`/backups/${id}`)).as(Backup).drill?.status).toBe("passed");
});

test("two runs of the task at once take no drill for that of another backup", async () => {
  const me = await account({ seeded: true });
  const { id: instance } = await me.instance();
  const ids = [(await me.backup(instance)).id, (await me.backup(instance)).id, (await me.backup(instance)).id];
  const close = runTwice();
  const { id } = (await me.api.post("/bulk", { action: "drill", select: { ids } })).as(Operation);
  await me.until(id);
  close();
  await expectOwnDrills(me, id, ids);
  expect((await me.api.get("/operations?type=backup.drill")).meta?.total).toBe(3);
});

test("what a revoked token has not begun is cancelled", async () => {
  const me = await account({ seeded: true });
  const { id: heldId } = await seedInstance(me.id, { operation_id: unusedId("operation") });
  const token = await me.token(["instances:actions"]);
  const { id } = (await token.api.post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(Operation);
  await expect
    .poll(async () => (await me.api.get(`/operations/${id}/items`)).as(Items)[0]?.error?.code, { timeout: 60_000 })
    .toBe("OPERATION_IN_PROGRESS");
  await (await me.session()).delete(`/tokens/${token.id}`);
  await me.until(id);
  expect((await me.api.get(`/operations/${id}/items`)).as(Items)[0]).toMatchObject({
    status: "cancelled",
    error: { code: "FORBIDDEN", reason: { code: "starter_lost_permission" } },
  });
});

test("an error says nothing to those who read the items that they may not read", async () => {
  const me = await account({ seeded: true });
  const { id: server_id } = await seedServer(me.id, { state: "unreachable" });
  const { id: instance } = await seedInstance(me.id, { server_id, state: "stopped" });
  const { id } = (await me.api.post("/bulk", { action: "start", select: { ids: [instance] } })).as(Operation);
  await me.until(id);
  const reader = (await me.token(["instances:read"])).api;
  const error = (await reader.get(`/operations/${id}/items`)).as(Items)[0]?.error;
  expect(error?.message).toContain("The server must be active");
  expect(JSON.stringify(error)).not.toMatch(new RegExp(`${server_id}|offline|unreachable`));
});

test("after so many failures nothing more begins", async () => {
  const me = await account({ seeded: true });
  const { id: server_id } = await seedServer(me.id);
  const stopped: string[] = [];
  for (let i = 0; i < 30; i++) stopped.push((await seedInstance(me.id, { server_id, state: "stopped" })).id);
  const { id } = (await me.api.post("/bulk", { action: "stop", select: { ids: stopped }, stop_after_failures: 3 })).as(Operation);
  await me.until(id);
  const { failed = 0, cancelled = 0 } = (await showOperation(me, id)).result?.bulk ?? {};
  expect([failed, cancelled]).toEqual([3, 27]);
});

test("an account has three at once, also if ten requests come at the same time, and their ends make room", async () => {
  const me = await account({ seeded: true });
  const { id: heldId } = await seedInstance(me.id, { operation_id: unusedId("operation") });
  const all = await Promise.all(
    Array.from({ length: 10 }, () => me.api.post("/bulk", { action: "stop", select: { ids: [heldId] } })),
  );
  const operations = all.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(operations).toHaveLength(BULK.open);
  for (const { status, error } of all.filter((each) => each.status !== 202)) {
    expect([status, error?.code]).toEqual([409, "QUOTA_EXCEEDED"]);
    expect(error?.details).toMatchObject({ resource: "bulk", limit: BULK.open });
  }
  for (const { id } of operations) await me.api.post(`/operations/${id}/actions`, { action: "cancel" });
  for (const { id } of operations) await me.until(id, "failed");
  const next = (await me.api.post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(Operation);
  await me.api.post(`/operations/${next.id}/actions`, { action: "cancel" });
  await me.until(next.id, "failed");
  expect((await me.api.get("/instances")).as(ListedInstance.array())).toHaveLength(1);
});
