// Machines that the operator already has: each serves at most one server.
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { handler as refresh } from "../../functions/schedules/refresh-catalog.ts";
import { handler as sweep } from "../../functions/schedules/sweep.ts";
import { readOffers } from "../../shared/records/catalog.ts";
import { newId } from "../../shared/domain/ids.ts";
import { releaseMachine, takeMachine, takenMachines } from "../../shared/records/taken-machines.ts";
import { byo } from "../../shared/providers/byo.ts";
import { pass } from "./executions.ts";
import { jobs } from "./fake-host.ts";
import { OWN_MACHINE, type ProviderHarness, providerHarness } from "./harness.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("./fake-host.ts"));

let here: ProviderHarness;
let accountId: string;
beforeAll(async () => {
  here = await providerHarness();
});
beforeEach(async () => {
  accountId = await here.account();
  jobs.clear();
  await releaseMachine(OWN_MACHINE.name).catch(() => undefined);
});

const offered = async () => (await readOffers()).providers.find(({ code }) => code === "byo")?.sizes.map(({ code }) => code);

test("a machine of your own is verified as configured, offered while it is free, and cleared before it is free again", async () => {
  await refresh();
  expect(await offered()).toEqual([OWN_MACHINE.name]);
  const { server, operation } = await here.create(accountId, "byo");
  expect(server).toMatchObject({
    state: "ready",
    machine_id: OWN_MACHINE.name,
    ip_address: OWN_MACHINE.address,
    ssh_port: OWN_MACHINE.port,
  });
  expect(jobs.get(`${operation.id}-prepareHost`)).toMatchObject({
    host_keys: [OWN_MACHINE.host_key],
    ssh_port: OWN_MACHINE.port,
  });
  expect(await offered()).toEqual([]);
  const deletion = await here.remove(server);
  expect(deletion.state).toBe("succeeded");
  expect(jobs.get(`${deletion.id}-retireHost`)?.kind).toBe("retire_host");
  expect(await offered()).toEqual([OWN_MACHINE.name]);
});

test("a machine in use is given to no other server, and a failed creation leaves it with its owner", async () => {
  const first = await here.create(accountId, "byo");
  const second = await here.create(await here.account(), "byo");
  expect(second.operation).toMatchObject({ state: "failed", error: { code: "PROVIDER_OUT_OF_CAPACITY" } });
  expect((await takenMachines()).map(({ server_id }) => server_id)).toEqual([first.server.id]);
  await here.remove(second.server);
  expect((await takenMachines()).map(({ server_id }) => server_id)).toEqual([first.server.id]);
  await here.remove(first.server);
});

test("a machine in use stays in use under another name", async () => {
  const { server } = await here.create(accountId, "byo");
  const renamed = byo([{ ...OWN_MACHINE, name: "cellar-renamed", firewall: true }]);
  expect((await renamed.catalog()).sizes).toEqual([]);
  const ids = { operation_id: newId("operation"), server_id: newId("server"), account_id: accountId };
  const order = await renamed.prepareOrder({ ...ids, name: "erp-2", region: "own", size: "cellar-renamed" });
  await expect(order()).rejects.toThrow("PROVIDER_OUT_OF_CAPACITY: This machine is already in use by another server");
  await here.remove(server);
});

test("a machine that an account used belongs to that account, under any name, until the operator releases it", async () => {
  const another = await here.account();
  const { server } = await here.create(accountId, "byo");
  await expect(releaseMachine(OWN_MACHINE.name)).rejects.toThrow("A server has the machine");
  expect((await here.remove(server)).state).toBe("succeeded");
  jobs.clear();

  const rejected = await here.create(another, "byo");
  expect(rejected.operation.error).toMatchObject({
    code: "PROVIDER_OUT_OF_CAPACITY",
    message: expect.stringContaining("The operator must reinstall and release it"),
  });
  expect([...jobs.values()], "nothing is sent to it").toEqual([]);
  const ids = { operation_id: newId("operation"), server_id: newId("server"), account_id: another };
  const order = await byo([{ ...OWN_MACHINE, name: "renamed", firewall: true }]).prepareOrder({
    ...ids,
    name: "erp-2",
    region: "own",
    size: "renamed",
  });
  await expect(order()).rejects.toThrow("reinstall and release it");

  const again = await here.create(accountId, "byo");
  expect(again.operation).toMatchObject({ state: "succeeded" });
  await here.remove(again.server);
  await releaseMachine(OWN_MACHINE.name);
  const second = await here.create(another, "byo");
  expect(second.operation).toMatchObject({ state: "succeeded" });
  await here.remove(second.server);
  await expect(releaseMachine("no-such")).rejects.toThrow("No such machine");
});

test("only one of many servers gets the last machine", async () => {
  const takers = Array.from({ length: 20 }, () => ({
    operation_id: newId("operation"),
    server_id: newId("server"),
    account_id: accountId,
  }));
  const got = await Promise.all(takers.map((taker) => takeMachine("only-one", taker)));
  expect(got.filter((taking) => taking === "taken")).toHaveLength(1);
  const [machine] = (await takenMachines()).filter(({ name }) => name === "only-one");
  expect(machine?.server_id).toBe(takers[got.indexOf("taken")]?.server_id);
});

test("the sweep frees a machine whose server is gone", async () => {
  const { server, operation } = await here.create(accountId, "byo");
  await here.remove(server);
  const taker = { operation_id: operation.id, server_id: server.id, account_id: accountId };
  expect(await takeMachine(OWN_MACHINE.name, taker), "by a late run of a creation that was given up").toBe("in use");
  expect(await takeMachine(OWN_MACHINE.name, { ...taker, server_id: newId("server") })).toBe("taken");
  pass(3600);
  await sweep();
  expect((await takenMachines()).filter(({ name }) => name === OWN_MACHINE.name)).toEqual([]);
});

test("a provider that is no longer configured is not offered, and its servers show the reason", async () => {
  const { server } = await here.create(accountId, "byo");
  await here.configure({ enterprise_source: "https://example.com/odoo-enterprise-{version}.tar.gz" });
  await refresh();
  expect(await readOffers()).toEqual({ providers: [], editions: ["community", "enterprise"] });
  expect((await here.remove(server)).error).toMatchObject({
    code: "PROVIDER_UNAUTHORIZED",
    message: expect.stringContaining("byo"),
  });
});
