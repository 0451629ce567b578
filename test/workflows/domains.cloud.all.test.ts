// Changes of an instance's domain that fail halfway, or meet another one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Operation } from "../../shared/api/operations.ts";
import { changeErp, setMachine } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { erpsOf } from "./erps.ts";
import { type Intercept, InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show, erpOf } = erpsOf(() => harness);

test("a failed change of the domain keeps the old one, and another instance can use the new one", async () => {
  const instance = await harness.me.instance();
  const domain = uniqueDomain("wanted");
  const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
  const { operation } = await harness.run(workflows["update-instance"], move, async ({ task }, next) => {
    const result = await next();
    if (task === "adoptDomain") throw new InjectedError("GiveUp");
    return result;
  });
  expect(operation.state).toBe("failed");
  expect(await show(instance.id)).toMatchObject({ domain: instance.domain, status: "running", operation_id: null });
  expect((await erpOf(instance)).database?.base_url).toBe(`https://${instance.domain}`);
  expect((await harness.me.instance({ domain })).domain).toBe(domain);
  expect((await (await api()).post("/instances", await harness.me.instanceBody({ domain: instance.domain }))).status).toBe(409);
});

test("while the domain is being changed nobody is told that it stays, and other fields change", async () => {
  const { id, domain } = await harness.me.instance();
  const moved = uniqueDomain("moved");
  const put = async (body: object) => (await api()).put(`/instances/${id}`, body);
  const { operation } = await harness.run(
    workflows["update-instance"],
    () => put({ domain: moved }),
    async ({ task, payload, tries }, next) => {
      if (task === "moveDomain" && tries === 1) {
        const details = { operation_id: payload.input.operation_id };
        expect((await put({ domain, name: "Stays" })).error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details });
        expect((await put({ name: "Renamed" })).status).toBe(200);
      }
      return next();
    },
  );
  expect(operation).toMatchObject({ state: "succeeded" });
  expect(await show(id)).toMatchObject({ domain: moved, name: "Renamed" });
});

test("a change of the domain that fails after another instance has taken the old one keeps the new one, on the machine as well", async () => {
  const instance = await harness.me.instance();
  const domain = uniqueDomain("wanted");
  const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
  const { operation } = await harness.run(workflows["update-instance"], move, async ({ task, tries }, next) => {
    if (task !== "succeed") return next();
    if (tries === 1) await harness.me.instance({ domain: instance.domain });
    throw new InjectedError("Boom");
  });
  expect(operation.state).toBe("failed");
  expect(await show(instance.id)).toMatchObject({ domain, status: "running", operation_id: null });
  expect((await erpOf(instance)).domain).toBe(domain);
  expect((await (await api()).post("/instances", await harness.me.instanceBody({ domain }))).status).toBe(409);
});

describe.each(["restart", "restore"] as const)(
  "a machine that falls silent while it moves an instance to a new domain",
  (repair) => {
    test(`leaves a failed instance, and its ${repair} brings back the domain that is shown, whatever the machine has done`, async () => {
      const { id: server_id } = await harness.me.server();
      const instance = await harness.me.instance({ server_id });
      const backup = await harness.me.backup(instance.id);
      const machine = String((await getServer(harness.me.id, server_id)).machine_id);
      const domain = uniqueDomain();
      const silent: Intercept = async ({ task, tries }, next) => {
        if (task === "moveDomain" && tries === 1) {
          await setMachine(machine, { offline: true });
          for (let probe = 0; probe < 5; probe++) await cloud.events.fire("checkservers");
        }
        return next();
      };
      const move = async () => (await api()).put(`/instances/${instance.id}`, { domain });
      const { operation } = await harness.run(workflows["update-instance"], move, silent);
      expect(operation).toMatchObject({ state: "failed", error: { code: "HOST_UNREACHABLE" } });
      expect(await show(instance.id)).toMatchObject({
        status: "failed",
        status_reason: operation.error?.message,
        domain: instance.domain,
      });
      await changeErp(machine, instance.id, () => ({ domain })); // a job goes on without a connection
      await setMachine(machine, { offline: false });
      await cloud.events.fire("checkservers");
      const response =
        repair === "restart"
          ? (await api()).post(`/instances/${instance.id}/actions`, { action: "restart" })
          : (await api()).post(`/backups/${backup.id}/restore`, {});
      await harness.me.until((await response).as(Operation).id);
      expect(await show(instance.id)).toMatchObject({ status: "running", status_reason: null, domain: instance.domain });
      const erp = await erpOf(instance);
      expect([erp.domain, erp.database?.base_url]).toEqual([instance.domain, `https://${instance.domain}`]);
      expect((await harness.me.instance({ domain })).domain).toBe(domain);
      expectConsistent(await snapshotOf(cloud, harness.me.id));
    });
  },
);
