// How often pages ask the service: few requests a page, so that nobody who clicks quickly meets the rate limit, and one gate for all if they do.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { BASE_PATH } from "../../shared/api/index.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { changeOf, logEvent } from "../../shared/data/change.ts";
import { recordReport } from "../../shared/data/host-reports.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { bigAccount } from "./big-account.ts";
import { moveTo, test } from "./browser.ts";
import { title } from "./instance-page.ts";
import { PAGES, pathOf, type Things } from "./pages.ts";

/** A page's own requests, before the user scrolls or stays. */
const OWN_MAX = 3;
/** The overview, which every page follows. */
const SHELL = 1;

/** Twelve pages of the activity. */
const [EVENTS, EVENTS_AT_ONCE] = [300, 20];

let mine: TestAccount;
let things: Things;
beforeAll(async () => {
  ({ mine, things } = await bigAccount());
}, 120_000);

interface Seen {
  asked: string[];
  statuses: number[];
}

/** The page's requests to the API, and the statuses of their responses. */
function watchApi(page: Page): Seen {
  const seen: Seen = { asked: [], statuses: [] };
  const pathIn = (url: string): string | undefined => {
    const { pathname, search } = new URL(url);
    return pathname.startsWith(BASE_PATH) ? `${pathname.slice(BASE_PATH.length)}${search}` : undefined;
  };
  page.on("request", (request) => {
    const path = pathIn(request.url());
    if (path !== undefined) seen.asked.push(`${request.method()} ${path}`);
  });
  page.on("response", (response) => {
    if (pathIn(response.url()) !== undefined) seen.statuses.push(response.status());
  });
  return seen;
}

/** Until the page has asked for nothing more for a while; its own clock stands still, so that nothing is asked for because time passes. */
async function quiet(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(700);
}

test("no page asks more than three times, and the shell once", async ({ open }) => {
  const page = await open("/config.json", { as: mine, clock: true });
  const seen = watchApi(page);
  const counts: Record<string, string[]> = {};
  for (const shown of PAGES) {
    seen.asked.length = 0;
    await page.goto(pathOf(shown, things));
    await quiet(page);
    if (seen.asked.length > OWN_MAX + SHELL) counts[`${shown.route} loaded`] = [...seen.asked];
    seen.asked.length = 0;
  }
  for (const shown of PAGES) {
    seen.asked.length = 0;
    await moveTo(page, pathOf(shown, things));
    await quiet(page);
    if (seen.asked.length > OWN_MAX) counts[shown.route] = [...seen.asked];
  }
  expect(counts).toEqual({});
}, 240_000);

test("thirty pages in a row meet no rate limit, however quickly they follow each other", async ({ open }) => {
  const me = await account({ seeded: true }); // whose requests of the last minute are these alone
  const { id: server_id } = await seedServer(me.id);
  const instances = [];
  for (let n = 1; n <= 30; n++) instances.push(await seedInstance(me.id, { server_id, name: `Shop ${n}` }));
  const page = await open("/", { as: me, fresh: true });
  const seen = watchApi(page);
  for (const { id, name } of instances) {
    await moveTo(page, `/instances/${id}`);
    await title(page, name);
  }
  await page.waitForLoadState("networkidle");
  expect(seen.statuses.filter((status) => status === 429)).toEqual([]);
}, 240_000);

test("the activity is paged quickly without a rate limit: a page and the names on it are three requests at most", async ({
  open,
}) => {
  const me = await account({ seeded: true });
  for (let n = 0; n < EVENTS; n += EVENTS_AT_ONCE) {
    const change = changeOf(await getAccount(me.id));
    for (let at = n; at < n + EVENTS_AT_ONCE; at++) {
      const by = { operator: "Service operator", requestId: `request-${at}` };
      logEvent(change, by, "instance.update", { type: "instance", id: newId("instance"), name: `Long gone ${at}` });
    }
    await change.commit();
  }
  const page = await open("/activity", { as: me, fresh: true });
  await page.getByText(`Long gone ${EVENTS - 1}`).waitFor();
  await page.getByText("(deleted)").first().waitFor();
  const seen = watchApi(page);
  for (let n = 2; n <= 12; n++) {
    const shown = page.waitForResponse((response) => response.url().includes(`/events?page=${n}&`));
    await moveTo(page, `/activity?page=${n}`);
    await shown;
  }
  await page.waitForLoadState("networkidle");
  expect(seen.asked.length).toBeLessThanOrEqual(11 * OWN_MAX);
  expect(seen.statuses.filter((status) => status === 429)).toEqual([]);
});

test("what has not changed is asked for with its ETag, and not sent again; what a server reports arrives all the same", async ({
  open,
}) => {
  const me = await account({ seeded: true });
  const server = await seedServer(me.id, { name: "erp-1" });
  const page = await open("/config.json", { as: me, clock: true });
  await page.goto(`/servers/${server.id}`);
  await title(page, "erp-1");
  const seen = watchApi(page);
  await recordReport(server, { disk_free_bytes: 12_300_000_000, memory_free_bytes: 1_000_000_000, certificates: [] });
  await page.clock.runFor(61_000);
  await page.getByText("12.3 GB").first().waitFor();
  await expect.poll(() => seen.statuses.includes(304)).toBe(true);
});

test("what the rate limit rejects waits at one gate, and then goes on one by one", async ({ open }) => {
  const page = await open("/config.json", { as: mine, clock: true });
  let limited = true;
  let rejected = 0;
  const sent: string[] = [];
  await page.route(`**${BASE_PATH}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (!limited) {
      sent.push(pathname);
      return route.continue();
    }
    rejected++;
    return route.fulfill({
      status: 429,
      headers: { "retry-after": "50", "x-ratelimit-limit": "100", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "0" },
      json: { success: false, error: { code: "RATE_LIMIT_EXCEEDED", message: "Too many requests" } },
    });
  });
  await page.goto("/");
  await page.getByText("Too many requests").waitFor();
  for (const path of ["/servers", "/instances", "/backups", "/activity", "/"]) await moveTo(page, path);
  await page.clock.runFor(30_000);
  // Those that were already on their way when the first one was rejected.
  expect(rejected).toBeLessThanOrEqual(OWN_MAX);
  limited = false;
  await page.clock.runFor(30_000);
  await page.getByText("Too many requests").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "320 running instances" }).waitFor();
  expect(rejected).toBeLessThanOrEqual(OWN_MAX);
  expect(sent.length).toBeGreaterThan(0);
});
