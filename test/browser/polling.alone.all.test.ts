// How often a page asks the service: seldom during an operation, and never without a reason.
import type { APIResponse, Page, Route } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { dashboard } from "../harness/dashboard.ts";
import { type Open, test } from "./browser.ts";
import { isShown, LOGIN, PAGES } from "./pages.ts";

// The sandbox is so slow that operations outlast the time of the test.
await ownCloud({ fallback: dashboard(), environment: { SANDBOX_TIME_SCALE: "100" }, timeScale: 1 });

const WATCHED_MS = 7_000;
const APART_MS = 2_000;
/** Far less than between two polls, so that each has its response before the next. */
const STEP_MS = 350;

const WATCHED = PAGES.filter(({ route }) => ["/", "/servers", "/instances", "/backups"].includes(route));

/** The moments, by the page's own clock, at which it asks the API; and how many responses have not arrived yet. */
const NOTE_REQUESTS = `{
  const send = window.fetch;
  window.asked = [];
  window.pending = 0;
  window.fetch = (request, options) => {
    if (new URL(request.url ?? request, location.href).pathname.startsWith(${JSON.stringify(BASE_PATH)})) asked.push(Date.now());
    pending++;
    return send(request, options).finally(() => void pending--);
  };
}`;

async function opened(open: Open, owner: TestAccount): Promise<Page[]> {
  const pages: Page[] = [];
  for (const { route } of WATCHED) {
    const page = await open("/config.json", { as: owner, clock: true }); // asks nothing
    await page.addInitScript(NOTE_REQUESTS);
    await page.goto(route);
    pages.push(page);
  }
  return pages;
}

const settled = (page: Page): Promise<void> => expect.poll(() => page.evaluate("pending")).toBe(0);

/**
 * Longer than half a minute, after which every page asks whether something has changed: the next time is not while the test
 * watches.
 */
const UNTIL_PAUSE_MS = 60_000;

/** Stops the page's time, which from now on goes on only in `askedMeanwhile`. */
async function pause(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.clock.pauseAt(Number(await page.evaluate("Date.now()")) + UNTIL_PAUSE_MS);
  // What that caused, and what its responses cause.
  for (let step = 0; step < 3; step++) {
    await settled(page);
    await page.clock.runFor(STEP_MS);
  }
  await settled(page);
}

/** The moments at which the page asks the API while nobody uses it. */
async function askedMeanwhile(page: Page, watchedMs = WATCHED_MS): Promise<number[]> {
  await page.evaluate("asked.length = 0");
  for (let passedMs = 0; passedMs < watchedMs; passedMs += STEP_MS) {
    await page.clock.runFor(STEP_MS);
    await settled(page);
  }
  return z.array(z.number()).parse(await page.evaluate("asked"));
}

const HIDE = `Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));`;

test("an operation that the user starts is followed immediately", async ({ open }) => {
  const owner = await account();
  const { id } = await seedInstance(owner.id);
  const page = await open(`/instances/${id}`, { as: owner, clock: true });
  await page.getByRole("button", { name: "Stop" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Stop" });
  await confirm.waitFor();
  // Time stands still: what waits for the next poll never comes.
  await page.clock.pauseAt(Number(await page.evaluate("Date.now()")) + UNTIL_PAUSE_MS);
  const asksForWork = page.waitForRequest((request) => request.url().includes(`${BASE_PATH}/operations?`));
  await confirm.click();
  await asksForWork;
  await page.clock.resume();
  await page.getByRole("progressbar", { name: "Stopping instance" }).first().waitFor();
});

test("a page polls every two seconds during an operation, and not at all without one or while it is hidden", async ({ open }) => {
  const owner = await account();
  const pages = await opened(open, owner);
  for (const [index, page] of pages.entries()) {
    await isShown(page, WATCHED[index] ?? LOGIN);
    await pause(page);
    expect(await askedMeanwhile(page), page.url()).toEqual([]);
  }
  await owner.api.post("/servers", await owner.serverBody());
  for (const [index, page] of pages.entries()) {
    await page.clock.resume();
    await page.reload();
    await isShown(page, WATCHED[index] ?? LOGIN);
    await pause(page);
    const times = await askedMeanwhile(page);
    expect(times.length, page.url()).toBeGreaterThan(1);
    const apart = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(Math.min(...apart), page.url()).toBeGreaterThanOrEqual(APART_MS);
    await page.evaluate(HIDE);
    await settled(page);
    expect(await askedMeanwhile(page), page.url()).toEqual([]);
  }
});

const MANY = 40;
const HALF_MINUTE_MS = 30_000;
/** The page's share of the 50 requests that a user may make in that time in all of their tabs. */
const REQUESTS_MAX = 30;

const AnyList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
const AnyOverview = z.looseObject({ data: z.looseObject({ revision: z.number(), revisions: z.record(z.string(), z.number()) }) });

/** Whole, also if the page has it already. */
const fetchAnew = (route: Route): Promise<APIResponse> =>
  route.fetch({ headers: { ...route.request().headers(), "if-none-match": "" } });

/** Makes the service say in each response that the bulk action has begun and ended something since the one before. */
async function keepBusy(page: Page, { id }: Operation): Promise<void> {
  let count = 0;
  const items = Array.from({ length: MANY }, () => unusedId("operation"));
  await page.route(`**${BASE_PATH}/operations?*`, async (route) => {
    const response = await fetchAnew(route);
    const list = AnyList.parse(await response.json());
    count = (count + 1) % MANY;
    const operation = list.data.find((each) => each.id === id);
    if (operation === undefined) return route.fulfill({ response });
    const counts = { total: MANY, waiting: MANY - count - 1, running: 1, succeeded: count };
    const { bulk, ...result } = z.looseObject({ bulk: z.looseObject({}) }).parse(operation["result"]);
    Object.assign(operation, { result: { ...result, bulk: { ...bulk, ...counts } } });
    const itemOperations = items.slice(0, count + 1).map((item, at) => ({
      ...operation,
      id: item,
      type: "instance.start",
      request_id: id,
      result: null,
      status: at < count ? "succeeded" : "running",
    }));
    await route.fulfill({ response, json: { ...list, data: [...itemOperations.toReversed(), ...list.data] } });
  });
  await page.route(`**${BASE_PATH}/overview`, async (route) => {
    const response = await fetchAnew(route);
    const { data, ...rest } = AnyOverview.parse(await response.json());
    const revisions = Object.fromEntries(Object.entries(data.revisions).map(([kind, revision]) => [kind, revision + count]));
    await route.fulfill({ response, json: { ...rest, data: { ...data, revision: data.revision + count, revisions } } });
  });
}

test("a bulk action in progress leaves room for other requests, on its own page and on the others", async ({ open }) => {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "instance", MANY);
  const { id: server_id } = await seedServer(owner.id);
  const ids: string[] = [];
  for (let n = 0; n < MANY; n++)
    ids.push((await seedInstance(owner.id, { server_id, operation_id: unusedId("operation"), state: "stopped" })).id);
  const started = (await (await owner.session()).post("/bulk", { action: "start", select: { ids } })).as(Operation);
  for (const route of [`/operations/${started.id}`, "/", "/instances"]) {
    const page = await open("/config.json", { as: owner, clock: true });
    await page.addInitScript(NOTE_REQUESTS);
    await keepBusy(page, started);
    await page.goto(route);
    await page.getByRole("progressbar").first().waitFor();
    await pause(page);
    const times = await askedMeanwhile(page, HALF_MINUTE_MS);
    expect(times.length, route).toBeLessThanOrEqual(REQUESTS_MAX);
    expect(times.length, route).toBeGreaterThan(5);
  }
});

test("a paused bulk action is seldom looked at", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedInstance(owner.id, { operation_id: unusedId("operation") });
  const api = await owner.session();
  const started = (await api.post("/bulk", { action: "stop", select: { ids: [id] } })).as(Operation);
  await api.post(`/operations/${started.id}/actions`, { action: "pause" });
  const page = await open("/config.json", { as: owner, clock: true });
  await page.addInitScript(NOTE_REQUESTS);
  await page.goto(`/operations/${started.id}`);
  await page.getByText("Paused").first().waitFor();
  await pause(page);
  expect((await askedMeanwhile(page, HALF_MINUTE_MS)).length).toBeLessThanOrEqual(6);
});
