// GET /alerts, GET and PUT /alerts/:id: who sees which alerts, how one opens and closes, and how it is muted.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Alert } from "../../shared/api/alerts.ts";
import { Event } from "../../shared/api/events.ts";
import * as overview from "../../shared/api/overview.ts";
import { evaluateAlert, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { isMuted } from "../../shared/domain/alerts.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { measure } from "./measure.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

const list = async (query: string, of = me): Promise<Alert[]> => (await of.api.get(`/alerts?${query}`)).as(z.array(Alert));
const eventsOf = async (id: string, of = me): Promise<Event[]> =>
  (await of.api.get(`/events?class=outcomes&order=asc&resource_id=${id}`)).as(z.array(Event));

describe("GET /alerts", () => {
  test("has an alert for each step, opened once by two checks at once, and closed a fifth beyond its threshold", async () => {
    const server = await seedServer(me.id);
    await measure(server, 16);
    expect(await list(`resource_id=${server.id}`)).toEqual([]);
    await measure(server, 14.5, 2);
    const [alert, ...more] = await list(`status=open&kind=disk_free&resource_id=${server.id}`);
    expect(more).toEqual([]);
    expect(alert).toEqual({
      id: expect.stringMatching(/^alr_/),
      kind: "disk_free",
      resource: { type: "server", id: server.id, name: server.name },
      status: "open",
      value: 14,
      threshold: 15,
      operation_id: null,
      opened_at: expect.any(String),
      closed_at: null,
      muted_until: null,
    });
    for (const percent of [16, 14, 17.9, 15, 4]) await measure(server, percent);
    expect((await list(`status=open&resource_id=${server.id}`)).map(({ threshold }) => threshold)).toEqual([5, 15]);
    await measure(server, 6, 2);
    await measure(server, 18, 2);
    expect(await list(`status=open&resource_id=${server.id}`)).toEqual([]);
    const events = await eventsOf(server.id);
    expect(events.map(({ type, data }) => [type, data?.alert?.threshold, data?.alert?.value])).toEqual([
      ["alert.opened", 15, 14],
      ["alert.opened", 5, 4],
      ["alert.closed", 5, 6],
      ["alert.closed", 15, 18],
    ]);
    const closed = (await list(`status=closed&resource_id=${server.id}`)).find(({ id }) => id === alert?.id);
    expect(closed).toMatchObject({ status: "closed", value: 14, closed_at: expect.any(String) });
    expect(events.at(-1)?.data?.alert).toEqual({ ...closed, value: 18 });
  });

  test("shows and counts only what the credential may read of the resource's kind", async () => {
    const ownAccount = await account();
    const instance = await seedInstance(ownAccount.id);
    const [server, other] = [await seedServer(ownAccount.id), await seedServer(ownAccount.id)];
    const alerts = await readAlerts(ownAccount.id);
    for (const each of [server, other])
      await evaluateAlert(alerts, { kind: "memory_free", type: "server", id: each.id, measured: 3, name: () => each.name });
    await evaluateAlert(alerts, {
      kind: "disk_paused",
      type: "instance",
      id: instance.id,
      measured: true,
      name: () => instance.name,
    });
    const readableKinds = async (...permissions: ("servers:read" | "instances:read" | "settings:read")[]) => {
      const { api } = await ownAccount.token(permissions);
      const [response, page] = [await api.get("/alerts?status=open"), await api.get("/alerts?status=open&per_page=1")];
      expect(page.meta?.total).toBe(response.meta?.total);
      expect((await api.get("/overview")).as(overview.get().data).alerts).toEqual({ open: response.meta?.total });
      return response.as(z.array(Alert)).map(({ kind }) => kind);
    };
    expect(await readableKinds("settings:read", "servers:read", "instances:read")).toEqual([
      "disk_paused",
      "memory_free",
      "memory_free",
    ]);
    expect(await readableKinds("settings:read", "servers:read")).toEqual(["memory_free", "memory_free"]);
    expect(await readableKinds("settings:read", "instances:read")).toEqual(["disk_paused"]);
    expect(await readableKinds("settings:read")).toEqual([]);
    const [alert] = await list(`resource_id=${server.id}`, ownAccount);
    const one = async (...permissions: ("servers:read" | "settings:read")[]) =>
      (await ownAccount.token(permissions)).api.get(`/alerts/${alert?.id}`);
    expect((await one("settings:read", "servers:read")).as(Alert)).toEqual(alert);
    expect((await one("settings:read")).status).toBe(404);
    expect(await list("kind=memory_free", ownAccount)).toHaveLength(2);
    expect(await list("status=closed&kind=memory_free", ownAccount)).toEqual([]);
    const { api } = await ownAccount.token(["servers:read"]);
    expect((await api.get("/overview")).as(overview.get().data).alerts).toBeUndefined();
    const { api: ofServers } = await ownAccount.token(["settings:read", "settings:write", "servers:read"]);
    const [paused] = await list("kind=disk_paused", ownAccount);
    expect((await ofServers.put(`/alerts/${paused?.id}`, { muted_until: null })).status).toBe(404);
    const all = await list("status=open", ownAccount);
    const responseByIds = await ofServers.get(`/alerts?ids=${all.map(({ id }) => id).join(",")}`);
    expect(responseByIds.as(z.array(Alert))).toEqual(all.filter(({ id }) => id !== paused?.id));
    expect(responseByIds.meta?.total).toBe(2);
  });
});

describe("PUT /alerts/:id", () => {
  test("mutes an alert for 30 days at most, and unmutes it", async () => {
    const server = await seedServer(me.id);
    await measure(server, 3);
    const [alert] = await list(`status=open&resource_id=${server.id}`);
    const mute = (muted_until: string | null) => me.api.put(`/alerts/${alert?.id}`, { muted_until });
    const until = inDays(29);
    const muted = (await mute(until)).as(Alert);
    expect(muted).toEqual({ ...alert, muted_until: until });
    expect([isMuted(muted, inDays(0)), isMuted(muted, inDays(30)), alert && isMuted(alert, inDays(0))]).toEqual([
      true,
      false,
      false,
    ]);
    for (const [value, reason] of [
      [inDays(31), "must be at most 30 days from now"],
      [inDays(-1), "must be in the future"],
    ] as const)
      expect((await mute(value)).error?.details).toMatchObject({ field: "muted_until", reason });
    expect((await mute(null)).as(Alert).muted_until).toBeNull();
    const audit = (await me.api.get(`/events?type=alert.update&resource_id=${server.id}`)).as(z.array(Event));
    expect(audit.map(({ data }) => data?.changes)).toEqual([
      [{ field: "muted_until", before: until, after: null }],
      [{ field: "muted_until", before: null, after: until }],
    ]);
    await measure(server, 50);
    expect((await mute(until)).error).toMatchObject({ code: "INVALID_STATE", details: { status: "closed" } });
  });
});
