// What a request may cost however many records an account has: calls to DynamoDB and their capacity.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Served } from "./harness/aws.ts";
import { account, type TestAccount } from "./harness/account.ts";
import type { ApiResponse } from "./harness/client.ts";
import { ownCloud } from "./harness/cloud.ts";
import type { TestCloud } from "./harness/facts.ts";
import { costIn } from "./harness/cost.ts";
import { holdForGood } from "./harness/held-work.ts";
import { seedInstance } from "./harness/seed.ts";
import { createdAt, seedManyInstances } from "./harness/seed-many.ts";

let cloud: TestCloud;
let me: TestAccount;
const RECORDS = 10_000;
beforeAll(async () => {
  cloud = await ownCloud();
  holdForGood(cloud);
  me = await account();
  // The records that the tests read: the newest, the first, and those in the middle.
  const isRead = (serial: number) => serial >= RECORDS - 200 || Math.abs(serial - RECORDS / 2) < 200 || serial < 50;
  await seedManyInstances(me.id, { count: RECORDS, isRead });
});

const costOf = (id: string, request: () => Promise<ApiResponse>) => costIn(cloud, id, request);
const capacityOf = (calls: readonly Served[]): number => calls.reduce((sum, call) => sum + (call.capacity ?? 0), 0);

describe("a page of 20 of 10,000 instances on 1,000 servers, filtered", () => {
  test.each([
    // Besides the counts, the page and its servers, a time needs the records around it.
    ["one filter", "status=running", 5_000, 3, 30],
    ["the oldest first", "order=asc", 10_000, 3, 30],
    ["dates, to now", `created_after=${createdAt(5_000)}`, 5_000, 4, 30],
    ["dates, from the first", `created_before=${createdAt(5_000)}`, 5_000, 4, 30],
    // Each label has a Query of its own, at the same time as the first of the entries.
    ["a label", "label=env:production", 3_334, 4, 200],
    ["two labels", "label=env:production&label=team:sales", 3_334, 5, 200],
    ["a search", "search=shop", 10_000, 3, 200],
    ["a search for one", "search=shop%209999", 1, 3, 200],
    ["sorted by name", "sort=name&order=asc&search=999", 11, 3, 200],
    ["all together", `status=stopped&label=env:staging&search=shop&created_after=${createdAt(9_800)}`, 66, 4, 200],
  ])("%s", async (_, query, total, calls, capacity) => {
    const { api } = await me.token();
    const { response, handler } = await costOf("instances.list", () => api.get(`/instances?${query}`));
    expect(response.meta).toMatchObject({ total });
    expect(response.meta).not.toHaveProperty("total_capped");
    expect(handler.length, handler.map(({ action }) => action).join(", ")).toBeLessThanOrEqual(calls);
    expect(capacityOf(handler)).toBeLessThanOrEqual(capacity);
  });

  test("beyond 10,000 matches the total is capped, and says so", async () => {
    const { api } = await me.token();
    const { id } = await seedInstance(me.id, { name: "Shop 10000" });
    const { meta } = await api.get("/instances?search=shop&per_page=1");
    expect(meta).toMatchObject({ total: 10_000, total_capped: true });
    expect((await api.get("/instances?search=10000")).as(z.array(z.object({ id: z.string() })))).toEqual([{ id }]);
  });

  test("a search across kinds, and the overview, which is asked all the time", async () => {
    const { api } = await me.token();
    const searchCost = await costOf("search.find", () => api.get("/search?q=shop%209998"));
    expect(searchCost.response.as(z.array(z.object({ name: z.string() })))).toEqual([{ name: "Shop 9998" }]);
    expect(searchCost.handler.length).toBeLessThanOrEqual(4);
    expect(capacityOf(searchCost.handler)).toBeLessThanOrEqual(190);
    const overviewCost = await costOf("overview.get", () => api.get("/overview"));
    expect(overviewCost.handler.map(({ action }) => action)).toEqual(["Query"]);
  });
});
