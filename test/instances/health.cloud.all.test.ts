// The health of instances: what three and five failed looks bring about, what brings an ERP back, and what is left alone.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Event } from "../../shared/api/events.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";
import { indexed } from "../harness/indexed.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account();
});

const show = async (id: string): Promise<Instance> => (await me.api.get(`/instances/${id}`)).as(Instance);
const look = (): Promise<void> => cloud.events.fire("checkservers");
async function looks(times: number): Promise<void> {
  for (let time = 0; time < times; time++) await look();
}
/** Returns the events of a resource without the ends of operations. */
async function eventsOf(id: string): Promise<string[]> {
  const list = async (kind: string): Promise<Event[]> =>
    (await me.api.get(`/events?class=${kind}&resource_id=${id}&per_page=100`)).as(z.array(Event));
  const outcomes = await list("outcomes");
  const events = [...(await list("audit")), ...outcomes.filter(({ data }) => data?.operation === undefined)];
  return events.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1)).map(({ type, actor }) => `${type} by ${actor.type}`);
}
const restarts = async (id: string): Promise<Operation[]> =>
  (await me.api.get(`/operations?resource_id=${id}&per_page=100`))
    .as(z.array(Operation))
    .filter(({ type }) => type === "instance.restart");
/** The restart that the service has begun. */
async function restarted(id: string): Promise<void> {
  const { operation_id, status } = await show(id);
  expect(status).toBe("restarting");
  await me.until(operation_id);
}

test("an ERP that cannot be used is failing after three looks, with a reason and an event, and well again after the restart that follows the fifth", async () => {
  const server_id = (await me.server()).id;
  const [{ id }, well] = [
    await me.instance({ server_id, domain: `goes-down.${uniqueDomain()}` }),
    await me.instance({ server_id }),
  ];
  await looks(2);
  expect(await show(id)).toMatchObject({ status: "running", status_reason: null, health: { status: "ok" } });
  await look();
  const down = await show(id);
  expect(down).toMatchObject({
    status: "running",
    status_reason: "The ERP does not respond: its sign-in page does not load",
    health: {
      status: "failing",
      checks: expect.arrayContaining([
        { name: "page", passed: false },
        { name: "script", passed: null },
      ]),
    },
  });
  expect((await me.api.get("/instances")).as(z.array(z.looseObject({ id: z.string() })))).toContainEqual(
    expect.objectContaining({ id, health: down.health, status_reason: down.status_reason }),
  );
  await look();
  expect(await eventsOf(id)).toEqual(["instance.create by token", "instance.down by service"]);
  await look();
  await restarted(id);
  expect((await restarts(id))[0]).toMatchObject({ created_by: { type: "service" }, status: "succeeded" });
  await look();
  expect(await show(id)).toMatchObject({
    status: "running",
    status_reason: null,
    health: { status: "ok", checks: expect.not.arrayContaining([expect.objectContaining({ passed: false })]) },
  });
  expect(await eventsOf(id)).toEqual([
    "instance.create by token",
    "instance.down by service",
    "instance.restart by service",
    "instance.up by service",
  ]);
  expect(await eventsOf(well.id)).toEqual(["instance.create by token"]);
  expect(await restarts(well.id)).toEqual([]);
});

test("the service restarts an ERP three times a day at most, and tells only once that it is down; another domain brings it back", async () => {
  const { id } = await me.instance({ server_id: (await me.server()).id, domain: `fail-health.${uniqueDomain()}` });
  for (let time = 1; time <= 3; time++) {
    await looks(4);
    expect(await restarts(id)).toHaveLength(time - 1);
    await look();
    await restarted(id);
  }
  await looks(7);
  expect(await restarts(id)).toHaveLength(3);
  expect((await eventsOf(id)).filter((event) => event.startsWith("instance.down"))).toHaveLength(1);
  const moving = (await me.api.put(`/instances/${id}`, { domain: uniqueDomain() })).as(Instance);
  await me.until(moving.operation_id);
  await look();
  expect(await show(id)).toMatchObject({ health: { status: "ok" }, status_reason: null });
  expect((await eventsOf(id)).at(-1)).toBe("instance.up by service");
});

test("while an operation holds an instance, no look at it counts", async () => {
  const { id } = await me.instance({ server_id: (await me.server()).id, domain: `fail-health.${uniqueDomain()}` });
  await looks(2);
  const release = holdWork(cloud, "restartErp");
  const operation = (await me.api.post(`/instances/${id}/actions`, { action: "restart" })).as(Operation);
  await looks(6);
  release();
  await me.until(operation.id);
  await looks(2);
  expect(await show(id)).toMatchObject({ health: { status: "ok" } });
  await look();
  expect(await show(id)).toMatchObject({ health: { status: "failing" } });
  expect(await restarts(id)).toHaveLength(1);
});

test("an ERP that was stopped is not watched, and says it is back when it has started again", async () => {
  const { id } = await me.instance({ server_id: (await me.server()).id, domain: `goes-down.${uniqueDomain()}` });
  await looks(3);
  const act = async (action: "start" | "stop") =>
    me.until((await me.api.post(`/instances/${id}/actions`, { action })).as(Operation).id);
  await act("stop");
  expect(await show(id)).toMatchObject({ status: "stopped", status_reason: null, health: { status: "unknown", checks: [] } });
  await looks(6);
  expect(await eventsOf(id)).not.toContain("instance.up by service");
  await act("start");
  await look();
  expect(await show(id)).toMatchObject({ health: { status: "ok" } });
  expect((await eventsOf(id)).at(-1)).toBe("instance.up by service");
});

test("half-installed modules that a start found are said until a start finds none", async () => {
  const { id } = await me.instance({ server_id: (await me.server()).id, domain: `fail-modules.${uniqueDomain()}` });
  expect(await show(id)).toMatchObject({
    status: "running",
    status_reason: expect.stringContaining("interrupted: sale, stock. "),
  });
  const moving = (await me.api.put(`/instances/${id}`, { domain: uniqueDomain() })).as(Instance);
  await me.until(moving.operation_id);
  await me.until((await me.api.post(`/instances/${id}/actions`, { action: "restart" })).as(Operation).id);
  expect((await show(id)).status_reason).toBeNull();
});

test("what is found out about an ERP changes no version of its instance", async () => {
  const { id } = await me.instance({ server_id: (await me.server()).id, domain: `fail-health.${uniqueDomain()}` });
  const etag = String((await me.api.get(`/instances/${id}`)).headers["etag"]);
  await looks(3);
  expect((await me.api.get(`/instances/${id}`)).headers["etag"]).toBe(etag);
  expect((await me.api.put(`/instances/${id}`, { name: "Renamed" }, { headers: { "if-match": etag } })).status).toBe(200);
});

test("a list is filtered by health as it is shown, also where its server no longer responds", async () => {
  const ownAccount = await account();
  const [here, away] = [await ownAccount.server(), await ownAccount.server({ name: "goes-offline-1" })];
  const failing = await ownAccount.instance({ server_id: here.id, domain: `fail-health.${uniqueDomain()}` });
  const [well, stopped] = [await ownAccount.instance({ server_id: here.id }), await ownAccount.instance({ server_id: here.id })];
  const unreachable = await ownAccount.instance({ server_id: away.id });
  await ownAccount.until((await ownAccount.api.post(`/instances/${stopped.id}/actions`, { action: "stop" })).as(Operation).id);
  await looks(5);
  await ownAccount.until((await ownAccount.api.get(`/instances/${failing.id}`)).as(Instance).operation_id);
  await look();
  const List = z.array(z.looseObject({ id: z.string(), health: z.looseObject({ status: z.string() }) }));
  const listIds = async (query: string): Promise<string[]> => {
    const listed = (await ownAccount.api.get(`/instances?order=asc&${query}`)).as(List);
    for (const { health } of listed) expect(query).toContain(`health=${health.status}`);
    return listed.map(({ id }) => id);
  };
  expect(await listIds("health=failing")).toEqual([failing.id]);
  expect(await listIds("health=ok")).toEqual([well.id]);
  expect(await listIds("health=unknown")).toEqual([stopped.id, unreachable.id]);
  expect(await listIds(`health=unknown&server_id=${away.id}`)).toEqual([unreachable.id]);
  expect(await listIds(`health=ok&server_id=${away.id}`)).toEqual([]);
  expect(await listIds(`health=failing&server_id=${here.id}&status=running&erp_version=19.0`)).toEqual([failing.id]);
  expect(await listIds("health=ok&search=nothing")).toEqual([]);
  const { error } = await ownAccount.api.get("/instances?health=bad");
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "health" } });

  // It is well again, and its machine falls silent.
  await ownAccount.until(
    (await ownAccount.api.put(`/instances/${failing.id}`, { domain: uniqueDomain() })).as(Instance).operation_id,
  );
  await look();
  expect(await listIds("health=failing")).toEqual([]);
  expect(await listIds("health=ok")).toEqual([failing.id, well.id]);
  await indexed(ownAccount.id);
  expect(await listIds("health=ok")).toEqual([failing.id, well.id]);
});
