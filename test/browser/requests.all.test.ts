// How often pages ask the service: few requests a page, so that nobody who clicks quickly meets the rate limit, and one gate for
// all if they do.
import type { Page, Request } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { newId } from "../../shared/domain/ids.ts";
import { REQUEST_LIMITS } from "../../shared/domain/limits.ts";
import { account, newPublicKey, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedDeploy, seedInstance, seedServer } from "../harness/seed.ts";
import { bigAccount } from "./big-account.ts";
import { moveTo, test } from "./browser.ts";
import { title } from "./instance-page.ts";
import { bulkAction, PAGES, pathOf, type Things } from "./pages.ts";

/** A page's own requests, however much of it is in view. */
const OWN_MAX = 3;
/** The requests that a page may make after a change of one record. */
const REFETCH_MAX = 1;
/** The overview, which every page follows. */
const SHELL = 1;

/** Twelve pages of the activity. */
const [EVENTS, EVENTS_AT_ONCE] = [300, 20];

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  ({ owner, things } = await bigAccount());
});

/** Shows every page whole. */
const TALL = { width: 1280, height: 4000 };

interface Traffic {
  requests: string[];
  statuses: number[];
  /** Those without a response yet, also for the page's own files: the next page's requests follow its code. */
  open: Set<Request>;
}

/** The page's requests to the API, and the statuses of their responses. */
function watchApi(page: Page): Traffic {
  const traffic: Traffic = { requests: [], statuses: [], open: new Set() };
  const pathIn = (url: string): string | undefined => {
    const { pathname, search } = new URL(url);
    return pathname.startsWith(BASE_PATH) ? `${pathname.slice(BASE_PATH.length)}${search}` : undefined;
  };
  page.on("request", (request) => {
    const path = pathIn(request.url());
    if (path !== undefined) traffic.requests.push(`${request.method()} ${path}`);
    traffic.open.add(request);
  });
  page.on("requestfinished", (request) => void traffic.open.delete(request));
  page.on("requestfailed", (request) => void traffic.open.delete(request));
  page.on("response", (response) => {
    if (pathIn(response.url()) !== undefined) traffic.statuses.push(response.status());
  });
  return traffic;
}

/**
 * Waits until each response is there and nothing more is asked for; the page's own clock stands still, so that nothing is asked
 * for because time passes.
 */
async function quiet(page: Page, traffic: Traffic): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  for (let count = -1; count !== traffic.requests.length || traffic.open.size > 0;) {
    count = traffic.requests.length;
    await page.waitForTimeout(700);
  }
}

test("no page asks more than three times, and the shell once", async ({ open }) => {
  const page = await open("/config.json", { as: owner, clock: true });
  await page.setViewportSize(TALL);
  const traffic = watchApi(page);
  const counts: Record<string, string[]> = {};
  const paths = PAGES.map((destination) => pathOf(destination, things));
  for (const path of paths) {
    traffic.requests.length = 0;
    await page.goto(path);
    await quiet(page, traffic);
    if (traffic.requests.length > OWN_MAX + SHELL) counts[`${path} loaded`] = [...traffic.requests];
    traffic.requests.length = 0;
  }
  for (const path of paths) {
    traffic.requests.length = 0;
    await moveTo(page, path);
    await quiet(page, traffic);
    if (traffic.requests.length > OWN_MAX) counts[path] = [...traffic.requests];
  }
  expect(counts).toEqual({});
});

test("nor does one whose records name others, or that a link opens with something chosen", async ({ open }) => {
  const me = await account();
  const server = await me.server({ name: "erp-1" });
  const instance = await me.instance({ name: "Shop", server_id: server.id });
  const backup = await me.backup(instance.id);
  const clone = await seedInstance(me.id, { server_id: server.id, name: "Staging", cloned_from_backup_id: backup.id });
  const page = await open("/config.json", { as: me, clock: true });
  await page.setViewportSize(TALL);
  const traffic = watchApi(page);
  await page.goto("/settings/account");
  await quiet(page, traffic);
  traffic.requests.length = 0;
  const counts: Record<string, string[]> = {};
  for (const path of [
    "/activity",
    "/",
    `/servers/${server.id}`,
    `/instances/${clone.id}`,
    `/servers/create?like=${server.id}`,
    `/instances/create?server=${server.id}`,
    `/instances/create?backup=${backup.id}`,
    `/instances/${instance.id}/clone?backup=${backup.id}`,
    `/backups?backup=${backup.id}`,
  ]) {
    traffic.requests.length = 0;
    await moveTo(page, path);
    await quiet(page, traffic);
    if (traffic.requests.length > OWN_MAX) counts[path] = [...traffic.requests];
  }
  expect(counts).toEqual({});
});

test("after a change, a page asks for what shows the changed record, and for nothing else", async ({ open }) => {
  const me = await account({ seeded: true });
  const server = await seedServer(me.id, { name: "erp-1" });
  const instance = await seedInstance(me.id, { name: "Shop", server_id: server.id });
  // Since when it is, Home asks the audit log, which every change adds to.
  await seedInstance(me.id, { name: "Late", server_id: server.id, protection_status: "overdue" });
  const backup = await seedBackup(instance);
  const session = await me.session();
  const page = await open("/config.json", { as: me, clock: true });
  await page.setViewportSize(TALL);
  const traffic = watchApi(page);
  const counts: Record<string, string[]> = {};
  let n = 0;
  const CHANGES = {
    instance: () => me.api.put(`/instances/${instance.id}`, { labels: { n: String(n++) } }),
    server: () => me.api.put(`/servers/${server.id}`, { labels: { n: String(n++) } }),
    "server's name": () => me.api.put(`/servers/${server.id}`, { name: `erp-${n++}` }),
    backup: () => me.api.put(`/backups/${backup.id}`, { note: `Note ${n++}` }),
    "SSH key": () => me.api.post("/ssh-keys", { name: `Key ${n++}`, public_key: newPublicKey() }),
    "API key": () => session.post("/tokens", { name: `Token ${n++}`, permissions: ["servers:read"] }),
    settings: () => me.api.put("/settings", { account_name: `Bakery ${n++}` }),
  };
  const operation = await bulkAction(me, instance.id);
  const webhook = await me.webhook();
  const deploy = await seedDeploy(instance, operation);
  for (const destination of PAGES.filter(({ route }) => route !== "*")) {
    const path = pathOf(destination, { server: server.id, instance: instance.id, operation, webhook, deploy });
    await page.goto(path);
    await quiet(page, traffic);
    for (const [name, change] of Object.entries(CHANGES)) {
      traffic.requests.length = 0;
      expect((await change()).status).toBeLessThan(300);
      await page.clock.runFor(31_000);
      await expect.poll(() => traffic.requests).toContain("GET /overview");
      await quiet(page, traffic);
      // What a server reports is asked for each minute anyway.
      const refetched = new Set(traffic.requests.filter((each) => each !== "GET /overview"));
      const where = `${path} after a change of ${name}`;
      if (refetched.size > REFETCH_MAX) counts[where] = [...refetched];
    }
  }
  expect(counts).toEqual({});
}, 900_000);

test("what the user changes on a page is one request, the overview, and what shows it", async ({ open }) => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id, { name: "Shop" });
  const page = await open("/config.json", { as: me, clock: true });
  await page.setViewportSize(TALL);
  const traffic = watchApi(page);
  await page.goto(`/instances/${instance.id}`);
  await quiet(page, traffic);
  await page.getByRole("button", { name: "Actions", exact: true }).click();
  await page.getByRole("menuitem", { name: "Edit details" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Shop 2");
  await quiet(page, traffic);
  traffic.requests.length = 0;
  await page.getByRole("button", { name: "Save" }).click();
  await title(page, "Shop 2");
  await page.clock.runFor(2_000);
  await quiet(page, traffic);
  const one = `/instances/${instance.id}`;
  expect(traffic.requests).toEqual([`PUT ${one}`, "GET /overview", `GET ${one}`]);
});

for (const of of ["instances", "kinds"])
  test(`thirty pages in a row, of different ${of}, meet no rate limit`, async ({ open }) => {
    const me = await account({ seeded: true }); // whose requests of the last minute are these alone
    const { id: server_id } = await seedServer(me.id);
    const instances = [];
    for (let n = 1; n <= 30; n++) instances.push(await seedInstance(me.id, { server_id, name: `Shop ${n}` }));
    const instance = instances[0]?.id ?? "";
    const operation = await bulkAction(me, instance);
    const deploy = await seedDeploy({ account_id: me.id, id: instance }, operation);
    const ownThings = { server: server_id, instance, operation, webhook: await me.webhook(), deploy };
    const kinds = PAGES.map((destination) => ({ path: pathOf(destination, ownThings), heading: destination.heading }));
    const pages = instances.map(({ id, name }) => ({ path: `/instances/${id}`, heading: new RegExp(`^${name}$`) }));
    const page = await open("/config.json", { as: me, clock: true });
    await page.setViewportSize(TALL);
    const traffic = watchApi(page);
    await page.goto("/settings/account");
    await quiet(page, traffic);
    traffic.requests.length = 0;
    for (const { path, heading } of (of === "kinds" ? [...kinds, ...pages] : pages).slice(0, 30)) {
      await moveTo(page, path);
      await title(page, heading);
      await quiet(page, traffic);
    }
    expect(traffic.statuses.filter((status) => status === 429)).toEqual([]);
    // However long it took: within a minute there would have been no more, but the polls of the overview.
    expect(traffic.requests.length).toBeLessThan(REQUEST_LIMITS.all - 3 * SHELL);
  });

test("the activity is paged quickly without a rate limit: a page and the names on it are three requests at most", async ({
  open,
}) => {
  const me = await account({ seeded: true });
  for (let n = 0; n < EVENTS; n += EVENTS_AT_ONCE) {
    const change = startChange(await getAccount(me.id));
    for (let at = n; at < n + EVENTS_AT_ONCE; at++) {
      const by = { operator: "Service operator", requestId: `request-${at}` };
      logEvent(change, by, "instance.update", { type: "instance", id: newId("instance"), name: `Long gone ${at}` });
    }
    await change.commit();
  }
  const page = await open("/activity", { as: me, fresh: true });
  await page.getByText(`Long gone ${EVENTS - 1}`).waitFor();
  await page.getByText("(deleted)").first().waitFor();
  const traffic = watchApi(page);
  for (let n = 2; n <= 12; n++) {
    const eventsResponse = page.waitForResponse((response) => response.url().includes(`/events?page=${n}&`));
    await moveTo(page, `/activity?page=${n}`);
    await eventsResponse;
  }
  await page.waitForLoadState("networkidle");
  expect(traffic.requests.length).toBeLessThanOrEqual(11 * OWN_MAX);
  expect(traffic.statuses.filter((status) => status === 429)).toEqual([]);
});

test("what has not changed is asked for with its ETag, and not sent again; what a server reports arrives all the same", async ({
  open,
}) => {
  const me = await account({ seeded: true });
  const server = await seedServer(me.id, { name: "erp-1" });
  const page = await open("/config.json", { as: me, clock: true });
  await page.goto(`/servers/${server.id}`);
  await title(page, "erp-1");
  const traffic = watchApi(page);
  await recordReport(server, { disk_free_bytes: 12_300_000_000, memory_free_bytes: 1_000_000_000, certificates: [] });
  await page.clock.runFor(61_000);
  await page.getByText("12.3 GB").first().waitFor();
  await expect.poll(() => traffic.statuses.includes(304)).toBe(true);
});

test("what the rate limit rejects waits at one gate, and then goes on one by one", async ({ open }) => {
  const page = await open("/config.json", { as: owner, clock: true });
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
