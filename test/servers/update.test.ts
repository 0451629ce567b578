// PUT /servers/:id
import { beforeAll, expect, test } from "vitest";
import { Server } from "../../shared/api/servers.ts";
import type { ServerPhase } from "../../shared/domain/lifecycle.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
  await setQuota(me.id, "server", 100);
});

test("a rename changes the name and nothing else, and frees the old one", async () => {
  const before = await seedServer(me.id);
  const name = unique("renamed");
  const current = (await me.api.get(`/servers/${before.id}`)).as(Server);
  const renamed = (await me.api.put(`/servers/${before.id}`, { name })).as(Server);
  expect(renamed).toEqual({ ...current, name, name_unicode: name, updated_at: renamed.updated_at });
  expect(renamed.updated_at > current.updated_at).toBe(true);
  expect((await me.api.get(`/servers/${before.id}`)).as(Server)).toEqual(renamed);
  expect((await me.api.post("/servers", await me.serverBody({ name: before.name }))).status).toBe(201);
});

test("a server can be renamed to its own name", async () => {
  const server = await seedServer(me.id);
  expect((await me.api.put(`/servers/${server.id}`, { name: server.name })).as(Server).name).toBe(server.name);
});

test("concurrent renames to the same name all succeed", async () => {
  const server = await seedServer(me.id);
  const name = unique("same");
  const responses = await Promise.all(Array.from({ length: 4 }, () => me.api.put(`/servers/${server.id}`, { name })));
  expect(responses.map((response) => response.as(Server).name)).toEqual([name, name, name, name]);
});

test("another server's name is a conflict, and nothing changes", async () => {
  const [one, other] = [await seedServer(me.id), await seedServer(me.id)];
  const response = await me.api.put(`/servers/${one.id}`, { name: other.name });
  expect(response.error).toMatchObject({ code: "CONFLICT", details: { field: "name", resource: other.id } });
  expect((await me.api.get(`/servers/${one.id}`)).as(Server).name).toBe(one.name);
});

test("concurrent renames to different free names all succeed, and free every name but the last", async () => {
  const server = await seedServer(me.id);
  const names = Array.from({ length: 6 }, () => unique("rename"));
  const responses = await Promise.all(names.map((name) => me.api.put(`/servers/${server.id}`, { name })));
  expect(responses.map((response) => response.as(Server).name)).toEqual(names);
  const { name: last } = (await me.api.get(`/servers/${server.id}`)).as(Server);
  expect(names).toContain(last);
  for (const name of [server.name, ...names]) {
    const other = await seedServer(me.id);
    expect((await me.api.put(`/servers/${other.id}`, { name })).status).toBe(name === last ? 409 : 200);
  }
});

test.each<[ServerPhase, number]>([
  ["creating", 409],
  ["ready", 200],
  ["unreachable", 200],
  ["create_failed", 200],
  ["deleting", 409],
  ["delete_failed", 200],
])("renaming a server that is %s returns %i", async (state, status) => {
  const server = await seedServer(me.id, { state });
  const response = await me.api.put(`/servers/${server.id}`, { name: unique("phase") });
  expect(response.status).toBe(status);
  if (status === 409)
    expect(response.error).toMatchObject({
      code: "INVALID_STATE",
      details: { status: state === "creating" ? "provisioning" : "offline" },
    });
});
