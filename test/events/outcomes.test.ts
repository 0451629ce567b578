// GET /events?class=outcomes: what came of what was asked for, and what happened by itself. That no end of an operation lacks its
// event, and none has two, is checked by every test of a workflow (`expectConsistent`).
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Event } from "../../shared/api/events.ts";
import { Server } from "../../shared/api/servers.ts";
import { startChange } from "../../shared/data/change.ts";
import { EVENT_TYPES } from "../../shared/domain/event-types.ts";
import { newId } from "../../shared/domain/ids.ts";
import { FAILED_PROBES_MAX } from "../../shared/domain/limits.ts";
import { recordCertificateEvents } from "../../shared/operations/monitoring/certificate-events.ts";
import { beginBackup } from "../../shared/operations/backups/begin-backup.ts";
import { endOperation } from "../../shared/operations/work/operation-ends.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account, newPublicKey, type TestAccount, uniqueDomain } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const list = async (query: string, api: Client = me.api): Promise<Event[]> =>
  (await api.get(`/events?per_page=100&${query}`)).as(z.array(Event));

describe("an operation that has ended", () => {
  test("has one outcome, with its duration, whoever started it, and its error", async () => {
    const { id: token, api } = await me.token();
    const key = (await me.api.post("/ssh-keys", { name: "Laptop", public_key: newPublicKey() })).as(z.object({ id: z.string() }));
    const create = async (name: string): Promise<Server> =>
      (
        await api.post(
          "/servers",
          { name, provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: key.id },
          { headers: { "x-request-id": `asked-${name}` } },
        )
      ).as(Server);
    const [works, fails] = [await create("works"), await create("fail-quota")];
    await Promise.all([me.until(works.operation_id), me.until(fails.operation_id, "failed")]);

    const [success, ...more] = await list(`class=outcomes&resource_id=${works.id}`);
    expect(more).toEqual([]);
    expect(success).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: "server.create.succeeded",
      actor: { type: "token", id: token, name: expect.any(String), ip_address: null },
      resource: { type: "server", id: works.id, name: "works" },
      request_id: "asked-works",
      operation_id: works.operation_id,
      data: {
        operation: {
          id: works.operation_id,
          type: "server.create",
          status: "succeeded",
          error: null,
          duration_seconds: expect.any(Number),
        },
      },
      created_at: expect.any(String),
    });
    // Without a class, the type says which list is meant.
    expect(await list(`type=server.create.failed&actor=${token}`)).toMatchObject([
      {
        resource: { id: fails.id },
        data: { operation: { status: "failed", error: { code: "PROVIDER_QUOTA_EXCEEDED", message: expect.any(String) } } },
      },
    ]);
    // The request says, too, what came of it.
    expect(await list(`type=server.create&resource_id=${works.id}`)).toMatchObject([
      { operation_id: works.operation_id, data: success?.data },
    ]);
    expect(await list(`type=server.create&resource_id=${fails.id}`)).toMatchObject([
      { data: { operation: { id: fails.operation_id, status: "failed", error: { code: "PROVIDER_QUOTA_EXCEEDED" } } } },
    ]);
    const audit = await api.get("/events?type=server.create");
    const outcomes = await api.get("/events?class=outcomes&per_page=1");
    expect([audit.meta?.total, outcomes.meta?.total]).toEqual([2, 2]);
    expect(await list("class=audit&type=server.create.failed")).toEqual([]);

    const { api: blind } = await me.token(["settings:read"]);
    expect((await list("class=outcomes", blind)).map(({ data }) => data)).toEqual([null, null]);
    expect((await list("type=server.create", blind)).map(({ data }) => data)).toEqual([null, null]);
    expect((await api.get("/events?class=other")).error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "class" } });
    expect((await api.get("/events?type=a.b.c.d")).error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "type" } });
  });
});

test("a request whose operation is in progress says nothing yet of what came of it", async () => {
  const { id } = await seedInstance(me.id);
  const change = startChange(await getAccount(me.id));
  const caller = { account_id: me.id, type: "user", id: me.user.id, name: "", permissions: [], ip_address: null } as const;
  const by = { caller: { ...caller, permissions: [] }, requestId: "in-progress" };
  const { operation } = beginBackup({ change, by, operationId: newId("operation") }, await getInstance(me.id, id), {});
  await change.commit();
  const requested = async () => (await list("type=backup.create")).filter(({ request_id }) => request_id === "in-progress");
  expect(await requested()).toMatchObject([{ operation_id: operation.id, data: null }]);
  await endOperation(operation, { succeeded: true });
  expect(await requested()).toMatchObject([{ data: { operation: { id: operation.id, status: "succeeded", error: null } } }]);
});

test("a server that goes offline and comes back says both, once, also if two checks find it", async () => {
  const { id } = await seedServer(me.id);
  const probe = async (responded: boolean) => recordProbe(await getServer(me.id, id), { responded });
  for (let time = 1; time < FAILED_PROBES_MAX; time++) await probe(false);
  await Promise.all([probe(false), probe(false)]);
  await probe(false);
  await Promise.all([probe(true), probe(true)]);
  await probe(true);
  const events = await list(`class=outcomes&resource_id=${id}&order=asc`);
  expect(events.map(({ type, actor, data }) => [type, actor.type, data?.changes])).toEqual([
    ["server.offline", "service", [{ field: "status", before: "active", after: "offline" }]],
    ["server.online", "service", [{ field: "status", before: "offline", after: "active" }]],
  ]);
});

test("a certificate that begins to fail says so once, until it is valid again", async () => {
  const instance = await seedInstance(me.id, { domain: uniqueDomain() });
  const report = async (failing: boolean, domain = instance.domain): Promise<void> => {
    const server = await getServer(me.id, instance.server_id);
    const certificates = [{ instance_id: instance.id, domain, expires_at: null, failing }];
    const free = { disk_size_bytes: 100, disk_free_bytes: 50, memory_free_bytes: 50, uses: [] };
    const recorded = await recordReport(server, { ...free, certificates });
    if (recorded !== undefined)
      await Promise.all([recordCertificateEvents(server, recorded), recordCertificateEvents(server, recorded)]);
  };
  const times = async () => (await list(`type=certificate.failing&resource_id=${instance.id}`)).length;
  await report(true, "before.example.com");
  expect(await times()).toBe(0);
  await report(true);
  await report(true);
  expect(await times()).toBe(1);
  await report(false);
  await report(true);
  expect(await times()).toBe(2);
});

test("every event that this account has is of a type of the table, on the list of its class", async () => {
  for (const each of ["audit", "outcomes"] as const)
    for (const { type } of await list(`class=${each}`)) expect([type, EVENT_TYPES[type]?.class]).toEqual([type, each]);
});
