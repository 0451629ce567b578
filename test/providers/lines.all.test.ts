// The lines of machines' timers, as the minute's check takes them: new ones instead of a login, and old, replayed or missing ones
// as a reason for one.
import { beforeEach, expect, test, vi } from "vitest";
import { handler as check } from "../../functions/schedules/check-servers.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { getInstance, reserveInstance } from "../../shared/records/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { getServer } from "../../shared/records/servers.ts";
import { putIfAbsent, updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { pass } from "./executions.ts";
import { lines, logins, reported, unreachable } from "./fake-host.ts";
import { accountId, here } from "./rented.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("./fake-host.ts"));

let server: ServerRecord;
let sequence = 1_000;
beforeEach(async () => {
  ({ server } = await here.create(accountId, "hetzner"));
  await putIfAbsent(keys.watchedServer(server.id), { account_id: accountId, server_id: server.id });
  logins.clear();
});

const MINUTE_SECONDS = 60;
interface Line {
  sequence?: number;
  faults?: [id: string, looks: number][];
  paused?: boolean;
}
function write(line: Line, check: string) {
  sequence += 60;
  const faults = (line.faults ?? []).map(([instance_id, looks]) => ({ instance_id, check, looks }));
  return { sequence: line.sequence ?? sequence, faults, paused: line.paused ?? false };
}
/** What the timer has written by the next check; `undefined`: what was there before. */
async function minute(line?: Line): Promise<void> {
  pass(MINUTE_SECONDS);
  if (line !== undefined) lines.set(server.machine_id ?? "", write(line, "script"));
  await check();
}
/** The proxy serves nothing, and a login brings what the timer has written. */
async function minuteWithoutProxy(line: Line): Promise<void> {
  pass(MINUTE_SECONDS);
  lines.delete(server.machine_id ?? "");
  reported.set(server.machine_id ?? "", write(line, "proxy"));
  await check();
}
const countLogins = (): number => logins.get(server.machine_id ?? "") ?? 0;
const stateNow = async () => (await getServer(accountId, server.id)).state;

/** A running instance on the server, which no operation holds. */
async function running(): Promise<string> {
  const change = startChange(await getAccount(accountId));
  const id = newId("instance");
  const names = {
    name: id,
    database_name: `d${id.slice(-20)}`,
    domain: `${id.replace("_", "-")}.example.org`,
    admin_email: "a@example.org",
  };
  reserveInstance(change, server, { id, ...names, erp_version: "19.0", edition: "community" }, "op_none");
  await change.commit();
  await updateOne(keys.record("instance", accountId, id), { set: { state: "running", operation_id: null, installed: true } }, {});
  return id;
}
const health = async (id: string) => (await getInstance(accountId, id)).health_status;

test("while lines come, a machine is logged in to once in ten minutes; when they stop, once more, and it stays active", async () => {
  await minute({});
  logins.clear();
  for (let count = 0; count < 10; count++) await minute({});
  expect(countLogins()).toBe(1);
  for (let count = 0; count < 10; count++) await minute();
  expect(countLogins()).toBeLessThanOrEqual(3);
  expect(countLogins()).toBeGreaterThanOrEqual(2);
  expect(await stateNow()).toBe("ready");
});

test.each([
  ["stopped", {}],
  ["replayed", { sequence: 1 }],
])("a machine whose line is %s, and that rejects the login, is offline after five checks", async (_, line) => {
  await minute({});
  unreachable.add(server.machine_id ?? "");
  if (Object.keys(line).length === 0) for (let count = 0; count < 2; count++) await minute();
  for (let count = 0; count < 5; count++) await (Object.keys(line).length === 0 ? minute() : minute(line));
  expect(await stateNow()).toBe("unreachable");
});

test("instances are well from the first line on, fail after three misses, and are unknown once there are no lines; a replayed line says nothing", async () => {
  const [id, well] = [await running(), await running()];
  expect(await health(id)).toBe("unknown");
  await minute({});
  expect([await health(id), await health(well)]).toEqual(["ok", "ok"]);
  await minute({ faults: [[id, 2]] });
  expect(await health(id)).toBe("ok");
  await minute(); // the same line again
  expect(await health(id)).toBe("ok");
  await minute({ faults: [[id, 1]] });
  expect([await health(id), (await getInstance(accountId, id)).health_fault]).toEqual(["failing", "script"]);
  await minute({ sequence: 5 });
  expect([await health(id), await health(well)]).toEqual(["failing", "unknown"]);
  await minute({});
  expect([await health(id), await health(well)]).toEqual(["ok", "ok"]);
});

test("without a proxy, a login brings the line until its ERPs can be used again; nobody restarts them because of it", async () => {
  const id = await running();
  await minute({});
  for (let count = 0; count < 10; count++) await minute({}); // the login of a new instance, and the one of ten minutes
  logins.clear();
  await minuteWithoutProxy({}); // written before it stopped
  await minuteWithoutProxy({ faults: [[id, 2]] });
  expect(await health(id)).toBe("ok");
  await minuteWithoutProxy({ faults: [[id, 1]] });
  expect([await health(id), (await getInstance(accountId, id)).health_fault]).toEqual(["failing", "proxy"]);
  for (let count = 0; count < 4; count++) await minuteWithoutProxy({ faults: [[id, 1]] });
  expect((await getInstance(accountId, id)).operation_id).toBeNull();
  expect(countLogins()).toBe(7);
  await minuteWithoutProxy({});
  expect([await health(id), await stateNow()]).toEqual(["ok", "ready"]);
});

test("where nobody gets through to the proxies, lines of ERPs that are well are no reason for a login a minute", async () => {
  const id = await running();
  await minute({});
  for (let count = 0; count < 10; count++) await minute({});
  logins.clear();
  for (let count = 0; count < 12; count++) await minuteWithoutProxy({});
  expect(countLogins()).toBeLessThanOrEqual(4); // two, and those of ten minutes
  expect([await health(id), await stateNow()]).toEqual(["unknown", "ready"]);
  await minute({});
  expect(await health(id)).toBe("ok");
});

test("a machine says nothing about the instances of another server, and of no more than there are on it", async () => {
  const id = await running();
  await minute({});
  const firstServer = server;
  ({ server } = await here.create(accountId, "digitalocean"));
  await putIfAbsent(keys.watchedServer(server.id), { account_id: accountId, server_id: server.id });
  const many = Array.from({ length: 1000 }, (_, count): [string, number] => [`ins_${count}`, 2]);
  for (let count = 0; count < 4; count++) await minute({ faults: [[id, 2], ...many] });
  expect(await health(id)).not.toBe("failing");
  expect(firstServer.id).not.toBe(server.id);
});

test("a machine whose line says that it has paused an instance is logged in to at once, each minute", async () => {
  const id = await running();
  await minute({});
  for (let count = 0; count < 10; count++) await minute({}); // the login of a new instance, and the one of ten minutes
  logins.clear();
  for (let count = 0; count < 3; count++) await minute({ paused: true });
  expect(countLogins()).toBeGreaterThanOrEqual(3);
  expect(await health(id)).toBe("ok");
});
