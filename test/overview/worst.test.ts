// GET /overview/worst
import { expect, test } from "vitest";
import { worst } from "../../shared/api/overview.ts";
import { MINUTE_SECONDS } from "../../shared/domain/durations.ts";
import { INSTANCE_SERIES } from "../../shared/domain/metrics.ts";
import { WORST } from "../../shared/domain/limits.ts";
import { storeSamples } from "../../shared/records/metrics.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { account } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

const GB = 1_000_000_000;

test("the servers and instances that are loaded most are shown, the worst first, and at most ten of each", async () => {
  const me = await account({ seeded: true });
  await setQuota(me.id, "server", 12);
  const servers = await Promise.all(Array.from({ length: 12 }, () => seedServer(me.id)));
  const instances = await Promise.all(servers.map(({ id }) => seedInstance(me.id, { server_id: id })));
  const now = Math.floor(Date.now() / 1000);
  for (const [index, server] of servers.entries()) {
    const memory_free_bytes = (server.specs.memory_gb * GB * (index + 1)) / 20;
    const disk = { disk_size_bytes: 40 * GB, disk_free_bytes: (40 - index) * GB };
    await recordReport(server, { ...disk, memory_free_bytes, certificates: undefined });
    const measured = (ms: number) => INSTANCE_SERIES.map(({ name }) => (name === "p95_ms" ? ms : null));
    // The machine also names an instance that is not on it.
    const instanceIds = [instances[index]?.id ?? "", instances[(index + 1) % 12]?.id ?? ""] as const;
    const all = new Map([
      [instanceIds[0], measured(10 * (index + 1))],
      [instanceIds[1], measured(90)],
    ]);
    await storeSamples({ account_id: me.id, id: server.id }, [{ at: now - MINUTE_SECONDS, server: [], instances: all }]);
  }
  const result = (await me.api.get("/overview/worst")).as(worst().data);
  expect(result.complete).toBe(true);
  expect(result.memory.map(({ id }) => id)).toEqual(servers.slice(0, 10).map(({ id }) => id));
  expect(result.memory[0]).toEqual({ id: servers[0]?.id, name: servers[0]?.name, value: 95 });
  expect(result.disk.map(({ value }) => value)).toEqual([28, 25, 23, 20, 18, 15, 13, 10, 8, 5]);
  expect(result.p95_ms[0]).toMatchObject({ id: instances[11]?.id, name: instances[11]?.name });
  expect(result.p95_ms.map(({ value }) => value)).toEqual(result.p95_ms.map(({ value }) => value).toSorted((a, b) => b - a));
  expect(new Set(result.p95_ms.map(({ id }) => id)).size).toBe(result.p95_ms.length);
});

test("of more servers than are compared, those whose memory is used most count", async () => {
  const me = await account({ seeded: true });
  await setQuota(me.id, "server", WORST.servers + 1);
  const servers: ServerRecord[] = [];
  for (let i = 0; i <= WORST.servers; i++) servers.push(await seedServer(me.id));
  const last = servers.toSorted((one, other) => (one.id < other.id ? -1 : 1)).at(-1);
  for (const server of servers) {
    const memory_free_bytes = server === last ? GB : 2 * GB;
    await recordReport(server, { disk_size_bytes: 40 * GB, disk_free_bytes: GB, memory_free_bytes, certificates: undefined });
  }
  const instance = await seedInstance(me.id, { server_id: last?.id ?? "" });
  const p95 = INSTANCE_SERIES.map(({ name }) => (name === "p95_ms" ? 400 : null));
  const sample = { at: Math.floor(Date.now() / 1000) - MINUTE_SECONDS, server: [], instances: new Map([[instance.id, p95]]) };
  await storeSamples({ account_id: me.id, id: last?.id ?? "" }, [sample]);
  const result = (await me.api.get("/overview/worst")).as(worst().data);
  expect(result.complete).toBe(false);
  expect(result.p95_ms).toEqual([{ id: instance.id, name: instance.name, value: 400 }]);
});

test("an account without servers has none, and both permissions are needed", async () => {
  const me = await account();
  expect((await me.api.get("/overview/worst")).as(worst().data)).toEqual({ memory: [], disk: [], p95_ms: [], complete: true });
  for (const permission of ["servers:read", "instances:read"] as const)
    expect((await (await me.token([permission])).api.get("/overview/worst")).status).toBe(403);
});
