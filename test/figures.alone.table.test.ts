// What a request may cost: calls to DynamoDB and its capacity, starts of workflows, the size of a function. The figures are the
// project's own goals: a change that breaks one makes every request slower and more expensive.
import { beforeAll, expect, test } from "vitest";
import { routes } from "../shared/api/index.ts";
import { getAccount } from "../shared/records/accounts.ts";
import { beginBackup } from "../shared/operations/backups/begin-backup.ts";
import { startChange } from "../shared/data/change.ts";
import { getInstance } from "../shared/records/instances.ts";
import { reserveOperation } from "../shared/records/operations.ts";
import { endOperation } from "../shared/operations/work/operation-ends.ts";
import { getServer, moveServerToDeleting } from "../shared/records/servers.ts";
import { newId } from "../shared/domain/ids.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import { BUDGET } from "./figures/budget.ts";
import { account, type TestAccount, unique } from "./harness/account.ts";
import { type ApiResponse, type Client, anonymous } from "./harness/client.ts";
import { ownCloud } from "./harness/cloud.ts";
import type { TestCloud } from "./harness/facts.ts";
import { costIn } from "./harness/cost.ts";
import { holdForGood } from "./harness/held-work.ts";
import { some } from "./harness/some.ts";
import { seedInstance, seedServer } from "./harness/seed.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud();
  holdForGood(cloud);
  me = await account();
  for (const kind of ["server", "instance", "webhook"] as const) await setQuota(me.id, kind, 10_000);
});

const costOf = (id: string, request: () => Promise<ApiResponse>) => costIn(cloud, id, request);

const byRoute = Object.entries(BUDGET).map(([id, row]) => ({
  id,
  ...row,
  idempotent: routes.find((route) => route.id === id)?.idempotent ?? false,
}));
const tokens = new Map<string, Client>();

/** One token for an endpoint: with more than 100, their list takes one read more. A session may end with its request. */
async function clientFor(id: string): Promise<Client> {
  if (routes.find((route) => route.id === id)?.access === "session") return me.session(await me.anotherUser());
  const client = tokens.get(id) ?? (await me.token()).api;
  tokens.set(id, client);
  return client;
}

const requests = [
  ...some(byRoute, 4).map((row) => ({ ...row, how: "alone", keyed: false })),
  ...some(
    byRoute.filter(({ idempotent }) => idempotent),
    8,
  ).map((row) => ({
    ...row,
    how: "with an Idempotency-Key",
    keyed: true,
  })),
];

test.each(requests)(
  "$id $how costs 1 call in the authorizer and at most $calls in the handler",
  async ({ id, keyed, ...row }) => {
    const measure = async () => {
      const [request, api] = [await row.prepare(me), await clientFor(id)];
      const headers: Record<string, string> = keyed ? { "idempotency-key": unique("figures") } : {};
      return costOf(id, () => request(api, headers));
    };
    const first = await measure();
    const callsOf = ({ authorizer, handler }: typeof first) => [...authorizer, ...handler];
    const isWarm =
      first.authorizer.length === 1 &&
      first.handler.length <= row.calls &&
      callsOf(first).filter(({ error }) => error !== undefined).length === (row.misses ?? 0);
    // What a warm function has in memory (keys, catalog, the next slot) is not counted.
    const { response, authorizer, handler, starts } = isWarm ? first : await measure();
    expect(response.status, response.text).toBe(row.status);
    expect(authorizer.map(({ action }) => action)).toEqual(["UpdateItem"]);
    expect(handler.length, handler.map(({ action }) => action).join(", ")).toBeLessThanOrEqual(row.calls);
    expect(starts.map(({ action }) => action)).toEqual(Array.from({ length: row.starts ?? 0 }, () => "StartExecution"));
    const errors = [...authorizer, ...handler, ...starts].flatMap(({ error }) => error ?? []);
    expect(errors).toEqual(Array.from({ length: row.misses ?? 0 }, () => "ConditionalCheckFailedException"));
  },
);

test("a request that waits costs one call in the authorizer too, and polls seldom", async () => {
  const { api } = await me.token();
  const { id } = await seedServer(me.id);
  const operationId = newId("operation");
  const change = startChange(await getAccount(me.id));
  moveServerToDeleting(change, await getServer(me.id, id), operationId);
  const resource = { type: "server", id, name: "erp" } as const;
  reserveOperation(change, { operator: "test", requestId: "test" }, { id: operationId, type: "server.delete", resource });
  await change.commit();
  await api.get(`/operations/${operationId}`);
  const { authorizer, handler } = await costOf("operations.get", () => api.get(`/operations/${operationId}?wait=2`));
  expect(authorizer.map(({ action }) => action)).toEqual(["UpdateItem"]);
  const looks = handler.filter(({ action }) => action === "GetItem").length;
  expect([looks, handler.length]).toEqual([looks, looks + 1]);
  expect(looks).toBeLessThanOrEqual(6);
});

test("a page of a resource's operations costs one more call for the linked ones, however many there are", async () => {
  const { id } = await seedInstance(me.id);
  const caller = { account_id: me.id, type: "user", id: me.user.id, name: "", permissions: [], ip_address: null } as const;
  const by = { caller: { ...caller, permissions: [] }, requestId: "test" };
  for (let i = 0; i < 3; i++) {
    const instance = await getInstance(me.id, id);
    const change = startChange(await getAccount(me.id));
    const { operation } = beginBackup({ change, by, operationId: newId("operation") }, instance, {});
    await change.commit();
    await endOperation(operation, { succeeded: true });
  }
  await me.api.get(`/operations?resource_id=${id}`);
  const { response, handler } = await costOf("operations.list", () => me.api.get(`/operations?resource_id=${id}`));
  expect(response.meta?.total).toBe(3);
  expect(handler.map(({ action }) => action)).toEqual(["Query", "BatchGetItem"]);
});

test("a request that fails before any lookup costs no read", async () => {
  for (const token of [undefined, "nonsense", "svc_test_short", "svc_live_" + "a".repeat(36), "a.b.c"]) {
    const { response, authorizer, handler } = await costOf("servers.list", () =>
      anonymous.get("/servers", token === undefined ? {} : { token }),
    );
    expect(response.status).toBe(401);
    expect([authorizer, handler]).toEqual([[], []]);
  }
});

test("public endpoints cost no call", async () => {
  for (const [id, path] of [
    ["health.get", "/health"],
    ["openapi.get", "/openapi.json"],
  ] as const)
    expect(await costOf(id, () => anonymous.get(path))).toMatchObject({ authorizer: [], handler: [] });
});

test("a malformed request costs only the authorizer's call", async () => {
  await me.api.post("/servers", {});
  const { authorizer, handler } = await costOf("servers.create", () => me.api.post("/servers", {}));
  expect([authorizer.length, handler.length]).toEqual([1, 0]);
});
