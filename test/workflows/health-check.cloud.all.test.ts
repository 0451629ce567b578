// Servers that come and go, as the health check sees them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { setMachine } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { erpsOf } from "./erps.ts";
import { type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show } = erpsOf(() => harness);

describe("the health check", () => {
  const check = () => cloud.events.fire("checkservers");
  const showServer = async (id: string) => (await (await api()).get(`/servers/${id}`)).as(Server);
  const switchOff = async (id: string, offline: boolean) =>
    setMachine((await getServer(harness.me.id, id)).machine_id ?? "", { offline });

  test("the health check counts consecutive failures: with one good probe in between, the server stays active", async () => {
    const { id } = await harness.me.server();
    for (const offline of [true, false, true]) {
      await switchOff(id, offline);
      for (let probe = 0; probe < (offline ? 4 : 1); probe++) await check();
      expect((await showServer(id)).status).toBe("active");
    }
    await check();
    expect((await showServer(id)).status).toBe("offline");
  });

  test("the first good probe makes a server active again, and operations on it work", async () => {
    const { id } = await harness.me.server();
    const instance = await harness.me.instance({ server_id: id });
    await switchOff(id, true);
    for (let probe = 0; probe < 7; probe++) await check();
    const away = await showServer(id);
    expect(away).toMatchObject({ status: "offline", status_reason: expect.stringMatching(/\w/) });
    await switchOff(id, false);
    await check();
    const back = await showServer(id);
    expect(back).toMatchObject({ status: "active", status_reason: null });
    expect(back.last_seen_at?.localeCompare(away.last_seen_at ?? "")).toBe(1);
    const backup = (await (await api()).post(`/instances/${instance.id}/backups`)).as(Backup);
    await harness.me.until(backup.operation_id);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("an operation on a machine that stopped responding fails with HOST_UNREACHABLE and unlocks its resource", async () => {
    const { id } = await harness.me.server();
    const instance = await harness.me.instance({ server_id: id });
    await switchOff(id, true);
    await check();
    const stop = async () => (await api()).post(`/instances/${instance.id}/actions`, { action: "stop" });
    const { operation } = await harness.run(workflows["stop-instance"], stop);
    expect(operation).toMatchObject({ state: "failed", error: { code: "HOST_UNREACHABLE" } });
    expect(await show(instance.id)).toMatchObject({ status: "failed", status_reason: operation.error?.message });
    for (let probe = 0; probe < 5; probe++) await check();
    const deletion = async () => (await api()).delete(`/instances/${instance.id}`);
    const { operation: deleted } = await harness.run(workflows["delete-instance"], deletion);
    expect(deleted).toMatchObject({ state: "succeeded", result: { host_skipped: true } });
    await harness.run(workflows["delete-server"], async () => (await api()).delete(`/servers/${id}`));
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("the health check ignores servers that are deleted, or being created or deleted", async () => {
    const me = await account();
    const server = (await me.api.post("/servers", await me.serverBody())).as(Server);
    await check();
    await cloud.states.settled();
    await me.until((await me.api.delete(`/servers/${server.id}`)).as(Operation).id);
    await check();
    expect((await me.api.get(`/servers/${server.id}`)).status).toBe(404);
    expectConsistent(await snapshotOf(cloud, me.id));
  });
});
