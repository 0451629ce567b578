// The health check of servers: five failed probes in a row set a server offline, and one good probe brings it back.
import { beforeAll, expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { listErps } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});

const show = async (id: string) => (await me.api.get(`/servers/${id}`)).as(Server);

test("a server that does not respond is offline after the fifth probe, and actions on its instances fail, naming it", async () => {
  const [well, ill] = [await me.server(), await me.server({ name: unique("goes-offline") })];
  const instance = await me.instance({ server_id: ill.id });
  for (let probe = 1; probe <= 4; probe++) {
    await cloud.events.fire("checkservers");
    expect((await show(ill.id)).status).toBe("active");
  }
  await cloud.events.fire("checkservers");
  expect(await show(ill.id)).toMatchObject({
    status: "offline",
    status_reason: expect.stringMatching(/\w+/),
    operation_id: null,
  });
  expect(await show(well.id)).toMatchObject({ status: "active", status_reason: null, last_seen_at: expect.any(String) });

  const details = { status: "offline", resource: ill.id };
  for (const action of ["stop", "restart", "backup"])
    expect((await me.api.post(`/instances/${instance.id}/actions`, { action })).error).toMatchObject({
      code: "INVALID_STATE",
      details,
    });
  expect((await me.api.post(`/instances/${instance.id}/backups`)).error).toMatchObject({ code: "INVALID_STATE", details });
  expect((await me.api.put(`/instances/${instance.id}`, { domain: "new.example.com" })).error).toMatchObject({
    code: "INVALID_STATE",
    details,
  });
  expect((await me.api.put(`/instances/${instance.id}`, { name: "Only a name" })).as(Instance).name).toBe("Only a name");
  expect((await me.api.put(`/servers/${ill.id}`, { name: unique("renamed") })).status).toBe(200);

  const operation = (await me.api.delete(`/instances/${instance.id}`)).as(Operation);
  expect((await me.until(operation.id)).result).toMatchObject({ host_skipped: true });
  expect((await me.api.get(`/instances/${instance.id}`)).status).toBe(404);
});

test("a server that comes back loses the ERPs whose instances were deleted meanwhile, and no others", async () => {
  const server = await getServer(me.id, (await me.server()).id);
  const [deleted, kept, forgotten] = [
    await me.instance({ server_id: server.id }),
    await me.instance({ server_id: server.id }),
    await me.instance({ server_id: server.id }),
  ];
  const erps = async () => [...(await listErps(String(server.machine_id))).keys()].toSorted();
  for (let probe = 1; probe <= 5; probe++) await recordProbe(await getServer(me.id, server.id), { responded: false });
  await me.until((await me.api.delete(`/instances/${deleted.id}`)).as(Operation).id);
  // The record is missing, as in a table that was restored to an earlier time.
  const change = startChange({ id: me.id });
  change.remove(keys.record("instance", me.id, forgotten.id), { exists: true });
  await change.commit();
  expect(await erps()).toEqual([deleted.id, kept.id, forgotten.id].toSorted());
  await cloud.events.fire("checkservers");
  expect((await show(server.id)).status).toBe("active");
  expect(await erps()).toEqual([kept.id, forgotten.id].toSorted());
});
