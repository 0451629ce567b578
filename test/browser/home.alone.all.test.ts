// The home page: counts, operations in progress, recent failures, and the steps to the first instance.
import type { Locator, Page } from "playwright-core";
import { beforeEach, describe, expect } from "vitest";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { evaluateAlert, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { countLowDisk } from "../../shared/operations/monitoring/disk-use.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { newId } from "../../shared/domain/ids.ts";
import type { OperationType } from "../../shared/domain/lifecycle.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { dashboard } from "../harness/dashboard.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedAlert, seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { dialog } from "./instance-page.ts";

const cloud = await ownCloud({ fallback: dashboard() });

let owner: TestAccount;
beforeEach(async () => {
  owner = await account();
});

const place = (page: Page): string => new URL(page.url()).pathname + new URL(page.url()).search;
const link = (page: Page, name: string): Locator => page.getByRole("link", { name, exact: true });
const main = (page: Page): Locator => page.locator("#main");

describe("a new account", () => {
  test("the home page leads a new account from its SSH key to its server to its first instance, protected", async ({ open }) => {
    const page = await open("/", { as: owner });
    await page.getByText("Launch and protect your first instance in four steps").waitFor();
    await expectAccessible(page);
    await main(page).getByRole("link", { name: "Add SSH key" }).click();
    await expect.poll(() => place(page)).toBe("/settings/ssh-keys");
    await owner.sshKey();
    await page.goto("/");
    await main(page).getByRole("link", { name: "Create server" }).click();
    await expect.poll(() => place(page)).toBe("/servers/create");
    await seedServer(owner.id);
    await page.goto("/");
    await main(page).getByRole("link", { name: "Create instance" }).click();
    await expect.poll(() => place(page)).toBe("/instances/create");
    const { id } = await seedInstance(owner.id);
    await page.goto("/");
    await main(page).getByRole("link", { name: "Set up automatic backups" }).click();
    await expect.poll(() => place(page)).toBe(`/instances/${id}`);
    await page.getByRole("button", { name: "Set up automatic backups" }).waitFor();
    await owner.api.put(`/instances/${id}/backup-policy`, { schedule: "0 2 * * *", keep: { daily: 7 } });
    await page.goto("/");
    await link(page, "1 running instance").waitFor();
    await page.getByText("Launch and protect your first instance in four steps").waitFor({ state: "detached" });
  });

  test("the first steps show that the server is being created, and where to look if that fails", async ({ open }) => {
    await seedServer(owner.id, { state: "create_failed" });
    const page = await open("/", { as: owner });
    await page.getByText("Your server is offline. Open it to see why.").waitFor();
    await link(page, "View servers").waitFor();
    await seedServer(owner.id, { state: "creating" });
    await page.reload();
    await page.getByText("Your server is being created. This takes a few minutes.").waitFor();
    const links = main(page).getByRole("link", { name: /^(View|Create)/ });
    await expect.poll(() => links.count()).toBe(0);
  });
});

test("home names the servers whose disk is low or almost full, the fullest first, in the user's language, and asks for servers only then", async ({
  open,
}) => {
  const [low, full] = [await seedServer(owner.id, { name: "erp-1" }), await seedServer(owner.id, { name: "erp-2" })];
  const report = async (server: ServerRecord, disk_free_bytes: number): Promise<void> => {
    const usual = { disk_size_bytes: 100_000_000_000, memory_free_bytes: 1_000_000_000, certificates: [], uses: [] };
    const recorded = await recordReport(server, { ...usual, disk_free_bytes });
    if (recorded !== undefined) await countLowDisk(server, recorded);
  };
  const paths: string[] = [];
  const page = await open("/config.json", { as: owner, fresh: true });
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  await page.goto("/");
  await page.getByText("Nothing in progress.").waitFor();
  expect(paths.filter((path) => path.startsWith(`${BASE_PATH}/servers`))).toEqual([]);
  await report(low, 14_000_000_000);
  await report(full, 4_000_000_000);
  await seedAlert(full);
  await page.goto("/");
  const disks = main(page).getByRole("listitem").filter({ hasText: " of 100 GB" });
  await expect
    .poll(() => disks.allTextContents())
    .toEqual(["Almost full: erp-2 4.00 GB of 100 GB free", "Low on space: erp-1 14.0 GB of 100 GB free"]);
  const needs = page.getByRole("list", { name: "Needs you" });
  await needs.getByRole("link", { name: "Show metrics: erp-2" }).waitFor();
  await expect.poll(() => needs.getByText("Disk almost full").count()).toBe(1); // what is only low can wait
  await needs.getByRole("listitem").filter({ hasText: "erp-2" }).locator("time").waitFor(); // since when
  expect(await page.getByText("Nothing needs you.").count()).toBe(0);
  await expectAccessible(page);
  await disks.getByRole("link", { name: "erp-2" }).click();
  await expect.poll(() => place(page)).toBe(`/servers/${full.id}`);
  const german = await open("/", { as: owner, locale: "de" });
  await german.getByText("Fast voll", { exact: true }).waitFor();
  await german.getByText("Wenig Platz", { exact: true }).waitFor();
});

test("open alerts need the user, with what was measured, and lead to what they are about; what the page says already is no entry", async ({
  open,
}) => {
  const server = await seedServer(owner.id, { name: "erp-1" });
  const shop = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
  const alerts = await readAlerts(owner.id);
  const ofServer = { type: "server", id: server.id, name: () => server.name } as const;
  const ofShop = { type: "instance", id: shop.id, name: () => shop.name } as const;
  await evaluateAlert(alerts, { ...ofServer, kind: "memory_free", measured: 3 });
  const page = await open("/", { as: owner });
  const entries = page.getByRole("list", { name: "Needs you" }).getByRole("listitem");
  await entries.filter({ hasText: "Memory low: erp-1" }).getByText("3% free (alert below 10%)").waitFor();
  await expectAccessible(page);
  await evaluateAlert(alerts, { ...ofShop, kind: "down", measured: 4 });
  await evaluateAlert(alerts, { ...ofShop, kind: "operation_failed", measured: true });
  await page.reload();
  await entries.filter({ hasText: "Not responding: Shop" }).getByText("4 minutes (alert from 3)").waitFor();
  await entries.getByRole("button", { name: "Restart: Shop" }).click();
  await dialog(page, "Restart Shop").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page, "Restart Shop").waitFor({ state: "detached" });
  await expect.poll(() => entries.filter({ hasText: "Operation failed" }).count()).toBe(0);
  await evaluateAlert(alerts, { ...ofServer, kind: "memory_free", measured: 50 });
  await evaluateAlert(alerts, { ...ofShop, kind: "down", measured: false });
  await page.reload();
  await page.getByText("Nothing needs you.").waitFor();
  await evaluateAlert(alerts, { ...ofServer, kind: "memory_free", measured: 3 });
  await page.reload();
  await entries.getByRole("link", { name: "Show metrics: erp-1" }).click();
  await expect.poll(() => place(page)).toBe(`/servers/${server.id}?tab=metrics`);
  await page.goBack();
  await entries.getByRole("link", { name: "erp-1", exact: true }).click();
  await expect.poll(() => place(page)).toBe(`/servers/${server.id}`);
  const late = await seedInstance(owner.id, { server_id: server.id, name: "Late", protection_status: "overdue" });
  await evaluateAlert(alerts, { type: "instance", id: late.id, name: () => late.name, kind: "backup_overdue", measured: true });
  const offline = await seedServer(owner.id, { name: "erp-2", state: "unreachable" });
  await page.goto("/");
  const overdue = entries.filter({ hasText: "Backup overdue: Late" });
  await overdue.locator("time").waitFor(); // since when: it has no last backup
  await overdue.getByRole("button", { name: "Back up Late now" }).waitFor();
  await entries.filter({ hasText: "Server offline: erp-2" }).getByRole("link", { name: "Show erp-2" }).click();
  await expect.poll(() => place(page)).toBe(`/servers/${offline.id}`);
});

describe("the counts", () => {
  test("the counts are per status, and link to the matching list", async ({ open }) => {
    const server = await seedServer(owner.id);
    await seedServer(owner.id, { state: "unreachable" });
    for (const state of ["running", "stopped", "stopped", "failed", "restoring"] as const)
      await seedInstance(owner.id, { server_id: server.id, state });
    const shop = await seedInstance(owner.id, { server_id: server.id });
    for (const state of ["completed", "completed", "completed", "failed"] as const) await seedBackup(shop, { state });
    const page = await open("/", { as: owner });
    for (const name of [
      "1 active server",
      "1 offline server",
      "2 running instances",
      "1 failed instance",
      "1 instance in progress",
      "3 completed backups",
      "1 failed backup",
    ])
      await link(page, name).waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: /^0 / }).count()).toBe(0); // such as those with an overdue backup
    await link(page, "2 stopped instances").click();
    await expect.poll(() => place(page)).toBe("/instances?status=stopped");
    await expect.poll(() => page.getByRole("row").count()).toBe(3); // plus the table's header
  });

  test("the counts are right even if there are more records than one page of the API", async ({ open }) => {
    const shop = await seedInstance(owner.id);
    for (let each = 0; each < 101; each++) await seedBackup(shop, { state: each < 2 ? "failed" : "completed" });
    const page = await open("/", { as: owner });
    await link(page, "99 completed backups").waitFor();
    await link(page, "2 failed backups").waitFor();
    await page.getByRole("heading", { name: "Backups (101)" }).waitFor();
  });
});

test("operations in progress are shown with their current step until they end", async ({ open }) => {
  await seedInstance(owner.id);
  const [begin, end] = [holdWork(cloud, "requestMachine"), holdWork(cloud, "prepareHost")];
  const server = (await owner.api.post("/servers", await owner.serverBody({ name: "erp-9" }))).as(Server);
  const page = await open("/", { as: owner });
  const bar = page.getByRole("progressbar", { name: /Creating server: erp-9/ });
  await bar.waitFor();
  await page.getByText(/^Started by/).waitFor();
  await link(page, "1 server in progress").waitFor();
  const first = Number(await bar.getAttribute("value"));
  begin();
  await expect.poll(async () => Number(await bar.getAttribute("value"))).toBeGreaterThan(first);
  await page.getByText("Waiting for the machine to start").waitFor();
  await expectAccessible(page);
  end();
  await owner.until(server.operation_id);
  await page.getByText("Nothing in progress.").waitFor();
  await link(page, "2 active servers").waitFor();
  const release = holdWork(cloud);
  const deletion = (await owner.api.delete(`/servers/${server.id}`)).as(Operation);
  await page.goto("/");
  await page.getByRole("progressbar", { name: /Deleting server: erp-9/ }).waitFor();
  release();
  await owner.until(deletion.id);
});

const HOME_REQUESTS_MAX = 6;

test("a recent failure shows the reason and the request ID, and links to the resource", async ({ open }) => {
  await seedInstance(owner.id);
  await seedInstance(owner.id);
  const failing = (await owner.api.post("/servers", await owner.serverBody({ name: "fail-quota" }))).as(Server);
  const { error, request_id } = await owner.until(failing.operation_id, "failed");
  const page = await open("/config.json", { as: owner }); // asks nothing
  const paths: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith(BASE_PATH)) paths.push(pathname);
  });
  await page.goto("/");
  await page.getByText("Couldn't create server").first().waitFor();
  await link(page, "fail-quota").waitFor();
  expect(paths.length, paths.join()).toBeLessThanOrEqual(HOME_REQUESTS_MAX);
  await page.getByText(error?.message ?? "no reason").waitFor();
  await page.getByText(`Request ID: ${request_id}`).waitFor();
  await expectAccessible(page);
  await link(page, "fail-quota").click();
  await page.getByRole("heading", { level: 1, name: "fail-quota" }).waitFor();
});

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** Adds a failed operation without an event, as if that were older than the account's latest hundred. */
async function seedFailure(
  type: OperationType,
  resource: Operation["resource"],
  message: string,
  endedAt: string,
  fields: Partial<OperationRecord> = {},
): Promise<void> {
  const change = startChange(await getAccount(owner.id));
  const id = newId("operation");
  const operation: OperationRecord = {
    id,
    account_id: owner.id,
    number: change.number("operation", id),
    type,
    state: "failed",
    progress: 0,
    step: null,
    step_code: null,
    resource,
    result: null,
    error: { code: "INTERNAL_ERROR", message },
    request_id: "long-ago",
    created_by: { type: "user", id: owner.user.id, name: owner.user.name },
    created_at: minutesAgo(600),
    started_at: minutesAgo(600),
    finished_at: endedAt,
    input: {},
    before: null,
    holds: [],
    uses_backup_id: null,
    concerns: [],
    ...fields,
  };
  change.add("operation", operation, { status: operation.state, parentId: resource.id });
  await change.commit();
}

test("what failed last needs the user: the same work on the same resource once, with its name", async ({ open }) => {
  const shop = await seedInstance(owner.id, { name: "Shop" });
  const uploaded = await seedBackup(shop, { kind: "uploaded", instance_id: null, instance_name: null });
  await seedFailure("backup.restore", { type: "instance", id: shop.id, name: "Shop" }, "It took hours", minutesAgo(1));
  for (const minutes of [9, 8, 7, 6])
    await seedFailure(
      "instance.restart",
      { type: "instance", id: shop.id, name: "Shop" },
      `Failed ${minutes} minutes ago`,
      minutesAgo(minutes),
    );
  await seedFailure(
    "backup.import",
    { type: "backup", id: uploaded.id, name: "Uploaded archive" },
    "It was no archive",
    minutesAgo(5),
  );
  const page = await open("/", { as: owner });
  const failures = main(page).getByRole("listitem").filter({ hasText: "Request ID" });
  await failures.first().getByText("It took hours").waitFor();
  await failures.filter({ hasText: "Failed 6 minutes ago" }).waitFor();
  await expect
    .poll(() => failures.getByText(/^(Shop|Uploaded archive)$/).allTextContents())
    .toEqual(["Shop", "Uploaded archive", "Shop"]);
});

test("an offline server needs the user even if its failure is not among those that the page shows", async ({ open }) => {
  const offline = await seedServer(owner.id, { name: "erp-9", state: "unreachable" });
  await seedFailure("server.reboot", { type: "server", id: offline.id, name: "erp-9" }, "It did not boot", minutesAgo(60));
  const server = await seedServer(owner.id);
  for (let n = 1; n <= 5; n++) {
    const { id, name } = await seedInstance(owner.id, { server_id: server.id, name: `Shop ${n}` });
    await seedFailure("instance.restart", { type: "instance", id, name }, "It hung", minutesAgo(n));
  }
  const page = await open("/", { as: owner });
  const needs = page.getByRole("list", { name: "Needs you" }).getByRole("listitem");
  await expect.poll(() => needs.filter({ hasText: "It hung" }).count()).toBe(5);
  await needs.filter({ hasText: "Server offline: erp-9" }).waitFor();
});

test.for([
  { newest: "instance.update", asks: 3 },
  { newest: "instance.restart", asks: 4 }, // of the failure's type, too
] as const)(
  "a failure that was mended before the newest hundred of $newest needs nobody, and few requests say so",
  async ({ newest, asks }, { open }) => {
    const server = await seedServer(owner.id);
    const of = (name: string, fields = {}) => seedInstance(owner.id, { server_id: server.id, name, ...fields });
    const [shop, cafe, depot, idle] = [
      await of("Shop", { last_backup_at: minutesAgo(200) }),
      await of("Cafe"),
      await of("Depot"),
      await of("Idle"),
    ];
    for (const { id, name } of [shop, cafe])
      await seedFailure("backup.create", { type: "backup", id: newId("backup"), name }, "No space left", minutesAgo(300), {
        concerns: [id],
      });
    const resource = { type: "instance", id: depot.id, name: "Depot" } as const;
    await seedFailure("instance.restart", resource, "It hung", minutesAgo(290));
    const succeeded = { state: "succeeded", error: null } as const;
    await seedFailure("instance.restart", resource, "", minutesAgo(280), succeeded);
    for (let n = 0; n < 101; n++)
      await seedFailure(newest, { type: "instance", id: idle.id, name: "Idle" }, "", minutesAgo(1), succeeded);
    const page = await open("/config.json", { as: owner, fresh: true });
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    const failures = main(page).getByRole("listitem").filter({ hasText: "Request ID" });
    // What is known already does not wait for the rest.
    await page.route(/resource_id=/, async (route) => {
      await failures.filter({ hasText: "Cafe" }).waitFor();
      await route.continue();
    });
    await page.goto("/");
    await failures.filter({ hasText: "Cafe" }).waitFor();
    await page.waitForLoadState("networkidle");
    await expect.poll(() => failures.count()).toBe(1);
    expect(paths.filter((path) => path === `${BASE_PATH}/operations`)).toHaveLength(asks);
    expect(paths.filter((path) => path === `${BASE_PATH}/instances`)).toHaveLength(1);
  },
);

test("an instance whose backup is overdue says since when, from the audit log if the account has no such alerts", async ({
  open,
}) => {
  const shop = await seedInstance(owner.id, { name: "Shop", protection_status: "overdue" });
  const change = startChange(await getAccount(owner.id));
  logEvent(change, { operator: "Service operator", requestId: "request" }, "instance.overdue", {
    type: "instance",
    id: shop.id,
    name: "Shop",
  });
  await change.commit();
  const page = await open("/", { as: owner });
  const needs = page.getByRole("list", { name: "Needs you" });
  const entry = needs.getByRole("listitem").filter({ hasText: "Backup overdue: Shop" });
  await entry.locator("time").waitFor();
});

test("a failed restore drill needs the user until a later one passes, with the newest backup to try", async ({ open }) => {
  const shop = await seedInstance(owner.id, { name: "Shop" });
  await seedBackup(shop, { note: "Before the inventory" });
  const alerts = await readAlerts(owner.id);
  const ofShop = { type: "instance", id: shop.id, name: () => shop.name } as const;
  await evaluateAlert(alerts, { ...ofShop, kind: "drill_failed", measured: true });
  const page = await open("/", { as: owner });
  const needs = page.getByRole("list", { name: "Needs you" });
  const entry = needs.getByRole("listitem").filter({ hasText: "Restore drill failed: Shop" });
  await entry.getByRole("button", { name: "Retry restore drill: Shop" }).click();
  const confirmation = page.getByRole("dialog", { name: /^Run restore drill: backup of Shop, / });
  await confirmation.getByText("Instances keep running").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await evaluateAlert(alerts, { ...ofShop, kind: "drill_failed", measured: false });
  await page.reload();
  await page.getByText("Nothing in progress.").waitFor();
  await expect.poll(() => entry.count()).toBe(0);
});

test("what failed on a resource that is deleted since needs nobody; the list of operations has the name that it had", async ({
  open,
}) => {
  await seedInstance(owner.id);
  const failing = (await owner.api.post("/servers", await owner.serverBody({ name: "fail-quota" }))).as(Server);
  await owner.until(failing.operation_id, "failed");
  const page = await open("/", { as: owner });
  await page.getByText("Couldn't create server").first().waitFor();
  await owner.until((await owner.api.delete(`/servers/${failing.id}`)).as(Operation).id);
  await page.reload();
  await page.getByText("Nothing needs you.").waitFor();
  await page.goto("/operations?status=failed");
  await page.locator(`a[href="/servers/${failing.id}"]`, { hasText: "fail-quota" }).waitFor();
});

test("the backups of the last nights: a row for each instance, those with trouble first, and what became of each day", async ({
  open,
}) => {
  const [shop, depot] = [await seedInstance(owner.id, { name: "Shop" }), await seedInstance(owner.id, { name: "Depot" })];
  await seedBackup(depot, { state: "completed", size_bytes: 5_000_000 });
  await seedBackup(shop, { state: "failed" });
  const page = await open("/", { as: owner });
  const rows = page.getByRole("table", { name: "Backups of the last 7 days" }).getByRole("row");
  await expect.poll(() => rows.getByRole("rowheader").allTextContents()).toEqual(["Shop", "Depot"]);
  await rows.filter({ hasText: "Depot" }).getByText("5.00 MB").waitFor();
  const [drill = ""] = (await rows.filter({ hasText: "Depot" }).getByRole("cell").allTextContents()).slice(-2);
  expect(drill).toBe("–"); // older backups may have been drilled
  await rows
    .filter({ hasText: "Shop" })
    .getByTitle(/failed$/)
    .waitFor();
  expect(await rows.filter({ hasText: "Shop" }).getByTitle("none", { exact: true }).count()).toBe(6);
  await main(page).getByText("restore drill failed").waitFor(); // what its sign means
  await expectAccessible(page);
  await rows
    .filter({ hasText: "Shop" })
    .getByRole("link", { name: /failed$/ })
    .click();
  await expect.poll(() => place(page)).toMatch(/^\/backups\?backup=/);
});

test("the backups of the last nights are in view at once, by one request however many instances there are, until somebody closes them", async ({
  open,
}) => {
  const server = await seedServer(owner.id);
  for (let n = 1; n <= 25; n++) await seedBackup(await seedInstance(owner.id, { server_id: server.id, name: `Shop ${n}` }));
  const page = await open("/config.json", { as: owner, fresh: true });
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  await page.goto("/");
  const nights = page.getByRole("table", { name: "Backups of the last 7 days" });
  await expect.poll(() => nights.getByRole("rowheader").count()).toBe(20);
  expect(paths.filter((path) => /\/(backups|overview\/nights)$/.test(path))).toEqual([`${BASE_PATH}/overview/nights`]);
  await page.getByRole("button", { name: "Show all 25 instances" }).click();
  await expect.poll(() => nights.getByRole("rowheader").count()).toBe(25);
  await page.getByRole("button", { name: "Close the backups of the last 7 days" }).click();
  const opener = page.getByRole("button", { name: /^Backups of the last 7 days/ });
  await opener.waitFor();
  await page.reload();
  await opener.click();
  await nights.getByRole("rowheader").first().waitFor();
  await page.reload();
  await nights.getByRole("rowheader").first().waitFor();
});

test("the home page fits a phone: nothing is cut off and everything is there", async ({ open }) => {
  await seedInstance(owner.id);
  const page = await open("/", { as: owner, phone: true });
  await link(page, "1 running instance").waitFor();
  await page.getByText("Nothing needs you.").waitFor();
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
});

test("if the service is down the home page says so, and loads it by itself", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  await seedInstance(owner.id);
  const page = await open("/settings/account", { as: owner });
  await page.route("**/api/v1/overview", (route) => route.abort());
  await page.goto("/");
  await page.getByText("Can't reach the service").waitFor();
  await page.unrouteAll();
  await link(page, "1 running instance").waitFor();
});
