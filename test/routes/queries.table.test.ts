// Queries: paging and filters of every list, with one invalid parameter at a time.
import { beforeAll, describe, expect, test } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { bodyOf, everyRoute, listRoutes, pathAmong, wholePathOf } from "../harness/requests.ts";
import { some } from "../harness/some.ts";
import { routeClients } from "../harness/route-clients.ts";
import { FILTERS } from "./filters.ts";

let me: TestAccount;
let instanceId: string;
let operationId: string;
let webhookId: string;
beforeAll(async () => {
  me = await account();
  const instance = await seedInstance(me.id);
  await seedBackup(instance);
  instanceId = instance.id;
  const labels = { action: "set_labels", select: { ids: [instanceId] }, parameters: { remove: ["unused"] } };
  operationId = (await me.api.post("/bulk", labels)).as(Operation).id;
  webhookId = await me.webhook();
});

const clientFor = routeClients(() => me);

/** What nobody has is no mistake in these. */
const ANY = ["search", "provider", "region", "size"];
describe.each(everyRoute.map((route, place) => ({ ...route, place })))("$title", (route) => {
  test("an unknown query parameter is rejected by name, empty or not", async () => {
    const unknown = [
      ["no_such", "no_such"],
      ["Wait=1", "Wait"],
      ["=1", ""],
      [`dry_run=${route.dryRun ? "yes" : "true"}`, "dry_run"],
    ] as const;
    const queries = some(unknown, unknown.length, route.place);
    const api = await clientFor(route, queries.length);
    for (const [query, field] of queries) {
      const fullPath = wholePathOf(route);
      const path = `${fullPath}${fullPath.includes("?") ? "&" : "?"}${query}`;
      const response = await api.send(route.method, path, bodyOf(route));
      expect(response.error, `${query}: ${response.text}`).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
    }
  });
});

/** The record whose list a route has. */
const listPath = (route: { path: string }): string =>
  pathAmong(route, { instance: instanceId, operation: operationId, webhook: webhookId });

describe.each(listRoutes.map((route, place) => ({ ...route, place })))("$title", (route) => {
  const path = () => listPath(route);
  const at = (query: string) => `${path()}?${query}`;
  const filters = FILTERS[route.title] ?? [];

  const WRONG: [query: string, field: string][] = [
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=1.5", "page"],
    ["page=one", "page"],
    ["page=", "page"],
    ["page=1e9", "page"],
    ["page=0x10", "page"],
    ["page=9999999999999999999999", "page"],
    ["page=1&page=2", "page"],
    ["per_page=0", "per_page"],
    ["per_page=101", "per_page"],
    ["per_page=all", "per_page"],
    ["per_page=", "per_page"],
    ["per_page=5&per_page=5", "per_page"],
    ["cursor=", "cursor"],
    ["cursor=nonsense", "cursor"],
    ["cursor=bnVsbA", "cursor"],
    ["cursor=W10", "cursor"],
    [`cursor=${"a".repeat(513)}`, "cursor"],
    ["page=1&cursor=abc", "cursor"],
    ["limit=5", "limit"],
    ["order=up", "order"],
    ["created_after=yesterday", "created_after"],
    ["created_before=2026-02-30", "created_before"],
    ["created_after=2026-11-20T12:00:00%2B24:00", "created_after"],
    ["__proto__=1", "__proto__"],
    ["constructor=1", "constructor"],
    ["Page=1", "Page"],
    ...filters.map((name): [string, string] => [`${name}=`, name]),
    ...filters.filter((name) => !ANY.includes(name)).map((name): [string, string] => [`${name}=no-such-value`, name]),
    ...filters.filter((name) => name !== "search").map((name): [string, string] => [`${name}=a%00b`, name]),
    ...(filters.includes("search")
      ? ([
          ["search=--", "search"],
          [`search=${"a".repeat(101)}`, "search"],
          ["search=a&search=b", "search"],
          [`label=${Array.from({ length: 17 }, (_, i) => `a:${i}`).join("&label=")}`, "label"],
        ] as [string, string][])
      : ([["sort=name", "sort"]] as [string, string][])),
    ...(filters.includes("status") ? [] : [["status=active", "status"] as [string, string]]),
  ];

  test("an invalid query parameter is named in the error", async () => {
    for (const [query, field] of some(WRONG, 24, route.place)) {
      const api = await clientFor(route, 1);
      const response = await api.get(at(query));
      expect(response.status, `${query}: ${response.text}`).toBe(422);
      expect(response.error, query).toMatchObject({ code: "VALIDATION_ERROR", details: { field } });
      expect(response.error?.details?.["errors"], query).toContainEqual({ field, reason: response.error?.details?.["reason"] });
    }
  });

  test("a list returns page 1 of 20 by default, and an empty page past the end", async () => {
    const api = await clientFor(route, 4);
    expect((await api.get(path())).meta).toMatchObject({ page: 1, per_page: 20 });
    expect((await api.get(at("page=1&per_page=100"))).meta).toMatchObject({ page: 1, per_page: 100 });
    const past = await api.get(at("page=1000000000"));
    expect(past.body).toMatchObject({ data: [], meta: { page: 1_000_000_000, per_page: 20, next_cursor: null } });
    expect(past.meta?.total).toBe((await api.get(path())).meta?.total);
  });
});

test.each(some(["wait=21", "wait=-1", "wait=x", "wait=", "wait=1&wait=1", "page=1"], 3))(
  "GET /operations/:id rejects %s",
  async (query) => {
    const response = await me.api.get(`/operations/op_01kag8w1s2e7tv8q4m5n6p7r8s?${query}`);
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: query.split("=")[0] } });
  },
);
