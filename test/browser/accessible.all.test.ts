// What opens on a page is accessible to everyone, in light and in dark mode and in forced colors: menus, choices, dialogs, errors
// of forms, and pages that are empty or could not be loaded. The pages themselves: pages.table.test.ts.
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import { expectAccessible, expectAccessibleInForcedColors } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, title } from "./instance-page.ts";
import { furnish, moveAndSee, PAGES, type Things } from "./pages.ts";

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  owner = await account();
  things = await furnish(owner);
});

async function expectAccessibleInAllModes(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(colorScheme === "dark" ? "body.awsui-dark-mode" : "body:not(.awsui-dark-mode)").waitFor();
    await expectAccessible(page);
  }
  await expectAccessibleInForcedColors(page);
}

/** A menu closes when the window changes, a dialog stays. */
async function expectFitsNarrowPhone(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 700 });
  await expectAccessible(page);
  if (before !== null) await page.setViewportSize(before);
}

/** Opens each with a click, looks at it, and closes it. */
async function lookAt(page: Page, openers: readonly Locator[], opened: Locator): Promise<void> {
  for (const opener of openers) {
    await opener.click();
    await opened.first().waitFor();
    await expectAccessibleInAllModes(page);
    if ((await page.getByRole("dialog").count()) > 0) await expectFitsNarrowPhone(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => opened.count()).toBe(0);
  }
}

/** The dialogs behind a menu. */
async function lookBehind(page: Page, menu: Locator, items: readonly string[]): Promise<void> {
  for (const item of items) {
    await menu.click();
    await lookAt(page, [page.getByRole("menuitem", { name: item, exact: true })], page.getByRole("dialog"));
  }
}

test("the menus, choices and dialogs of a list", async ({ open }) => {
  const page = await open("/instances", { as: owner });
  await title(page, /^Instances/);
  await page.getByRole("checkbox", { name: "Select Shop" }).check();
  const [items, options, dialogs] = [page.getByRole("menuitem"), page.getByRole("option"), page.getByRole("dialog")];
  await lookAt(page, [button(page, owner.user.name), button(page, "Actions on selected")], items);
  await lookAt(page, [button(page, /^Sort/), button(page, /status/)], options);
  await lookAt(page, [button(page, "Preferences for instances")], dialogs);
  await lookBehind(page, button(page, "Actions on selected"), ["Stop", "Change labels"]);
  await moveTo(page, "/activity");
  await title(page, /^Activity/);
  await lookAt(page, [button(page, /^Filter by action/)], options);
});

test("the menus, dialogs and explanations of an instance and its backups", async ({ open }) => {
  const page = await open(`/instances/${things.instance}?tab=backups`, { as: owner });
  const dialog = page.getByRole("dialog");
  const more = button(page, "Actions");
  await lookAt(page, [more, button(page, /^Actions on the backup/)], page.getByRole("menuitem"));
  await lookAt(page, [button(page, "Stop")], dialog);
  await lookBehind(page, more, ["Edit details", "Change domain", "Delete"]);
  await button(page, "Stop").click();
  await dialog.getByRole("button", { name: "Show API call" }).click();
  await dialog.getByRole("region", { name: "curl call" }).waitFor();
  await expectAccessibleInAllModes(page);
  await page.keyboard.press("Escape");
  await lookBehind(page, button(page, /^Actions on the backup/), ["Restore", "Run drill", "Edit details", "Delete"]);
});

test("forms with errors", async ({ open }) => {
  const page = await open("/servers/create", { as: owner });
  for (const [path, name] of [
    ["/servers/create", "Create server"],
    ["/instances/create", "Create instance"],
    ["/settings/api-keys/create", "Create API key"],
  ] as const) {
    await moveTo(page, path);
    await title(page, name);
    await button(page, name).click();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    await expectAccessibleInAllModes(page);
  }
});

/** Those that fetch what they show. */
const FETCHING = PAGES.filter(({ route }) => !["*", "/settings/api-keys/create"].includes(route));

test("pages that could not be loaded", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const page = await open("/nowhere", { as: owner });
  const error = { code: "NOT_ALLOWED", message: "This API key cannot do that" };
  await page.route(/\/api\/v1\//, (route) => route.fulfill({ status: 403, json: { success: false, error } }));
  for (const { route, path = () => route } of FETCHING) {
    await moveTo(page, path(things));
    await page.getByRole("alert").filter({ visible: true }).first().waitFor();
    await expectAccessibleInAllModes(page);
  }
});

test("an account with nothing in it", async ({ open }) => {
  const page = await open("/nowhere", { as: await account() });
  for (const destination of PAGES.filter(({ path }) => path === undefined)) {
    await moveAndSee(page, destination, things);
    await expectAccessibleInAllModes(page);
  }
});

const NARROWEST_AND_WIDEST = [320, 2560];

test.for(NARROWEST_AND_WIDEST)("before a sign-in, at %i pixels", async (width, { open }) => {
  const page = await open("/", { fresh: true });
  await page.setViewportSize({ width, height: 700 });
  for (const path of [
    "/",
    "/forgot-password",
    "/reset-password#token=AaZrUoN9eqWCv2mR0g",
    "/accept-invitation#token=AaZrUoN9eq",
  ]) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button").last().click();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    await expectAccessible(page);
  }
});

test.for(NARROWEST_AND_WIDEST)("what is around each page, at %i pixels", async (width, { open }) => {
  const page = await open("/instances", { as: owner, phone: width === 320 });
  await page.setViewportSize({ width, height: 700 });
  await title(page, /^Instances/);
  const opening = page.getByRole("banner").getByRole("button", { expanded: false });
  await expect.poll(() => opening.count()).toBeGreaterThan(0);
  for (const [index] of (await opening.all()).entries()) {
    await opening.nth(index).click();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("restart sho");
  await page.getByRole("option", { name: /Shop/ }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  if (width > 320) return;
  await button(page, "Open navigation").click();
  await button(page, /^Close navigation/).waitFor();
  await expectAccessible(page);
});
