// GET /search among many backups: they have their instance's name, and push nothing else out.
import { expect, test } from "vitest";
import * as search from "../../shared/api/search.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

test("the backups of the instance that is named push out no other instance, whether its name begins with the words or has them within", async () => {
  const me = await account({ seeded: true });
  const server = await seedServer(me.id, { name: "erp-1" });
  const shop = await seedInstance(me.id, { server_id: server.id, name: "Shop", domain: "a.example.com" });
  const west = await seedInstance(me.id, { server_id: server.id, name: "Shop west", domain: "b.example.com" });
  const within = await seedInstance(me.id, {
    server_id: server.id,
    name: "Workshop",
    domain: "c.example.com",
    database_name: "works",
  });
  for (let n = 0; n < 12; n++) await seedBackup(shop, { note: `Night ${n}` });
  const find = async (query: string) => (await me.api.get(`/search?${query}`)).as(search.find().data);

  const results = await find("q=shop&limit=8");
  expect(results.map(({ type }) => type)).toEqual(["instance", "instance", ...Array<string>(5).fill("backup"), "instance"]);
  expect(results.filter(({ type }) => type === "instance").map(({ id }) => id)).toEqual([shop.id, west.id, within.id]);
  expect((await find("q=shop&limit=2")).map(({ id }) => id)).toEqual([shop.id, west.id]);
  expect(await find("q=night&limit=20")).toHaveLength(12);
});
