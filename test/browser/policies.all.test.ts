// Backup policies in the dashboard: set up, changed and deleted on the instance's page, and seen in the list and on the home
// page.
import { expect } from "vitest";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, comeBackUntil, dialog, expectGap, fact } from "./instance-page.ts";

test("a backup policy is set up, changed and deleted on the instance's page", async ({ open }) => {
  const owner = await account();
  const { id } = await seedInstance(owner.id, { name: "Shop" });
  const policy = async () => (await owner.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy);
  const page = await open(`/instances/${id}`, { as: owner });
  await page.getByText("has no automatic backups").waitFor();
  await button(page, "Set up automatic backups").click();
  const form = dialog(page, "Backup policy of Shop");
  await form.getByText("The newest of each of the last 7 days, 4 weeks, and 12 months.").waitFor();
  expect(await form.locator(".kept dd").allTextContents()).toEqual([7, 4, 12].map((count) => "●".repeat(count)));
  await expectGap(form.getByText("Custom", { exact: true }), form.getByText("At", { exact: true }));
  await form.getByLabel("Time zone").fill("Europe/Berlin");
  await form.getByLabel("At", { exact: true }).fill("25:00");
  await form.getByLabel("Newest").fill("3");
  await button(form, "Save policy").click();
  await form.getByText("Enter a time such as 02:00.", { exact: true }).waitFor();
  await expectAccessible(page);
  await form.getByRole("radio", { name: "Custom" }).check();
  await form.getByLabel("Cron expression").waitFor();
  await form.getByText("Must be a cron expression").waitFor({ state: "detached" });
  await form.getByRole("radio", { name: "Every day" }).check();
  await form.getByLabel("At", { exact: true }).fill("3:30");
  await button(form, "Save policy").click();
  await page.getByText("Backup policy saved: Shop").first().waitFor();
  await fact(page, "Schedule", "Every day at 03:30 (Europe/Berlin)");
  await fact(page, "Keeps", "The 3 newest backups, and the newest of each of the last 7 days, 4 weeks, and 12 months");
  expect(await policy()).toMatchObject({
    schedule: "30 3 * * *",
    timezone: "Europe/Berlin",
    keep: { last: 3, daily: 7, weekly: 4, monthly: 12 },
    drill_every_days: null,
    enabled: true,
  });

  await button(page, "Edit policy").click();
  await form.getByRole("radio", { name: "Custom" }).check();
  await form.getByLabel("Cron expression").fill("* * * * *");
  await button(form, "Save policy").click();
  await form.getByText("Must run at most once an hour").waitFor();
  await form.getByLabel("Cron expression").fill("15 6 * * 1-5");
  await form.getByLabel(/^Restore drill every/).fill("30");
  await form.getByRole("checkbox", { name: "Enabled" }).uncheck();
  await button(form, "Save policy").click();
  await fact(page, "Schedule", "Paused. Cron expression 15 6 * * 1-5 (Europe/Berlin)");
  expect(await policy()).toMatchObject({ schedule: "15 6 * * 1-5", drill_every_days: 30, enabled: false, next_run_at: null });

  await button(page, "Delete policy").click();
  await button(dialog(page, "Delete backup policy"), "Delete policy").click();
  await button(page, "Set up automatic backups").waitFor();
  expect((await owner.api.get(`/instances/${id}/backup-policy`)).status).toBe(404);
});

test("a policy that a colleague has changed since is not set back", async ({ open }) => {
  const owner = await account();
  const { id } = await seedInstance(owner.id, { name: "Shop" });
  const set = (last: number) =>
    owner.api.put(`/instances/${id}/backup-policy`, { schedule: "0 2 * * *", timezone: "UTC", keep: { last } });
  expect((await set(7)).status).toBeLessThan(300);
  const page = await open(`/instances/${id}`, { as: owner });
  await button(page, "Edit policy").click();
  const form = dialog(page, "Backup policy of Shop");
  await form.getByLabel("At", { exact: true }).fill("04:00");
  expect((await set(30)).status).toBe(200);
  await button(form, "Save policy").click();
  await form.getByText("Someone else changed this meanwhile").waitFor();
  await form.getByRole("row", { name: /^Keep/ }).getByRole("cell").first().getByText("30").waitFor();
  expect((await owner.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy)).toMatchObject({
    keep: { last: 30 },
    schedule: "0 2 * * *",
  });
});

test("the home page counts instances by protection, and each count leads to their list", async ({ open }) => {
  const owner = await account();
  await seedInstance(owner.id, { name: "Shop" });
  const page = await open("/", { as: owner });
  await page.getByRole("link", { name: "1 unprotected instance" }).click();
  await page.getByRole("link", { name: "Shop" }).waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?protection=unprotected");
  await page.getByRole("button", { name: /Filter by protection/ }).click();
  await page.getByRole("option", { name: "Overdue" }).click();
  await page.getByText("No matches for this filter.").waitFor();
  await button(page, "Clear filter").click();
  await page.getByRole("link", { name: "Shop" }).waitFor();
});

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

test("the form says what a change would remove before it is saved", async ({ open }) => {
  const owner = await account();
  const instance = await seedInstance(owner.id, { name: "Shop", last_backup_at: daysAgo(0) });
  for (const days of [3, 2, 1]) {
    const at = daysAgo(days);
    await seedBackup(instance, { kind: "scheduled", due_at: at, created_at: at, completed_at: at });
  }
  await owner.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 2 * * *", keep: { daily: 7 } });
  const page = await open(`/instances/${instance.id}`, { as: owner });
  await button(page, "Edit policy").click();
  const form = dialog(page, "Backup policy of Shop");
  await form.getByText("Backs up the instance by the schedule 0 2 * * * (UTC)").waitFor();
  expect(await form.getByText("No rule keeps the scheduled backup").count()).toBe(0);
  await form.getByRole("spinbutton", { name: "Keep Days" }).fill("");
  await form.getByLabel("Newest").fill("1");
  await form.getByText("The newest backup.", { exact: true }).waitFor();
  await expect.poll(() => form.getByText("No rule keeps the scheduled backup").count()).toBe(3);
  await expectAccessible(page);
  await button(form, "Cancel").click();
  expect((await owner.api.get(`/instances/${instance.id}/backup-policy`)).as(BackupPolicy).keep).toEqual({ daily: 7 });
});

test("a dot for each day has an instance's backups with their drills, which run from there, also by keyboard and on a narrow phone", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const good = await owner.backup(id);
  const bad = await owner.backup(id, { note: "fail-drill" });
  await owner.api.put(`/instances/${id}/backup-policy`, { schedule: "0 2 * * *", keep: { last: 1 }, drill_every_days: 7 });
  const page = await open(`/instances/${id}`, { as: owner });
  await fact(page, "Restore drills", "Every 7 days");
  const strip = page.getByRole("list", { name: "Backups of the last 35 days" });
  await expect.poll(() => strip.getByRole("listitem").count()).toBe(36);
  await strip.getByText(/^Next backup due: /).waitFor();

  await strip.getByRole("link", { name: /: 2 backups, among them: Manual, .*, completed$/ }).focus();
  await page.keyboard.press("Enter");
  const details = dialog(page, /^Backup of Shop/);
  await details.getByText("No restore drill yet").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("backup")).toBe(bad.id);
  await button(details, "Run drill").click();
  const drill = dialog(page, /^Run restore drill: backup of Shop/);
  await drill.getByText("Instances keep running").waitFor();
  await drill.getByText(/^Downloads the archive \(.+\) to the server, once/).waitFor();
  expect(await drill.getByText("throwaway database").count()).toBe(1); // said once
  await expectAccessible(page);
  await button(drill, "Run drill").click();
  await fact(page, "Row counts match", "Failed");
  await fact(page, "Odoo starts", "Passed");
  await expectAccessible(page);
  await details.getByRole("button", { name: "Close" }).click();
  await strip.getByRole("link", { name: /: 2 backups, among them: Manual, .*, completed, restore drill failed$/ }).waitFor();
  await page.getByText("Restore drill failed: Shop").first().waitFor();
  await page.getByText("table differs").first().waitFor();

  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page);
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(new URL(`/instances/${id}/clone`, page.url()).href);
  await page.getByText("restore drill failed").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Staging");
  await page.getByLabel("Domain", { exact: true }).fill("staging.example.com");
  await page.getByText("Estimated downtime").waitFor();
  expect((await owner.api.get(`/backups/${good.id}`)).as(Backup).drill).toBeNull();
});

test("a day is not known, and not without a backup, until the backups are loaded", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  const { id } = await seedInstance(owner.id, { name: "Shop" });
  const page = await open("/config.json", { as: owner });
  await page.route(/\/instances\/[^/]+\/backups\?/, (route) => route.abort());
  await page.goto(`/instances/${id}`);
  const strip = page.getByRole("list", { name: "Backups of the last 35 days" });
  const days = (pattern: RegExp) => strip.getByRole("listitem").filter({ hasText: pattern });
  await expect.poll(() => days(/: not known$/).count()).toBe(35);
  expect(await days(/: no backup$/).count()).toBe(0);
  await page.getByText("? not known", { exact: true }).waitFor(); // what its sign means
  await expectAccessible(page);
  await page.unrouteAll();
  await expect.poll(() => days(/: no backup$/).count()).toBe(35);
  await page.getByText("? not known", { exact: true }).waitFor({ state: "detached" });
});

test("the days of backups are those of the chosen zone, and on the narrowest phone a finger hits each of them", async ({
  open,
}) => {
  const owner = await account();
  const instance = await seedInstance(owner.id, { name: "Shop" });
  const at = `${daysAgo(9).slice(0, 10)}T20:00:00.000Z`;
  const [utc = 0, there = 0] = [0, 1].map((days) => new Date(Date.parse(at) + days * DAY_MS).getUTCDate());
  for (const kind of ["manual", "scheduled"] as const) await seedBackup(instance, { kind, created_at: at });
  const page = await open(`/instances/${instance.id}`, { as: owner, zone: "Pacific/Auckland" });
  const day = page.getByRole("list", { name: "Backups of the last 35 days" }).getByRole("link");
  await expect.poll(() => day.innerText()).toMatch(new RegExp(`^\\s*\\w+ ${there} `)); // there it is morning already
  await page.evaluate("localStorage.setItem('zone', 'utc'); dispatchEvent(new StorageEvent('storage'))");
  await expect.poll(() => day.innerText()).toMatch(new RegExp(`^\\s*\\w+ ${utc} `));
  await page.setViewportSize({ width: 320, height: 800 });
  const place = await day.boundingBox();
  expect(place?.width).toBeGreaterThanOrEqual(24);
  expect(place?.height).toBeGreaterThanOrEqual(24);
  await expectAccessible(page);
});

test("the account page sets the policy of new instances, changes and removes it", async ({ open }) => {
  const owner = await account();
  const readPolicy = async () => (await owner.api.get("/settings")).as(Settings).default_backup_policy;
  const page = await open("/settings/account", { as: owner });
  await button(page, "Set default policy").click();
  const form = dialog(page, "Default backup policy");
  await form.getByLabel("Time zone").fill("Europe/Berlin");
  await form.getByLabel(/^Restore drill every/).fill("7");
  await expect.poll(() => form.locator("dd time").count()).toBe(5);
  await form
    .locator("dd time")
    .first()
    .getByText(/0[01]:00:00 (?:UTC|GMT)/)
    .waitFor(); // 02:00 in Berlin
  await button(form, "Save policy").click();
  await fact(page, "Schedule", "Every day at 02:00 (Europe/Berlin)");
  await fact(page, "Restore drills", "Every 7 days");
  await page
    .locator(".kept dd")
    .filter({ hasText: /^●{7}$/ })
    .first()
    .waitFor();
  await expectAccessible(page);
  expect(await readPolicy()).toMatchObject({
    schedule: "0 2 * * *",
    timezone: "Europe/Berlin",
    drill_every_days: 7,
    enabled: true,
  });
  await button(page, "Edit default policy").click();
  await form.getByRole("radio", { name: /Four times/ }).check();
  await button(form, "Save policy").click();
  await fact(page, "Schedule", "Four times a day, from midnight (Europe/Berlin)");
  await button(page, "Edit default policy").click();
  await form.getByLabel("Time zone").fill("UTC");
  const colleagues = { schedule: "0 5 * * *", timezone: "Europe/Vienna", keep: { last: 30 } };
  expect((await owner.api.put("/settings", { default_backup_policy: colleagues })).status).toBe(200);
  await comeBackUntil(page, form.getByText("Someone else changed this meanwhile"));
  expect(await readPolicy()).toMatchObject(colleagues);
  await button(form, "Cancel").click();
  await button(page, "Remove default policy").click();
  await button(dialog(page, "Remove default backup policy"), "Remove default policy").click();
  await button(page, "Set default policy").waitFor();
  expect(await readPolicy()).toBeNull();
});
