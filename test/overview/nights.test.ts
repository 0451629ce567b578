// GET /overview/nights
import { expect, test } from "vitest";
import { nights } from "../../shared/api/overview.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

const SINCE = "2026-11-20T00:00:00.000Z";
const at = (day: number): string => `2026-11-${day}T02:00:00.000Z`;

test("the backups since a time are shown by instance, newest first, without uploads and deleted instances", async () => {
  const me = await account({ seeded: true });
  const shop = await seedInstance(me.id, { name: "Shop" });
  const depot = await seedInstance(me.id, { name: "Depot" });
  await seedBackup(shop, { created_at: at(19) });
  const first = await seedBackup(shop, { created_at: at(20), kind: "scheduled" });
  await seedBackup(shop, { created_at: at(21), kind: "uploaded", instance_id: null, instance_name: null });
  await seedBackup({ ...shop, id: newId("instance"), name: "Deleted" }, { created_at: at(21) });
  const failed = await seedBackup(depot, { created_at: at(21), state: "failed", size_bytes: null });
  const drill = { status: "failed" as const, at: at(22), checks: [] };
  const last = await seedBackup(shop, { created_at: at(22), kind: "scheduled", drill });
  const result = (await me.api.get(`/overview/nights?created_after=${SINCE}`)).as(nights().data);
  expect(result.complete).toBe(true);
  expect(result.instances.toSorted((a, b) => b.name.localeCompare(a.name))).toEqual([
    {
      id: shop.id,
      name: "Shop",
      backups: [
        { id: last.id, kind: "scheduled", status: "completed", size_bytes: 18_432, drill: "failed", created_at: at(22) },
        { id: first.id, kind: "scheduled", status: "completed", size_bytes: 18_432, drill: null, created_at: at(20) },
      ],
    },
    {
      id: depot.id,
      name: "Depot",
      backups: [{ id: failed.id, kind: "manual", status: "failed", size_bytes: null, drill: null, created_at: at(21) }],
    },
  ]);
});

test("it needs a time and the permission to read backups, and shows nothing of other accounts", async () => {
  const me = await account();
  expect((await me.api.get("/overview/nights")).status).toBe(422);
  const reader = await me.token(["instances:read"]);
  expect((await reader.api.get(`/overview/nights?created_after=${SINCE}`)).status).toBe(403);
  const empty = (await me.api.get(`/overview/nights?created_after=${SINCE}`)).as(nights().data);
  expect(empty).toEqual({ instances: [], complete: true });
});
