// GET /operations and GET /operations/:id, which waits.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Server } from "../../shared/api/servers.ts";
import { findOperation } from "../../shared/records/operations.ts";
import { account, type TestAccount, uniqueDomain, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const begin = async () => (await me.api.post("/servers", await me.serverBody())).as(Server);

describe("waiting", () => {
  test("a wait responds as soon as the operation ends, long before its time is up", async () => {
    const { operation_id } = await begin();
    const began = performance.now();
    const operation = (await me.api.get(`/operations/${operation_id}?wait=20`)).as(Operation);
    expect(operation).toMatchObject({ status: "succeeded", progress: 100 });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test("a wait of 0, no wait, and a wait for a finished operation respond immediately", async () => {
    const { operation_id } = await begin();
    await me.until(operation_id);
    for (const query of ["", "?wait=0", "?wait=20"]) {
      const began = performance.now();
      expect((await me.api.get(`/operations/${operation_id}${query}`)).as(Operation).status).toBe("succeeded");
      expect(performance.now() - began).toBeLessThan(20_000); // on a machine that may be busy; the wait would be longer
    }
  });
});

test("an operation shows its step and progress, when it started and when it ended", async () => {
  const { operation_id } = await begin();
  await me.until(operation_id);
  const operation = (await me.api.get(`/operations/${operation_id}`)).as(Operation);
  const times = [operation.created_at, operation.started_at ?? "", operation.finished_at ?? ""];
  expect(times).toEqual(times.toSorted());
  expect(times[1]).not.toBe("");
  expect(operation).toMatchObject({ step: null, progress: 100, error: null });
});

describe("permissions", () => {
  test("reading an operation needs the read permission of its resource, unless the same credential started it", async () => {
    const starter = await me.token(["servers:write"]);
    const { operation_id } = (await starter.api.post("/servers", await me.serverBody())).as(Server);
    expect((await starter.api.get(`/operations/${operation_id}`)).status).toBe(200);
    const reader = await me.token(["servers:read"]);
    expect((await reader.api.get(`/operations/${operation_id}`)).status).toBe(200);
    const other = await me.token(["instances:read", "backups:read", "servers:write"]);
    const rejected = await other.api.get(`/operations/${operation_id}`);
    expect(rejected.status).toBe(403);
    expect(rejected.error?.message).toBe("Token does not have permission: servers:read");
    await me.until(operation_id);
  });
});

describe("the list of a resource", () => {
  const of = async (id: string, query = "") => {
    const response = await me.api.get(`/operations?resource_id=${id}${query}`);
    return { types: response.as(z.array(Operation)).map(({ type }) => type), meta: response.meta };
  };

  test("the operations of a resource are those that change, hold or read it: an instance's backups and clones, a backup's restores and clones", async () => {
    const instance = await seedInstance(me.id);
    const [clonedBackup, deletedBackup] = [await seedBackup(instance), await seedBackup(instance)];
    const body = { name: "Copy", domain: uniqueDomain(), backup_id: clonedBackup.id };
    const clone = (await me.api.post(`/instances/${instance.id}/clone`, body)).as(Instance);
    await me.api.delete(`/backups/${deletedBackup.id}`);
    const newBackup = (await me.api.post(`/instances/${instance.id}/backups`)).as(Backup);
    expect((await of(instance.id)).types).toEqual(["backup.create", "backup.delete", "instance.clone"]);
    expect((await of(clone.id)).types).toEqual(["instance.clone"]);
    expect((await of(clonedBackup.id)).types).toEqual(["instance.clone"]);
    expect((await of(deletedBackup.id)).types).toEqual(["backup.delete"]);
    expect((await of(newBackup.id)).types).toEqual(["backup.create"]);
    const first = await of(instance.id, "&per_page=2");
    expect(first).toMatchObject({ types: ["backup.create", "backup.delete"], meta: { total: 3 } });
    expect((await of(instance.id, `&per_page=2&cursor=${first.meta?.next_cursor}`)).types).toEqual(["instance.clone"]);

    const other = await seedInstance(me.id);
    const source = await seedBackup(other);
    const restore = (await me.api.post(`/backups/${source.id}/restore`)).as(Operation);
    for (const id of [other.id, source.id]) expect((await of(id)).types).toEqual(["backup.restore"]);
    const safety = (await findOperation(me.id, restore.id))?.input["safety_backup_id"];
    expect((await of(String(safety))).types).toEqual(["backup.restore"]);
    const all = (await me.api.get("/operations?per_page=100")).as(z.array(Operation)).map(({ id }) => id);
    expect(new Set(all).size, "each is on the list of all once").toBe(all.length);
  });
});

describe("the list", () => {
  test("the list of operations filters by resource and by status", async () => {
    const ownAccount = await account(); // its list has no other test's operations
    const one = await ownAccount.server();
    const other = await ownAccount.server();
    await ownAccount.until((await ownAccount.api.delete(`/servers/${one.id}`)).as(Operation).id);
    const ofOne = (await ownAccount.api.get(`/operations?resource_id=${one.id}`)).as(z.array(Operation));
    expect(ofOne.map(({ type }) => type)).toEqual(["server.delete", "server.create"]);
    expect((await ownAccount.api.get(`/operations?resource_id=${other.id}`)).meta?.total).toBe(1);
    expect((await ownAccount.api.get(`/operations?resource_id=${unusedId("backup")}`)).meta?.total).toBe(0);
    const all = (await ownAccount.api.get("/operations?per_page=100")).as(z.array(Operation));
    const succeeded = await ownAccount.api.get("/operations?status=succeeded&per_page=100");
    expect(succeeded.as(z.array(Operation))).toEqual(all.filter(({ status }) => status === "succeeded"));
    expect(succeeded.meta?.total).toBe(all.filter(({ status }) => status === "succeeded").length);
    expect((await ownAccount.api.get("/operations?status=running")).meta?.total).toBe(0);
  });
});
