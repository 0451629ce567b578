// GET /operations and GET /operations/:id, which waits.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const begin = async () => (await me.api.post("/servers", await me.serverBody())).as(Server);

describe("wait", () => {
  test("is answered as soon as the operation ends, long before the time is up", async () => {
    const { operation_id } = await begin();
    const began = performance.now();
    const operation = (await me.api.get(`/operations/${operation_id}?wait=20`)).as(Operation);
    expect(operation).toMatchObject({ status: "succeeded", progress: 100 });
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test("of 0, or none, is answered at once; of an operation that has ended too", async () => {
    const { operation_id } = await begin();
    await me.until(operation_id);
    for (const query of ["", "?wait=0", "?wait=20"]) {
      const began = performance.now();
      expect((await me.api.get(`/operations/${operation_id}${query}`)).as(Operation).status).toBe("succeeded");
      expect(performance.now() - began).toBeLessThan(2_000);
    }
  });
});

test("an operation tells its step and progress, when it began and when it ended", async () => {
  const { operation_id } = await begin();
  await me.until(operation_id);
  const operation = (await me.api.get(`/operations/${operation_id}`)).as(Operation);
  const times = [operation.created_at, operation.started_at ?? "", operation.finished_at ?? ""];
  expect(times).toEqual(times.toSorted());
  expect(times[1]).not.toBe("");
  expect(operation).toMatchObject({ step: null, progress: 100, error: null });
});

describe("who may see it", () => {
  test("needs the read permission of its resource, unless this credential started it", async () => {
    const starter = await me.token(["servers:write"]);
    const { operation_id } = (await starter.api.post("/servers", await me.serverBody())).as(Server);
    expect((await starter.api.get(`/operations/${operation_id}`)).status).toBe(200);
    const reader = await me.token(["servers:read"]);
    expect((await reader.api.get(`/operations/${operation_id}`)).status).toBe(200);
    const other = await me.token(["instances:read", "backups:read", "servers:write"]);
    const refused = await other.api.get(`/operations/${operation_id}`);
    expect(refused.status).toBe(403);
    expect(refused.error?.message).toBe("Token does not have permission: servers:read");
    await me.until(operation_id);
  });
});

describe("the list", () => {
  test("is filtered by the resource and by status", async () => {
    const one = await me.server();
    const other = await me.server();
    await me.until((await me.api.delete(`/servers/${one.id}`)).as(Operation).id);
    const ofOne = (await me.api.get(`/operations?resource_id=${one.id}`)).as(z.array(Operation));
    expect(ofOne.map(({ type }) => type)).toEqual(["server.delete", "server.create"]);
    expect((await me.api.get(`/operations?resource_id=${other.id}`)).meta?.total).toBe(1);
    expect((await me.api.get(`/operations?resource_id=${unusedId("backup")}`)).meta?.total).toBe(0);
    const all = (await me.api.get("/operations?per_page=100")).as(z.array(Operation));
    const succeeded = await me.api.get("/operations?status=succeeded&per_page=100");
    expect(succeeded.as(z.array(Operation))).toEqual(all.filter(({ status }) => status === "succeeded"));
    expect(succeeded.meta?.total).toBe(all.filter(({ status }) => status === "succeeded").length);
    expect((await me.api.get("/operations?status=running")).meta?.total).toBe(0);
  });
});
