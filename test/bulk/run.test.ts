// POST /bulk, GET /operations/:id/items and POST /operations/:id/actions.
import { beforeAll, describe, expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Event } from "../../shared/api/events.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { BULK } from "../../shared/domain/limits.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { begin, bulk, ended, itemsOf } from "./requests.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  serverId = (await seedServer(me.id)).id;
  await setQuota(me.id, "server", 100);
});

describe("a bulk action", () => {
  test("runs on every resource that it selects, and says of each what became of it", async () => {
    const [one, other] = [await me.instance(), await me.instance()];
    const stopped = await seedInstance(me.id, { server_id: serverId, state: "stopped", name: "Was stopped" });
    const operation = await begin(me.api, { action: "stop", select: { ids: [one.id, stopped.id, other.id] } });
    expect(operation).toMatchObject({ type: "bulk.run", status: "pending", resource: { type: "account", id: me.id } });
    expect(operation.result).toEqual({
      bulk: {
        action: "stop",
        type: "instance",
        parameters: {},
        total: 3,
        waiting: 3,
        running: 0,
        succeeded: 0,
        failed: 0,
        cancelled: 0,
      },
      control: "run",
    });
    const { status, progress, result } = await ended(me, operation.id);
    expect([status, progress]).toEqual(["succeeded", 100]);
    expect(result?.bulk).toMatchObject({ waiting: 0, running: 0, succeeded: 2, failed: 1, cancelled: 0 });
    const items = await itemsOf(me.api, operation.id);
    expect(items.map(({ resource, status: each }) => [resource.id, each])).toEqual([
      [one.id, "succeeded"],
      [stopped.id, "failed"],
      [other.id, "succeeded"],
    ]);
    expect(items[1]).toMatchObject({
      resource: { type: "instance", name: "Was stopped" },
      operation_id: null,
      error: { code: "INVALID_STATE", reason: { code: "error_action_not_allowed", parameters: { status: "stopped" } } },
    });
    const { type, request_id, created_by } = (await me.api.get(`/operations/${items[0]?.operation_id}`)).as(Operation);
    expect([type, request_id, created_by.id]).toEqual(["instance.stop", operation.id, me.tokenId]);
    expect((await me.api.get(`/instances/${one.id}`)).as(Instance).status).toBe("stopped");
    expect((await itemsOf(me.api, operation.id, "?status=failed")).map(({ resource }) => resource.id)).toEqual([stopped.id]);
    expect((await itemsOf(me.api, operation.id, "?per_page=1&page=3")).map(({ resource }) => resource.id)).toEqual([other.id]);
  });

  test("selects what a filter matches when it is requested", async () => {
    const matching = await seedInstance(me.id, { server_id: serverId, erp_version: "17.0" });
    const { id, result } = await begin(me.api, {
      action: "set_labels",
      select: { type: "instance", filter: { erp_version: "17.0", server_id: serverId } },
      parameters: { add: { old: "yes" } },
    });
    expect(result?.bulk?.total).toBe(1);
    await ended(me, id);
    expect((await me.api.get(`/instances/${matching.id}`)).as(Instance).labels).toEqual({ old: "yes" });
  });

  test("changes some labels and keeps the others, or replaces all", async () => {
    const one = await seedInstance(me.id, { server_id: serverId, labels: { a: "1", b: "2" } });
    const labels = async () => (await me.api.get(`/instances/${one.id}`)).as(Instance).labels;
    const select = { ids: [one.id] };
    await ended(me, (await begin(me.api, { action: "set_labels", select, parameters: { add: { c: "3" }, remove: ["a"] } })).id);
    expect(await labels()).toEqual({ b: "2", c: "3" });
    await ended(me, (await begin(me.api, { action: "set_labels", select, parameters: { labels: { d: "4" } } })).id);
    expect(await labels()).toEqual({ d: "4" });
  });
});

describe("a bulk action is rejected", () => {
  const invalid = async (body: Record<string, unknown>, field: string, reason: RegExp | string) => {
    const { status, error } = await bulk(me.api, body);
    expect([status, error?.code]).toEqual([422, "VALIDATION_ERROR"]);
    expect(error?.details).toMatchObject({ field, reason: expect.stringMatching(reason) });
  };

  test("unless its selection, its action and its parameters are valid, and then nothing begins", async () => {
    const before = await me.trace();
    const { id } = await seedInstance(me.id, { server_id: serverId });
    const other = unusedId("instance");
    const after = await me.trace();
    expect(after).not.toBe(before);
    await invalid({ action: "stop", select: {} }, "select.ids", /either ids or type/);
    await invalid({ action: "stop", select: { ids: [] } }, "select.ids", /must not be empty/);
    await invalid({ action: "stop", select: { ids: [id], type: "instance" } }, "select.ids", /either ids or type/);
    await invalid({ action: "stop", select: { type: "instance" } }, "select.filter", /is required with type; {} selects all/);
    await invalid({ action: "stop", select: { ids: [id, other] } }, "select.ids.1", /no such instance/);
    await invalid({ action: "stop", select: { ids: [id, serverId] } }, "select.ids.1", /same type/);
    await invalid({ action: "explode", select: { ids: [id] } }, "action", /must be one of: reboot, update, set_labels, start/);
    await invalid({ action: "lock", select: { ids: [id] } }, "action", /must be one of: start, stop/);
    await invalid({ action: "stop", select: { ids: [id] }, parameters: { hard: true } }, "parameters.hard", /not a known field/);
    await invalid({ action: "set_policy", select: { ids: [id] } }, "parameters.schedule", /is required/);
    await invalid({ action: "set_labels", select: { ids: [id] } }, "parameters.labels", /either labels/);
    await invalid({ action: "stop", select: { type: "instance", filter: { page: "2" } } }, "select.filter.page", /not a filter/);
    await invalid({ action: "stop", select: { type: "instance", filter: { status: "odd" } } }, "select.filter.status", /one of/);
    await invalid({ action: "stop", select: { type: "instance", filter: { search: "nobody" } } }, "select", /selects no/);
    await invalid({ action: "stop", select: { ids: Array(BULK.selected + 1).fill(id) } }, "select.ids", /at most 1000/);
    expect(await me.trace()).toBe(after);
  });

  test("without the action's own permission, and for a filter without the permission to read", async () => {
    const { id } = await seedInstance(me.id, { server_id: serverId });
    const forbidden = async (
      permissions: Parameters<TestAccount["token"]>[0],
      body: Record<string, unknown>,
      missingPermission: string,
    ) => {
      const { status, error } = await bulk((await me.token(permissions)).api, body);
      expect([status, error?.message]).toEqual([403, `Token does not have permission: ${missingPermission}`]);
    };
    const select = { ids: [id] };
    await forbidden(["instances:read", "instances:write"], { action: "stop", select }, "instances:actions");
    await forbidden(["instances:actions"], { action: "delete", select }, "instances:write");
    await forbidden(["instances:write"], { action: "delete", select, parameters: { with_backups: true } }, "backups:write");
    await forbidden(["instances:actions"], { action: "stop", select: { type: "instance", filter: {} } }, "instances:read");
    await forbidden(["backups:write"], { action: "drill", select: { ids: [unusedId("backup")] } }, "backups:restore");
  });

  test("with another account's resource as with one that does not exist", async () => {
    const other = await account({ seeded: true });
    const { id } = await seedInstance(other.id);
    const { error } = await bulk(me.api, { action: "stop", select: { ids: [id] } });
    expect(error?.details).toMatchObject({ field: "select.ids.0", reason: "no such instance in this account" });
  });
});

describe("a dry run", () => {
  test("names every resource that would be changed and why others would not, and begins nothing", async () => {
    const running = await seedInstance(me.id, { server_id: serverId });
    const stopped = await seedInstance(me.id, { server_id: serverId, state: "stopped", name: "Stopped already" });
    const before = await me.trace();
    const select = { ids: [running.id, stopped.id] };
    const { effects, warnings, downtime_seconds } = (await bulk(me.api, { action: "stop", select }, "?dry_run=true")).as(DryRun);
    expect(effects).toMatchObject([{ action: "stop", resource: { type: "instance", id: running.id }, code: "erp_stopped" }]);
    expect(warnings).toEqual(["Stopped already is left as it is: The action stop is not allowed while the instance is stopped"]);
    expect(downtime_seconds).toBeNull();
    const backup = await seedBackup(running);
    const deletion = await bulk(
      me.api,
      { action: "delete", select: { ids: [running.id] }, parameters: { with_backups: true } },
      "?dry_run=true",
    );
    expect(deletion.as(DryRun).effects.map(({ action, resource }) => [action, resource.id])).toEqual([
      ["delete", running.id],
      ["delete", backup.id],
    ]);
    expect(await me.trace()).not.toBe(before); // the seeded backup
    expect((await me.api.get(`/instances/${running.id}`)).as(Instance).status).toBe("running");
  });
});

describe("who may see and control a bulk action", () => {
  test("its starter, and whoever may read what it selects; to control it takes the action's permission", async () => {
    const { id: instance } = await seedInstance(me.id, { server_id: serverId });
    const starter = await me.token(["instances:actions"]);
    const reader = await me.token(["instances:read"]);
    const stranger = await me.token(["servers:read", "backups:read"]);
    const { id } = await begin(starter.api, { action: "start", select: { ids: [instance] } });
    for (const path of [`/operations/${id}`, `/operations/${id}/items`]) {
      expect((await starter.api.get(path)).status).toBe(200);
      expect((await reader.api.get(path)).status).toBe(200);
      expect((await stranger.api.get(path)).error?.message).toBe("Token does not have permission: instances:read");
      expect((await (await account({ seeded: true })).api.get(path)).status).toBe(404);
    }
    const denied = await reader.api.post(`/operations/${id}/actions`, { action: "cancel" });
    expect(denied.error?.message).toBe("Token does not have permission: instances:actions");
    await ended(me, id);
    const late = await starter.api.post(`/operations/${id}/actions`, { action: "cancel" });
    expect([late.status, late.error?.code]).toEqual([409, "INVALID_STATE"]);
  });

  test("events say who began, paused and resumed it", async () => {
    const { id: instance } = await seedInstance(me.id, { server_id: serverId, operation_id: unusedId("operation") });
    const { id } = await begin(me.api, { action: "start", select: { ids: [instance] } });
    const pause = () =>
      me.api.post(`/operations/${id}/actions`, { action: "pause" }, { headers: { "idempotency-key": `pause ${id}` } });
    await Promise.all(Array.from({ length: 10 }, pause));
    expect((await pause()).as(Operation).result?.control).toBe("pause");
    expect((await me.api.post(`/operations/${id}/actions`, { action: "resume" })).as(Operation).result?.control).toBe("run");
    expect((await me.api.post(`/operations/${id}/actions`, { action: "cancel" })).as(Operation).result?.control).toBe("cancel");
    const again = await me.api.post(`/operations/${id}/actions`, { action: "resume" });
    expect([again.status, again.error?.code]).toEqual([409, "INVALID_STATE"]);
    const { error, result } = await ended(me, id, "failed");
    expect(error).toMatchObject({ code: "CANCELLED", reason: { code: "bulk_cancelled" } });
    expect(result?.bulk).toMatchObject({ cancelled: 1, waiting: 0 });
    const events = (await me.api.get(`/events?resource_id=${me.id}&per_page=4`)).as(Event.array());
    expect(events.map(({ type }) => type)).toEqual(["bulk.cancel", "bulk.resume", "bulk.pause", "bulk.run"]);
  });
});
