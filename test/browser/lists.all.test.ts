// Lists of many records: all of their columns can be read at any width, nothing moves under the pointer, and the keyboard is
// enough.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { recordReport } from "../../shared/records/host-reports.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible, expectTargets } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, dialog, title } from "./instance-page.ts";

const MANY = 12;
let owner: TestAccount;

beforeAll(async () => {
  owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  const otherServers = [await seedServer(owner.id, { name: "erp-2" }), await seedServer(owner.id, { name: "erp-3" })];
  for (const each of [server, ...otherServers])
    await recordReport(each, { disk_free_bytes: 31e9, memory_free_bytes: 1.9e9, certificates: undefined });
  for (let i = 0; i < MANY; i++) {
    const labels = { env: "production", ...(i === MANY - 1 && { team: "accounting", tier: "gold" }) };
    const instance = await seedInstance(owner.id, { server_id: server.id, name: `Pharmacy Freiburg ${i}`, labels });
    await seedBackup(instance, { note: "Before the inventory" });
  }
});

test("the keyboard goes on where it was when a button goes away that it has pressed", async ({ open }) => {
  const page = await open("/instances", { as: owner });
  const press = async (name: string) => {
    await button(page, name).focus();
    await page.keyboard.press("Enter");
    await button(page, name).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement === document.body"), { message: name }).toBe(false);
    expect(await page.evaluate(`document.activeElement.closest(".list") !== null`), name).toBe(true);
  };
  await page.getByRole("checkbox", { name: "Select Pharmacy Freiburg 3" }).click();
  await press(`Select all ${MANY}`);
  await press("Clear selection");
  await press("More filters");
  await moveTo(page, "/instances?label=team:accounting");
  await press("Only label team: accounting");
  await moveTo(page, "/servers");
  await page.getByPlaceholder("Name, IP address, label").waitFor();
  await moveTo(page, "/backups");
  await page.getByPlaceholder("Instance, note, label").waitFor();
});

/** What of a list's table its place does not show, in pixels. */
const hidden = async (page: Page): Promise<number> =>
  z.number().parse(
    await page.evaluate(`(() => {
      const table = document.querySelector("table");
      return Math.max(0, table.offsetWidth - table.parentElement.clientWidth);
    })()`),
  );

test.for(["en", "de"])(
  "a laptop shows all columns of every list, and two lines of a row at most (%s)",
  async (language, { open }) => {
    const page = await open("/instances", { as: owner, locale: language, fresh: true });
    // A row of the last list may still be there, so each is known by a title of its own.
    for (const [path, name] of [
      ["/servers", /^Server/],
      ["/backups", /^(Backups|Sicherungen)/],
      ["/instances", /^(Instances|Instanzen)/],
    ] as const) {
      await moveTo(page, path);
      await title(page, name);
      await page.getByRole("row").nth(1).getByRole("link").first().waitFor();
      expect(await hidden(page), path).toBe(0);
    }
    const row = page.getByRole("row", { name: /Pharmacy Freiburg 3 / });
    expect((await row.boundingBox())?.height).toBeLessThan(64);
    const [badge, cell] = [row.getByText("env: production"), row.getByRole("cell").nth(-2)];
    const [of, within] = [await badge.boundingBox(), await cell.boundingBox()];
    expect((of?.x ?? 0) + (of?.width ?? 0)).toBeLessThanOrEqual((within?.x ?? 0) + (within?.width ?? 0));
  },
);

test("on a tablet, with every column, the keyboard scrolls the list, and the names stay in view", async ({ open }) => {
  const page = await open("/instances", { as: owner, fresh: true });
  await page.setViewportSize({ width: 768, height: 900 });
  await button(page, "Preferences for instances").click();
  const preferences = dialog(page, "Preferences for instances");
  for (const column of ["Created", "Database name", "Last backup", "ID"])
    await preferences.getByLabel(column, { exact: true }).check();
  await button(preferences, "Save").click();
  await page.getByRole("columnheader", { name: "Database name" }).waitFor();
  const place = page.getByRole("region", { name: "Instances" });
  await place.focus();
  const last = page.getByRole("row").nth(1).getByRole("cell").last();
  await expect
    .poll(async () => {
      await page.keyboard.press("ArrowRight");
      const [cell, list] = [await last.boundingBox(), await place.boundingBox()];
      return (cell?.x ?? Infinity) + (cell?.width ?? 0) <= (list?.x ?? 0) + (list?.width ?? 0) + 1;
    })
    .toBe(true);
  const name = page.getByRole("link", { name: "Pharmacy Freiburg 11" });
  const [box, list] = [await name.boundingBox(), await place.boundingBox()];
  expect(box?.x ?? -1).toBeGreaterThanOrEqual(list?.x ?? 0);
  await expectAccessible(page);
});

test("selecting a row moves none of them, and the whole choice is made and undone with the keyboard", async ({ open }) => {
  const page = await open("/instances", { as: owner });
  const box = page.getByRole("checkbox", { name: "Select Pharmacy Freiburg 5" });
  const before = await box.boundingBox();
  await page.getByRole("checkbox", { name: "Select Pharmacy Freiburg 7" }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("status").getByText("1 selected").waitFor();
  expect(await box.boundingBox()).toEqual(before);
  await button(page, "Clear selection").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Instances (${MANY})` }).waitFor();
  expect(await box.boundingBox()).toEqual(before);
});

test("a closed navigation stays closed on the next page, and a phone closes it when a link is followed", async ({ open }) => {
  const page = await open("/instances", { as: owner });
  await button(page, /^Close navigation/).click();
  await moveTo(page, "/backups");
  await title(page, /^Backups/);
  expect(await page.getByRole("navigation", { name: "Main navigation" }).count()).toBe(0);
  await page.setViewportSize({ width: 768, height: 900 });
  await button(page, /^Open navigation/).click();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Servers", exact: true }).click();
  await title(page, /^Servers/);
  await button(page, /^Open navigation/).waitFor();
});

test("a page whose request is never responded to says so in the end, and shows what a later one returns", async ({
  open,
  faults,
}) => {
  faults.expected.push(/^Failed to load resource/);
  const page = await open("/servers", { as: owner, fresh: true }); // its clock is the test's
  await page.getByRole("link", { name: "erp-1" }).waitFor();
  let silent = 0;
  await page.route(/\/api\/v1\/instances\?/, () => void silent++);
  await page.clock.install();
  await moveTo(page, "/instances");
  const failure = page.getByRole("alert").getByText("Can't reach the service");
  await expect
    .poll(async () => {
      await page.clock.fastForward(61_000);
      return failure.isVisible();
    })
    .toBe(true);
  expect(silent).toBeGreaterThanOrEqual(3);
  await page.unroute(/\/api\/v1\/instances\?/);
  await page.clock.fastForward(61_000); // past the request that is still in flight
  await page.getByRole("link", { name: "Pharmacy Freiburg 3" }).waitFor();
});

const PHONE_HEIGHT = 844;
/** The first record of a list begins at most so far down. */
const CONTENT_FROM = 200;

test.for(["en", "de"])("a phone shows three records of a list below its search (%s)", async (language, { open }) => {
  const page = await open("/instances", { as: owner, locale: language, phone: true, fresh: true });
  for (const [path, link] of [
    ["/instances", "a[href^='/instances/']"],
    ["/backups", "a[href*='backup=']"],
    ["/servers", "a[href^='/servers/']"],
  ] as const) {
    await moveTo(page, path);
    await page.locator(`.card ${link}`).first().waitFor();
    const box = (index: number) => page.locator(".card").nth(index).boundingBox();
    await expect.poll(async () => (await box(0))?.y, { message: path }).toBeLessThanOrEqual(CONTENT_FROM);
    const end = async () => {
      const { y, height } = (await box(2)) ?? { y: Infinity, height: 0 };
      return y + height;
    };
    await expect.poll(end, { message: path }).toBeLessThanOrEqual(PHONE_HEIGHT);
  }
});

test("on a narrow phone a finger hits everything in a list, also its other filters and what acts on selected records", async ({
  open,
}) => {
  const page = await open("/backups", { as: owner, phone: true });
  await page.setViewportSize({ width: 320, height: 700 });
  await page.getByText("Before the inventory").first().waitFor();
  await expectTargets(page, ".list");
  await moveTo(page, "/instances?status=running");
  await button(page, "Filters (1)").click();
  await button(page, /^Filter by status/).waitFor();
  await button(page, "Download instances as CSV").waitFor();
  await expectTargets(page, ".list");
  await page.getByRole("checkbox", { name: "Select Pharmacy Freiburg 11" }).check();
  await page.getByRole("status").getByText("1 selected").waitFor();
  await button(page, "Actions on selected").waitFor();
  await expectTargets(page, ".phone-selection"); // it covers a part of the list
  await expectAccessible(page);
  await button(page, "Clear selection").click();
  await page.getByText("1 selected").waitFor({ state: "detached" });
});

test("the navigation of a phone closes with a tap beside it, and with a link to the page that is shown", async ({ open }) => {
  const page = await open("/instances", { as: owner, phone: true });
  const navigation = page.getByRole("navigation", { name: "Main navigation" });
  await button(page, "Open navigation").click();
  await navigation.waitFor();
  await page.mouse.click(380, 400);
  await navigation.waitFor({ state: "detached" });
  await button(page, "Open navigation").click();
  await navigation.getByRole("link", { name: "Instances", exact: true }).click();
  await navigation.waitFor({ state: "detached" });
  await title(page, /^Instances/);
});
