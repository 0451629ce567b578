// GET /search: one search across kinds, each with its own permission.
import { expect, test } from "vitest";
import * as search from "../../shared/api/search.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

test("finds servers, instances and backups: exact names first, then beginnings, each kind only with its permission", async () => {
  const me = await account();
  const server = await seedServer(me.id, { name: "shop" });
  const later = await seedInstance(me.id, { server_id: server.id, name: "The old shop", domain: "old.example.com" });
  const instance = await seedInstance(me.id, { server_id: server.id, name: "Shop west" });
  const backup = await seedBackup(later, { note: "before moving" });
  const find = async (query: string, api = me.api) =>
    (await api.get(`/search?${query}`)).as(search.find().data).map(({ type, id }) => `${type} ${id}`);

  expect(await find("q=shop")).toEqual([
    `server ${server.id}`,
    `instance ${instance.id}`,
    `instance ${later.id}`,
    `backup ${backup.id}`,
  ]);
  expect(await find("q=shop&limit=1")).toEqual([`server ${server.id}`]);
  const work = { name: "Workshop", domain: "work.example.com", database_name: "works" };
  const within = await seedInstance(me.id, { server_id: server.id, ...work });
  expect((await find("q=shop")).at(-1)).toBe(`instance ${within.id}`);
  expect(await find("q=rksho")).toEqual([`instance ${within.id}`]);
  expect((await me.api.get("/instances?search=rksho")).meta?.total).toBe(0);
  expect(await find(`q=${backup.id}`)).toEqual([`backup ${backup.id}`]);
  expect(await find("q=MOVING")).toEqual([`backup ${backup.id}`]);
  expect((await me.api.get("/search?q=moving")).body).toMatchObject({
    data: [{ name: "The old shop", status: "completed", detail: "before moving", created_at: backup.created_at }],
  });
  expect(await find("q=shop", (await me.token(["backups:read"])).api)).toEqual([`backup ${backup.id}`]);
  expect(await find("q=shop", (await me.token(["settings:read"])).api)).toEqual([]);
  expect(await find("q=shop", (await account()).api)).toEqual([]);
  for (const emoji of ["🛒", "‼️", "⁉️", "〰️", "#️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]) expect(await find(`q=${encodeURIComponent(emoji)}`)).toEqual([]);
});

test.each([
  ["", "q"],
  ["q=", "q"],
  ["q=---", "q"],
  ["q=a&q=b", "q"],
  ["q=a&limit=0", "limit"],
  ["q=a&limit=51", "limit"],
])("GET /search?%s is rejected", async (query, field) => {
  const { api } = await account();
  expect((await api.get(`/search?${query}`)).error).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
});
