// Finding one of many in the dashboard: the search in the top bar, and lists that are searched, filtered and sorted.
import { buffer } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { newId } from "../../shared/domain/ids.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { seedManyInstances } from "../harness/seed-many.ts";
import { expectAccessible } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, dialog, title } from "./instance-page.ts";

const MANY = 320;
/** A spreadsheet would run it. */
const HOSTILE = '=HYPERLINK("https://example.com","x")';
let big: TestAccount;

beforeAll(async () => {
  big = await account({ seeded: true });
  await setQuota(big.id, "instance", MANY);
  const server = await seedServer(big.id, { name: "erp-1" });
  for (let i = 0; i < MANY; i++) {
    const fields = {
      server_id: server.id,
      name: i === 319 ? HOSTILE : `Shop ${i}`,
      labels: { env: i % 2 === 0 ? "production" : "staging" },
    };
    const instance = await seedInstance(big.id, fields);
    if (i === 7) await seedBackup(instance, { note: "Before the move" });
  }
});

test("any of 10,000 instances is found in three actions, with the keyboard", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedManyInstances(owner.id, { count: 10_000, isRead: (index) => index === 7317 });
  const page = await open("/", { as: owner });
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.locator("#main").focus();
  await page.keyboard.press("/");
  await page.keyboard.type("shop 7317");
  await expect
    .poll(() => page.getByRole("option", { name: /Shop/ }).allTextContents())
    .toEqual([expect.stringContaining("Shop 7317")]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await title(page, "Shop 7317");
});

test("Enter opens the first match, also before it is found, and leads nowhere without one", async ({ open }) => {
  const page = await open("/instances?find=shop", { as: big });
  const field = page.getByRole("combobox", { name: "Search" });
  await field.fill("shop 310");
  await page.getByRole("option", { name: /Shop 310/ }).waitFor();
  await field.press("Enter");
  await title(page, "Shop 310");
  await field.fill("shop 311");
  await field.press("Enter");
  await title(page, "Shop 311");
  const before = page.url();
  await field.fill("no such thing");
  await page.getByText("No matches").first().waitFor();
  await field.press("Enter");
  expect(await field.inputValue()).toBe("no such thing");
  expect(page.url()).toBe(before);
  await moveTo(page, "/instances?find=shop");
  await title(page, "Instances");
  await field.fill("");
  await field.press("Enter");
  expect(new URL(page.url()).search).toBe("?find=shop");
});

test("a pasted address of an ERP finds its instance", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Wiki" });
  const page = await open("/", { as: owner });
  await page.getByRole("combobox", { name: "Search" }).fill(`https://${instance.domain}/web`);
  await page.getByRole("option", { name: /Wiki/ }).click();
  await title(page, "Wiki");
});

test("the rows of an earlier filter cannot be selected", async ({ open }) => {
  const page = await open("/instances", { as: big });
  const all = page.getByRole("checkbox", { name: "Select all instances on this page" });
  await expect.poll(() => all.isEnabled()).toBe(true);
  const { promise, resolve: go } = Promise.withResolvers<void>();
  await page.route(/search=shop/, async (route) => {
    await promise;
    await route.fallback();
  });
  await page.getByLabel("Find instances").fill("shop 310");
  await expect.poll(() => all.isDisabled()).toBe(true);
  go();
  await page.getByRole("heading", { name: "Instances (1)" }).waitFor();
  await expect.poll(() => all.isEnabled()).toBe(true);
});

test("a backup is found by its note, and a page by what is done there", async ({ open }) => {
  const page = await open("/", { as: big });
  await page.getByRole("combobox", { name: "Search" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("before the");
  await page.getByRole("option", { name: /Before the move/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("create instance");
  await page.getByRole("option", { name: "Create instance" }).click();
  await title(page, "Create instance");
  await page.locator("#main input:focus").waitFor(); // the form is there
  for (const name of ["Alert settings", "Webhooks"]) {
    await page.getByRole("combobox", { name: "Search" }).fill(name.toLowerCase());
    await page.getByRole("option", { name, exact: true }).click();
    await title(page, name);
  }
});

test("the search acts on an instance: before or after its name, one types what is to be done", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id, domain, admin_email, server_ip } = await seedInstance(owner.id, { name: "Wiki" });
  const page = await open("/", { as: owner });
  const field = page.getByRole("combobox", { name: "Search" });
  await field.fill("restart wiki");
  await page.getByRole("option", { name: /^Restart Wiki/ }).waitFor();
  await field.press("Enter");
  await dialog(page, "Restart Wiki").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page, "Restart Wiki").waitFor({ state: "detached" });
  await expect.poll(() => page.url().replace(/^.*(?=\/instances)/, "")).toBe(`/instances/${id}`);
  await field.fill(`policy of ${domain}`);
  await page.getByRole("option", { name: /^Backup policy of Wiki/ }).click();
  await dialog(page, "Backup policy of Wiki").waitFor();
  await page.keyboard.press("Escape");
  await field.fill("wiki clone");
  await page.getByRole("option", { name: /^Clone Wiki/ }).click();
  await title(page, "Clone Wiki");
  await field.fill(`  ${id} `);
  await page.getByRole("option", { name: /^Wiki/ }).waitFor();
  for (const typed of ["restart iki", "iki", ` ${admin_email} `, server_ip ?? ""]) {
    await field.fill(typed);
    await page.getByRole("option", { name: /Wiki/ }).first().waitFor();
  }
  await seedInstance(owner.id, { name: "Depot" });
  for (const name of ["Wiki", "Depot"]) {
    await field.fill("back up"); // of the instance that is open, and of the newest ones
    await page.getByRole("option", { name: new RegExp(`^Back up ${name}`) }).waitFor();
  }
  await field.fill("wiki back up");
  await page.getByRole("option", { name: /^Back up Wiki/ }).click();
  await dialog(page, "Back up Wiki").waitFor();
});

test("instances are filtered by what their list can show, in a URL, and filters are saved under a name", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-2" });
  await seedInstance(owner.id, { name: "Fresh", server_id: server.id, last_backup_at: new Date().toISOString() });
  await seedInstance(owner.id, { name: "Stale", server_id: server.id, last_backup_at: "2026-01-01T00:00:00.000Z" });
  await seedInstance(owner.id, { name: "Elsewhere", edition: "enterprise" });
  const page = await open("/instances", { as: owner });
  const names = () => page.getByRole("rowheader").getByRole("link").allTextContents();
  await expect.poll(names).toHaveLength(3);
  await button(page, "More filters").click();
  await button(page, /^Filter by server/).click();
  await page.getByRole("option", { name: "erp-2" }).click();
  await expect.poll(async () => (await names()).toSorted()).toEqual(["Fresh", "Stale"]);
  await button(page, /^Filter by last backup/).click();
  await page.getByRole("option", { name: "No backup for 7 days" }).click();
  await expect.poll(names).toEqual(["Stale"]);
  await expect.poll(() => new URL(page.url()).search).toBe(`?server=${server.id}&older=7`);
  await expectAccessible(page);

  await button(page, "Saved filters").click();
  await page.getByRole("menuitem", { name: "Save these filters…" }).click();
  const form = dialog(page, "Save filters");
  await form.getByLabel("Name").fill("Stale on erp-2");
  await expectAccessible(page);
  await button(form, "Save").click();
  await page.goto("/instances");
  await expect.poll(names).toHaveLength(3);
  await button(page, "Saved filters").click();
  await page.getByRole("menuitem", { name: "Stale on erp-2", exact: true }).click();
  await expect.poll(names).toEqual(["Stale"]);
  await button(page, "Saved filters").click();
  await page.getByRole("menuitem", { name: "Remove “Stale on erp-2”" }).click();
  await button(page, "Saved filters").click();
  await expect.poll(() => page.getByRole("menuitem").allTextContents()).toEqual(["Save these filters…"]);
  await page.keyboard.press("Escape");
  await moveTo(page, "/instances?edition=enterprise");
  await expect.poll(names).toEqual(["Elsewhere"]);
  for (const name of ["Servers", "Backups", "Instances"]) {
    await moveTo(page, `/${name.toLowerCase()}`);
    await title(page, new RegExp(`^${name}`));
    await button(page, "More filters").click();
    await page.getByLabel("Created from").fill("2026-01-01T10:30");
    await page.getByLabel("Created until").fill("2026-01-01T11:00");
    await page.getByText("No matches for this filter.").waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("?from=2026-01-01T10%3A30Z&to=2026-01-01T11%3A00Z");
  }
  await moveTo(page, "/operations?status=failed");
  await title(page, "Operations");
  await button(page, "Saved filters").click();
  await expect.poll(() => page.getByRole("menuitem", { name: "Save these filters…" }).isEnabled()).toBe(true);
});

test("filters that somebody has saved are theirs alone, and no other tab overwrites them", async ({ open }) => {
  const [owner, other] = [await account({ seeded: true }), await account({ seeded: true })];
  await seedInstance(owner.id, { name: "Shop" });
  const page = await open("/instances?edition=community", { as: owner, fresh: true });
  const second = await page.context().newPage();
  await second.goto("/instances?edition=enterprise");
  for (const [tab, name] of [
    [page, "Of the first tab"],
    [second, "Of the second tab"],
  ] as const) {
    await button(tab, "Saved filters").click();
    await tab.getByRole("menuitem", { name: "Save these filters…" }).click();
    await dialog(tab, "Save filters").getByLabel("Name").fill(name);
    await button(dialog(tab, "Save filters"), "Save").click();
    await dialog(tab, "Save filters").waitFor({ state: "detached" });
  }
  await page.reload();
  await button(page, "Saved filters").click();
  for (const name of ["Of the first tab", "Of the second tab"]) await page.getByRole("menuitem", { name, exact: true }).waitFor();
  await second.close();
  const storage = z.record(z.string(), z.string()).parse(await page.evaluate("({ ...localStorage })"));
  const otherPage = await open("/instances?edition=community", { as: other, fresh: true });
  const filters = Object.entries(storage).filter(([key]) => key.startsWith("filters"));
  expect(filters).toHaveLength(1);
  for (const each of filters) await otherPage.evaluate(`localStorage.setItem(...${JSON.stringify(each)})`);
  await otherPage.reload();
  await button(otherPage, "Saved filters").click();
  await expect.poll(() => otherPage.getByRole("menuitem").allTextContents()).toEqual(["Save these filters…"]);
});

test("a link with times and days means the same in another time zone, and an old one without a zone still works", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  await seedInstance(owner.id, { name: "Shop" });
  const [berlin, tokyo] = [
    await open("/operations", { as: owner, zone: "Europe/Berlin", fresh: true }),
    await open("/config.json", { as: owner, zone: "Asia/Tokyo", fresh: true }),
  ];
  const arrives = (page: Page, query: string) =>
    page.waitForRequest((request) => decodeURIComponent(request.url()).includes(query));
  const from = arrives(berlin, "created_after=2026-01-01T09:30:00.000Z");
  await berlin.getByLabel("From", { exact: true }).fill("2026-01-01T10:30");
  await from;
  const again = arrives(tokyo, "created_after=2026-01-01T09:30:00.000Z");
  await tokyo.goto(berlin.url());
  await again;
  await expect.poll(() => tokyo.getByLabel("From", { exact: true }).inputValue()).toBe("2026-01-01T18:30");
  const old = arrives(tokyo, "created_after=2026-01-01T01:30:00.000Z");
  await tokyo.goto("/operations?from=2026-01-01T10%3A30");
  await old;

  await moveTo(berlin, "/activity");
  const day = arrives(berlin, "created_after=2026-03-28T23:00:00.000Z&created_before=2026-03-29T22:00:00.000Z");
  await berlin.getByLabel("Filter by day").fill("2026-03-29"); // on which clocks go forward
  await day;
  const sameDay = arrives(tokyo, "created_after=2026-03-28T23:00:00.000Z");
  await tokyo.goto(berlin.url());
  await sameDay;
  await expect.poll(() => tokyo.getByLabel("Filter by day").inputValue()).toBe("2026-03-29");
  const oldDay = arrives(tokyo, "created_after=2026-03-28T15:00:00.000Z&created_before=2026-03-29T15:00:00.000Z");
  await tokyo.goto("/activity?day=2026-03-29");
  await oldDay;
});

test("words with a colon are searched for, unless they are a label", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedInstance(owner.id, { name: "fix: prices", labels: { env: "production" } });
  const page = await open("/instances", { as: owner });
  const asks = async (typed: string): Promise<Record<string, string[]>> => {
    const sent = page.waitForRequest((request) => /\/instances\?.*(search|label)=/.test(request.url()));
    await page.getByLabel("Find instances").fill(typed);
    const { searchParams } = new URL((await sent).url());
    return { search: searchParams.getAll("search"), label: searchParams.getAll("label") };
  };
  expect(await asks("fix: prices")).toEqual({ search: ["fix: prices"], label: [] });
  await page.getByRole("link", { name: "fix: prices" }).first().waitFor();
  expect(await asks("203.0.113.7:22")).toEqual({ search: ["203.0.113.7:22"], label: [] });
  expect(await asks("2001:db8::7")).toEqual({ search: ["2001:db8::7"], label: [] });
  expect(await asks("prices env:production")).toEqual({ search: ["prices"], label: ["env:production"] });
});

test("servers are filtered by region and size, backups by kind and drill, and a label in a list filters it, blanks and all", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1", region: "eu-central", size: "small" });
  await seedServer(owner.id, { name: "erp-2", region: "us-east", size: "small", labels: { owner: "Team North" } });
  const shop = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
  const drill = { status: "failed" as const, at: new Date().toISOString(), checks: [] };
  await seedBackup(shop, { note: "Torn", drill, labels: { owner: "Team North" } });
  await seedBackup(shop, { note: "Nightly", kind: "scheduled" });
  const page = await open("/servers", { as: owner });
  const rows = () => page.getByRole("row").getByRole("rowheader").allTextContents();
  await expect.poll(rows).toHaveLength(2);
  await button(page, "More filters").click();
  await button(page, /^Filter by region/).click();
  await page.getByRole("option", { name: "us-east" }).click();
  await button(page, /^Filter by size/).click();
  await page.getByRole("option", { name: "small" }).click();
  await expect.poll(rows).toEqual(["erp-2"]);
  await expect.poll(() => new URL(page.url()).search).toBe("?region=us-east&size=small");
  await moveTo(page, "/servers");
  await expect.poll(rows).toHaveLength(2);
  await button(page, "owner: Team North").click();
  await expect.poll(rows).toEqual(["erp-2"]);
  await expect.poll(() => new URL(page.url()).search).toBe("?label=owner%3ATeam+North");
  await expectAccessible(page);
  await button(page, "Only label owner: Team North").click();
  await expect.poll(rows).toHaveLength(2);
  await moveTo(page, "/backups?kind=scheduled");
  await page.getByRole("row").filter({ hasText: "Nightly" }).waitFor();
  await expect.poll(rows).toHaveLength(1);
  await button(page, /^Filter by kind/).click();
  await page.getByRole("option", { name: "Any kind" }).click();
  await button(page, /^Filter by restore drill/).click();
  await page.getByRole("option", { name: "Drill failed" }).click();
  await page.getByRole("row").filter({ hasText: "Torn" }).waitFor();
  await expect.poll(rows).toHaveLength(1);
  await expect.poll(() => new URL(page.url()).search).toBe("?drill=failed");
});

test("backups are filtered by their instance, which a link may name, too, also where it was deleted", async ({ open }) => {
  const owner = await account({ seeded: true });
  const [shop, depot] = [await seedInstance(owner.id, { name: "Shop" }), await seedInstance(owner.id, { name: "Depot" })];
  const deleted = { ...depot, id: newId("instance") };
  for (const instance of [shop, depot, deleted]) await seedBackup(instance, { note: `Of ${instance.id}` });
  const page = await open("/backups", { as: owner });
  const only = async (instanceId: string) => {
    await page
      .getByRole("row")
      .filter({ hasText: `Of ${instanceId}` })
      .waitFor();
    await expect.poll(() => page.getByRole("row").getByRole("rowheader").count()).toBe(1);
  };
  await button(page, "More filters").click();
  await button(page, /^Filter by instance/).click();
  await page.getByRole("option", { name: "Depot" }).click();
  await only(depot.id);
  await expect.poll(() => new URL(page.url()).search).toBe(`?instance=${depot.id}`);
  await expectAccessible(page);
  await moveTo(page, `/backups?instance=${deleted.id}`);
  await only(deleted.id);
  await button(page, /^Filter by instance.*\(deleted\)/).waitFor();
  await moveTo(page, `/instances/${shop.id}?tab=backups`);
  await button(page, "More filters").click();
  await button(page, /^Filter by kind/).waitFor();
  expect(await button(page, /^Filter by instance/).count()).toBe(0);
});

test("servers are filtered by instances, free disk space and memory, backups by lock and size, in the page's address", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const [full, roomy] = [await seedServer(owner.id, { name: "full" }), await seedServer(owner.id, { name: "roomy" })];
  await seedServer(owner.id, { name: "unreported" });
  const free = { certificates: undefined, memory_free_bytes: 500_000_000 };
  await recordReport(full, { ...free, disk_free_bytes: 3_000_000_000 });
  await recordReport(roomy, { ...free, disk_free_bytes: 30_000_000_000 });
  const shop = await seedInstance(owner.id, { server_id: full.id, name: "Shop" });
  await seedBackup(shop, { note: "Kept", locked: true });
  await seedBackup(shop, { note: "Huge", size_bytes: 7_000_000_000 });
  const page = await open("/servers", { as: owner });
  const rows = async () => (await page.getByRole("row").getByRole("rowheader").allTextContents()).toSorted();
  const choose = async (filter: RegExp, option: string) => {
    await button(page, filter).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  await expect.poll(rows).toHaveLength(3);
  await button(page, "More filters").click();
  await choose(/^Filter by free memory/, "Less than 1 GB of memory free");
  await expect.poll(rows).toEqual(["full", "roomy"]);
  await choose(/^Filter by free disk space/, "Less than 10 GB of disk space free");
  await expect.poll(rows).toEqual(["full"]);
  await expect.poll(() => new URL(page.url()).search).toBe("?memory=1&disk=10");
  await expectAccessible(page);
  await moveTo(page, "/servers?instances=1&disk=51");
  await expect.poll(rows).toEqual(["roomy", "unreported"]);

  await moveTo(page, "/backups");
  await page.getByRole("row").filter({ hasText: "Huge" }).waitFor();
  await button(page, "More filters").click();
  await choose(/^Filter by lock/, "Not locked");
  await expect.poll(rows).toHaveLength(1);
  await choose(/^Filter by size/, "Larger than 5 GB");
  await expect.poll(() => new URL(page.url()).search).toBe("?locked=false&larger=5");
  await page.getByRole("row").filter({ hasText: "Huge" }).waitFor();
  await choose(/^Filter by lock/, "Locked");
  await page.getByText("No matches for this filter.").waitFor();
  await moveTo(page, "/backups?locked=true");
  await page.getByRole("row").filter({ hasText: "Kept" }).waitFor();
  await expect.poll(rows).toHaveLength(1);
});

test("a list is searched by words and labels and sorted, in a URL that can be shared", async ({ open }) => {
  const page = await open("/instances", { as: big });
  await page.getByLabel("Find instances").fill("shop env:production");
  await page.getByRole("heading", { name: "Instances (160)" }).waitFor();
  await button(page, /^Sort/).click();
  await page.getByRole("option", { name: "Name A–Z" }).click();
  await expect.poll(() => page.getByRole("row").nth(1).getByRole("link").first().textContent()).toBe("Shop 0");
  await expect.poll(() => new URL(page.url()).search).toBe("?find=shop+env%3Aproduction&sort=name");
  await page.reload();
  await page.getByRole("heading", { name: "Instances (160)" }).waitFor();
  await page.getByLabel("Find instances").fill("no such");
  await page.getByText("No matches for this filter.").waitFor();
});

test("labels are shown and edited, and their errors name them", async ({ open }) => {
  const owner = await account();
  const { id } = await seedServer(owner.id, { name: "erp-1", labels: { env: "test" } });
  const page = await open(`/servers/${id}`, { as: owner });
  await page.getByText("env: test").waitFor();
  await button(page, "Edit").click();
  const form = dialog(page, "Edit erp-1");
  await form.getByLabel(/^Labels/).fill("Env: test");
  await button(form, "Save").click();
  await form.getByText(/Env is not a valid label key/).waitFor();
  await form.getByLabel(/^Labels/).fill("env: production\nteam: sales");
  await button(form, "Save").click();
  await page.getByText("team: sales").waitFor();
});

test("a list's page size, columns, density and sort are remembered, and its file has all that match, with nothing that runs", async ({
  open,
}) => {
  const page = await open("/instances", { as: big });
  await page.getByRole("heading", { name: `Instances (${MANY})` }).waitFor();
  await button(page, "Preferences for instances").click();
  const preferences = dialog(page, "Preferences for instances");
  await preferences.getByRole("button", { name: /20 per page/ }).click();
  await preferences.getByRole("option", { name: "50 per page" }).click();
  await preferences.getByLabel("Database name").check();
  await preferences.getByLabel("Version").uncheck();
  await preferences.getByLabel("Compact rows").check();
  await expectAccessible(page);
  await button(preferences, "Save").click();
  await button(page, /^Sort/).click();
  await page.getByRole("option", { name: "Name A–Z" }).click();
  const names = page.getByRole("row").filter({ has: page.getByRole("link", { name: /^(Shop|=HYPERLINK)/ }) });
  await expect.poll(() => names.count()).toBe(50);
  await page.goto("/servers");
  await page.goto("/instances");
  await expect.poll(() => names.count()).toBe(50);
  await expect.poll(() => names.first().getByRole("link").first().textContent()).toBe(HOSTILE);
  await page.getByRole("columnheader", { name: "Database name" }).waitFor();
  await page.getByRole("columnheader", { name: "Version" }).waitFor({ state: "detached" });

  await page.getByLabel("Find instances").fill("env:staging");
  await page.getByRole("heading", { name: "Instances (160)" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Download instances as CSV").click()]);
  expect(file.suggestedFilename()).toMatch(/^instances-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await buffer(await file.createReadStream())).toString().split("\r\n");
  expect(lines[0]).toBe("\uFEFFName,Status,URL,Server,Protection,Labels,Database name");
  expect(lines).toHaveLength(1 + 160 + 1);
  expect(lines[1]).toMatch(/^"'=HYPERLINK\(""https:\/\/example\.com"",""x""\)",Running,https:/);
});

test("a long list that is saved leaves others some of a minute's requests, and says how far it is", async ({ open }) => {
  const page = await open("/instances", { as: big });
  await page.getByLabel("Find instances").fill("env:staging");
  await page.getByRole("heading", { name: "Instances (160)" }).waitFor();
  const requestTimes: number[] = [];
  await page.route("**/api/v1/**", async (route) => {
    if (route.request().url().includes("per_page=100")) requestTimes.push(Date.now());
    const response = await route.fetch();
    const reset = String(Math.ceil(Date.now() / 1000) + 4);
    const limits = { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "40", "x-ratelimit-reset": reset };
    await route.fulfill({ response, headers: { ...response.headers(), ...limits } });
  });
  const download = page.waitForEvent("download");
  await button(page, "Download instances as CSV").click();
  await page.getByText("100 loaded so far").waitFor();
  expect(requestTimes).toHaveLength(1);
  const lines = (await buffer(await (await download).createReadStream())).toString().split("\r\n");
  expect(lines).toHaveLength(1 + 160 + 1);
  const [first = 0, second = 0] = requestTimes;
  expect(second - first).toBeGreaterThan(3_000);
});

test("the keys that lead to the search do so in a narrow window, too, as at a zoom of 200 %", async ({ open }) => {
  const page = await open("/servers", { as: await account() });
  await page.setViewportSize({ width: 640, height: 400 });
  await title(page, "Servers");
  const search = page.getByRole("combobox", { name: /^Search/ });
  await page
    .getByRole("button", { name: /search/i })
    .first()
    .waitFor();
  await page.keyboard.press("/");
  await expect.poll(() => search.and(page.locator(":focus")).count()).toBe(1);
  await page.keyboard.type("API keys");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await title(page, "API keys");
});

test("a page shows what somebody else has changed within half a minute", async ({ open }) => {
  const owner = await account();
  const { id } = await seedServer(owner.id, { name: "erp-1" });
  const page = await open(`/servers/${id}`, { as: owner, clock: true });
  await title(page, "erp-1");
  await page.waitForLoadState("networkidle");
  await owner.api.put(`/servers/${id}`, { name: "erp-2" });
  await page.clock.fastForward(31_000);
  await title(page, "erp-2");
  await moveTo(page, "/");
  await title(page, "Home");
  await page.getByText("Updated just now").waitFor();
});
