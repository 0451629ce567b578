// Alerts in the dashboard: the bell, the page with open and closed ones, muting, and the settings.
import { expect } from "vitest";
import * as z from "zod";
import { Alert } from "../../shared/api/alerts.ts";
import { Settings } from "../../shared/api/alert-settings.ts";
import { evaluateAlert, readAlerts } from "../../shared/operations/monitoring/alerts.ts";
import { account } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose } from "./instance-page.ts";

const MEANWHILE = "Someone else changed this meanwhile";

test("the bell counts open alerts; one is muted, unmuted, and found among the closed ones once it is over", async ({ open }) => {
  const owner = await account();
  const server = await seedServer(owner.id, { name: "erp-1" });
  const measure = async (kind: "disk_free" | "memory_free", measured: number): Promise<void> =>
    evaluateAlert(await readAlerts(owner.id), { kind, type: "server", id: server.id, measured, name: () => server.name });
  await measure("disk_free", 14);
  await measure("memory_free", 3);
  const page = await open("/", { as: owner });
  await page.getByRole("link", { name: "2 open alerts" }).click();
  const row = page.getByRole("row").filter({ hasText: "Disk space low" });
  await row.getByText("14% free (alert below 15%)").waitFor();
  await expectAccessible(page);

  const menu = (action: string) => choose(page, "Disk space low, erp-1", action);
  await menu("Mute");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("30 days").click();
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await row.getByText(/^Muted until /).waitFor();
  const [alert] = (await owner.api.get("/alerts?kind=disk_free")).as(z.array(Alert));
  expect(Date.parse(alert?.muted_until ?? "") - Date.now()).toBeGreaterThan(29 * 86_400_000);
  await menu("Unmute");
  await row.getByText(/^Muted until /).waitFor({ state: "detached" });

  const phone = await open("/alerts", { as: owner, phone: true });
  await button(phone, "Actions on Disk space low, erp-1").click();
  await phone.getByRole("menuitem", { name: "Mute" }).waitFor();

  await measure("disk_free", 50);
  await page.goto("/alerts?status=closed");
  await page.getByRole("row").filter({ hasText: "Disk space low" }).getByRole("link", { name: "erp-1" }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "1 open alert" }).count()).toBe(1);
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "Memory low" }).waitFor();
  expect(await page.getByRole("row").filter({ hasText: "Disk space low" }).count()).toBe(0);
  await page.getByLabel("Opened until").fill("2026-01-01T10:30");
  await page.getByText("No matches for this filter.").waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=open&to=2026-01-01T10%3A30Z");
  await page.goto("/alerts");
  const other = await seedServer(owner.id, { name: "erp-2" });
  await evaluateAlert(await readAlerts(owner.id), {
    kind: "memory_free",
    type: "server",
    id: other.id,
    measured: 3,
    name: () => other.name,
  });
  await button(page, /^Filter by resource/).click();
  await page.getByRole("combobox", { name: "Find resource" }).fill("erp-2");
  await page.getByRole("option", { name: "erp-2" }).click();
  await expect.poll(() => page.getByRole("row").getByRole("link", { name: /^erp-/ }).allTextContents()).toEqual(["erp-2"]);
  await button(page, "One resource only").click();
  await page.getByRole("row").getByRole("link", { name: "erp-1" }).waitFor();

  const german = await open("/alerts", { as: owner, locale: "de" });
  const low = german.getByRole("row").filter({ hasText: "Wenig Arbeitsspeicher" }).filter({ hasText: "erp-1" });
  await low.getByText("3 % frei (Warnung unter 10 %)").waitFor();
});

test("what a colleague has muted meanwhile is shown beside one's own choice", async ({ open }) => {
  const owner = await account();
  const { id, name } = await seedServer(owner.id);
  await evaluateAlert(await readAlerts(owner.id), { kind: "memory_free", type: "server", id, measured: 3, name: () => name });
  // The page learns of it from the service's error, and not before.
  const page = await open("/alerts", { as: owner, clock: true });
  await choose(page, `Memory low, ${name}`, "Mute");
  const dialog = page.getByRole("dialog");
  const mute = dialog.getByRole("button", { name: "Mute", exact: true });
  await dialog.getByText("1 hour").click();
  const [alert] = (await owner.api.get("/alerts")).as(z.array(Alert));
  const mutedUntil = new Date(Date.now() + 20 * 86_400_000).toISOString();
  await owner.api.put(`/alerts/${alert?.id}`, { muted_until: mutedUntil });
  await mute.click();
  await dialog.getByText(MEANWHILE).waitFor();
  await dialog.getByRole("rowheader", { name: "Muted until" }).waitFor();
  await expectAccessible(page);
  expect((await owner.api.get(`/alerts/${alert?.id}`)).as(Alert).muted_until).toBe(mutedUntil);
  await dialog.getByRole("button", { name: "Keep my changes" }).click();
  await mute.click();
  await dialog.waitFor({ state: "detached" });
  const { muted_until } = (await owner.api.get(`/alerts/${alert?.id}`)).as(Alert);
  expect(Date.parse(muted_until ?? "") - Date.now()).toBeLessThan(3_600_000);
});

test("one's own choice, which is the usual one at first, is never shown as somebody else's while it is saved", async ({
  open,
}) => {
  const owner = await account();
  const { id, name } = await seedServer(owner.id);
  await evaluateAlert(await readAlerts(owner.id), { kind: "memory_free", type: "server", id, measured: 3, name: () => name });
  const page = await open("/alerts", { as: owner });
  const recordShown = () =>
    page.waitForResponse((response) => /\/alerts\/\w+$/.test(response.url()) && response.request().method() === "GET");
  const opened = recordShown();
  await choose(page, `Memory low, ${name}`, "Mute");
  await opened;
  const dialog = page.getByRole("dialog");
  const usual = dialog.getByRole("radio", { name: "1 day" });
  await expect.poll(() => page.locator(":focus").and(usual).count()).toBe(1);
  await page.evaluate(`
    const look = () => { if (document.body.textContent.includes(${JSON.stringify(MEANWHILE)})) window.blamed = true; };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });`);
  // The dialog has the record again before the list has: in between it waits.
  const recordResponse = recordShown();
  await page.route("**/alerts?*", async (route) => {
    await (await recordResponse).finished();
    await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`);
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText(/^Muted until /).waitFor();
  expect(await page.evaluate("window.blamed === true")).toBe(false);
});

test("an alert of an older service, which cannot show one alone, is muted, too", async ({ open }) => {
  const owner = await account();
  const { id, name } = await seedServer(owner.id);
  await evaluateAlert(await readAlerts(owner.id), { kind: "memory_free", type: "server", id, measured: 3, name: () => name });
  const page = await open("/alerts", { as: owner });
  const error = { code: "METHOD_NOT_ALLOWED", message: "This path has no such method" };
  await page.route(/\/alerts\/\w+$/, (route) =>
    route.request().method() === "GET" ? route.fulfill({ status: 405, json: { success: false, error } }) : route.continue(),
  );
  await choose(page, `Memory low, ${name}`, "Mute");
  await page.getByRole("dialog").getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByText(/^Muted until /).waitFor();
});

test("without any alert the way to their settings is there once", async ({ open }) => {
  const page = await open("/alerts", { as: await account() });
  await page.getByText("No open alerts").waitFor();
  await expect.poll(() => page.locator("#main").getByRole("link", { name: "Alert settings" }).count()).toBe(1);
});

test("the settings are changed with their steps, and turned off", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/alerts", { as: owner });
  const disk = page.getByLabel("Free disk space below (%)");
  await expect.poll(() => disk.inputValue()).toBe("15, 5");
  await disk.fill("20, 100");
  const save = page.getByRole("button", { name: "Save alert settings" });
  await save.click();
  await page.getByText(/must be at most 99/i).waitFor();
  await disk.fill("20, 10");
  await page.getByLabel("Certificate expires in less than (days)").fill("");
  await page.getByLabel("A scheduled backup is overdue").uncheck();
  await expectAccessible(page);
  await save.click();
  await page.getByText("Alert settings saved").waitFor();
  expect((await owner.api.get("/settings/alerts")).as(Settings)).toMatchObject({
    disk_free_percent: [20, 10],
    certificate_days: null,
    backup_overdue: false,
    down_minutes: 3,
  });
});
