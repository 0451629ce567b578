// Lists: pages of any length, by page or by cursor, with an exact total.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Operation } from "../shared/api/operations.ts";
import { account, type TestAccount, unusedId } from "./harness/account.ts";
import type { Client } from "./harness/client.ts";
import { seedAlert, seedBackup, seedDeploy, seedInstance, seedFactor, seedInvitation, seedServer } from "./harness/seed.ts";
import { listRoutes, pathAmong } from "./harness/requests.ts";
import { some } from "./harness/some.ts";
import { DEPLOY, SESSIONS_PER_USER } from "../shared/domain/limits.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";

/** More than two blocks of counts (32), so that pages start inside, at and beyond their edges. */
const RECORDS = 70;

let me: TestAccount;
let instanceId: string;
let operationId: string;
let webhookId: string;
let session: Client;

beforeAll(async () => {
  me = await account();
  await setQuota(me.id, "server", 1_000);
  await setQuota(me.id, "webhook", 100);
  const states = ["ready", "unreachable", "creating"] as const;
  for (let i = 0; i < RECORDS; i++) await seedServer(me.id, { state: states[i % 3] ?? "ready" });
  const server = await seedServer(me.id);
  const first = await seedInstance(me.id, { server_id: server.id });
  for (let i = 0; i < RECORDS; i++)
    await seedInstance(me.id, { server_id: server.id, state: i % 2 === 0 ? "running" : "stopped" });
  for (let i = 0; i < RECORDS; i++) await seedBackup(first, { state: i % 5 === 0 ? "failed" : "completed" });
  for (let i = 0; i < 30; i++) await seedAlert(server);
  for (let i = 0; i < 30; i++) await me.sshKey();
  for (let i = 0; i < 30; i++) await me.token();
  for (let i = 0; i < 30; i++) await me.webhook(0);
  for (let i = 0; i < 30; i++) await me.anotherUser();
  for (let i = 0; i < 30; i++) await seedInvitation(me);
  for (let i = 0; i < SESSIONS_PER_USER; i++) await me.session();
  for (let i = 0; i < DEPLOY.recordsMax; i++) await seedDeploy(first);
  for (let i = 0; i < 30; i++) await seedFactor(me.user.id);
  webhookId = await me.webhook(30);
  instanceId = first.id;
  const labels = { action: "set_labels", select: { type: "instance", filter: {} }, parameters: { remove: ["unused"] } };
  operationId = (await me.api.post("/bulk", labels)).as(Operation).id;
  session = await me.session();
  for (let i = 0; i < 30; i++) await session.put("/settings", { backup_retention_days: i + 1 });
});

/** How many there are at least, where that is fewer than 30. */
const LEAST: Record<string, number> = { "auth.listSessions": SESSIONS_PER_USER, "deploys.listOfInstance": DEPLOY.recordsMax };

const Listed = z.looseObject({ id: z.string() });
/** An alert is created when it opens. */
const timeOf = (record: z.infer<typeof Listed>): string => z.string().parse(record["created_at"] ?? record["opened_at"]);
/** What a bulk action makes of a resource has no ID of its own. */
const Item = z.object({ resource: z.looseObject({ id: z.string() }) }).transform(({ resource }) => resource);
const client = async (route: { access: unknown }) => (route.access === "session" ? me.session() : (await me.token()).api);
const idsOf = (response: Awaited<ReturnType<Client["get"]>>) => response.as(z.array(z.union([Listed, Item]))).map(({ id }) => id);

/** The record whose list a route has. */
const listPath = (route: { path: string }): string =>
  pathAmong(route, { instance: instanceId, operation: operationId, webhook: webhookId });

const lists = listRoutes.filter(({ id }) => id !== "operations.list").map((route, place) => ({ ...route, place }));
describe.each(lists)("$title", (route) => {
  const at = (query: string) => `${listPath(route)}?${query}`;

  const hasPages = async () => {
    const api = await client(route);
    const allIds: string[] = [];
    let total = 0;
    for (let page = 1; ; page++) {
      const response = await api.get(at(`page=${page}&per_page=7`));
      expect(response.meta).toMatchObject({ page, per_page: 7 });
      total = response.meta?.total ?? 0;
      allIds.push(...idsOf(response));
      if (idsOf(response).length < 7) break;
    }
    expect(total).toBeGreaterThanOrEqual(LEAST[route.id] ?? 30);
    expect(allIds).toHaveLength(total);
    expect(new Set(allIds).size).toBe(total);
    const hundred = await api.get(at("per_page=100"));
    expect(idsOf(hundred)).toEqual(allIds.slice(0, 100));
    if (route.id === "operations.items") return; // in the order of the selection
    const times = hundred.as(z.array(Listed)).map(timeOf);
    expect(times).toEqual(times.toSorted().toReversed());
  };

  const hasCursors = async () => {
    const api = await client(route);
    const byPage = idsOf(await api.get(at("per_page=100")));
    const walked: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const response: Awaited<ReturnType<Client["get"]>> = await api.get(
        at(`per_page=9${cursor === "" ? "" : `&cursor=${cursor}`}`),
      );
      walked.push(...idsOf(response));
      cursor = response.meta?.next_cursor ?? null;
    }
    expect(walked.slice(0, 100)).toEqual(byPage);
    expect(new Set(walked).size).toBe(walked.length);
  };

  const rejectsOthersCursors = async () => {
    const api = await client(route);
    const other = route.id === "servers.list" ? `/instances/${instanceId}/backups` : "/servers";
    const { next_cursor } = (await (await me.token()).api.get(`${other}?per_page=5`)).meta ?? {};
    expect(next_cursor).toEqual(expect.any(String));
    const response = await api.get(at(`cursor=${next_cursor}`));
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "cursor" } });
  };

  // The same code serves all lists: `npm test` shows one of these on each.
  const ways: [what: string, expectHeld: () => Promise<void>][] = [
    ["pages of any size return every record once, newest first, with the same total on each", hasPages],
    ["cursors return the same records, and the last one is null", hasCursors],
    ["a cursor of another list is invalid", rejectsOthersCursors],
  ];
  test.each(some(ways, ways.length, route.place))("%s", (_, expectHeld) => expectHeld());
});

const FILTERED: readonly (readonly [path: string, filter: string, total: number])[] = [
  ["/servers", "status=active", 25],
  ["/servers", "status=offline", 23],
  ["/servers", "status=provisioning", 23],
  ["/instances", "status=running", 36],
  ["/instances", "status=stopped", 35],
  ["/instances", "status=failed", 0],
  ["/backups", "status=completed", 56],
  ["/backups", "status=failed", 14],
  ["/instances/ID/backups", "status=failed", 14],
  ["/backups", "instance_id=ID", 70],
];

describe("filters", () => {
  test.each(some(FILTERED, 6))("%s?%s returns %i records by page and by cursor", async (path, filter, total) => {
    const { api } = await me.token();
    const at = (query: string) => `${path}?${filter}&${query}`.replace("ID", instanceId);
    const [name = "", value] = filter.replace("ID", instanceId).split("=");
    const paged: string[] = [];
    for (let page = 1; page <= Math.ceil(total / 10) + 1; page++) {
      const response = await api.get(at(`per_page=10&page=${page}`));
      expect(response.meta?.total).toBe(total);
      for (const record of response.as(z.array(Listed))) expect(record[name]).toBe(value);
      paged.push(...idsOf(response));
    }
    expect(new Set(paged).size).toBe(total);
    const walked: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const response: Awaited<ReturnType<Client["get"]>> = await api.get(
        at(`per_page=10${cursor === "" ? "" : `&cursor=${cursor}`}`),
      );
      walked.push(...idsOf(response));
      cursor = response.meta?.next_cursor ?? null;
    }
    expect(walked).toEqual(paged);
  });

  test("the list of a server's instances has these and no others", async () => {
    const server = await seedServer(me.id);
    const instance = await seedInstance(me.id, { server_id: server.id });
    const response = await me.api.get(`/instances?server_id=${server.id}`);
    expect(idsOf(response)).toEqual([instance.id]);
    expect(response.meta).toEqual({ page: 1, per_page: 20, total: 1, next_cursor: null });
    expect((await me.api.get(`/instances?server_id=${unusedId("server")}`)).meta?.total).toBe(0);
  });
});

test("an instance names its server, in every list and by itself, to whoever may read servers", async () => {
  const ownAccount = await account();
  const server = await seedServer(ownAccount.id, { name: "erp-1", state: "unreachable" });
  const [free, held] = [
    await seedInstance(ownAccount.id, { server_id: server.id }),
    await seedInstance(ownAccount.id, { server_id: server.id, operation_id: unusedId("operation") }),
  ];
  const WithServer = z.object({ server: z.unknown() });
  const serverFields = { server: { name: "erp-1", name_unicode: "erp-1", status: "offline" } };
  const { api } = await ownAccount.token(["instances:read"]);
  for (const query of ["", `?ids=${free.id},${held.id}`, `?server_id=${server.id}`, "?search=seeded"]) {
    expect((await ownAccount.api.get(`/instances${query}`)).as(z.array(WithServer)), query).toEqual([serverFields, serverFields]);
    expect((await api.get(`/instances${query}`)).as(z.array(WithServer)), query).toEqual([{ server: null }, { server: null }]);
  }
  expect((await ownAccount.api.get(`/instances/${free.id}`)).as(WithServer)).toEqual(serverFields);
  expect((await api.get(`/instances/${free.id}`)).as(WithServer)).toEqual({ server: null });
});
