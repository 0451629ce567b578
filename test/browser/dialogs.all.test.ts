// Dialogs with the keyboard alone: the first field has the focus, and the focus returns to what opened the dialog.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { account } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";
import { button, dialog } from "./instance-page.ts";

async function openedBy(page: Page, opener: Locator, title: string | RegExp): Promise<Locator> {
  await expect.poll(() => opener.isEnabled()).toBe(true);
  await opener.focus();
  await page.keyboard.press("Enter");
  const opened = dialog(page, title);
  await opened.waitFor();
  return opened;
}

const hasFocus = (page: Page, element: Locator): Promise<void> => element.and(page.locator(":focus")).waitFor();

test("a dialog focuses its first field, keeps the focus if the user clicks beside it, and Escape returns the focus to the button", async ({
  open,
}) => {
  const owner = await account();
  const server = await seedServer(owner.id);
  const page = await open(`/servers/${server.id}`, { as: owner });
  for (const [opener, title, label] of [
    ["Edit", /^Edit/, "Name"],
    ["Delete", "Delete server", /^Type .* to confirm/],
  ] as const) {
    const opened = await openedBy(page, button(page, opener), title);
    const field = opened.getByLabel(label);
    await hasFocus(page, field);
    await page.keyboard.press("End");
    await page.keyboard.type("-2");
    await expect.poll(() => field.inputValue()).toMatch(/-2$/);
    await page.mouse.click(5, 5); // beside the dialog
    await hasFocus(page, field);
    await page.keyboard.press("Escape");
    await opened.waitFor({ state: "detached" });
    await hasFocus(page, button(page, opener));
  }
});

test("a dialog on top of a form and one behind a menu return the focus too", async ({ open }) => {
  const owner = await account();
  const page = await open("/servers/create", { as: owner });
  const adding = await openedBy(page, button(page, "Add SSH key"), "Add SSH key");
  await hasFocus(page, adding.getByLabel("Name"));
  await page.keyboard.press("Escape");
  await hasFocus(page, button(page, "Add SSH key"));

  const { id } = await seedInstance(owner.id, { name: "Shop" });
  await page.goto(`/instances/${id}`);
  await button(page, "Actions").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const domain = dialog(page, "Change the domain of Shop");
  await hasFocus(page, domain.getByLabel("New domain"));
  await page.keyboard.press("Escape");
  await hasFocus(page, button(page, "Actions"));
  await domain.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp"); // from the first action to the last one
  await page.keyboard.press("Enter");
  await hasFocus(page, dialog(page, "Delete instance").getByRole("textbox"));
  await page.keyboard.press("Escape");
  await dialog(page, "Delete instance").waitFor({ state: "detached" });

  await page.goto("/backups");
  const backUp = await openedBy(page, button(page, "Back up now"), "Back up an instance");
  const chooser = button(backUp, /^Instance/);
  await chooser.click();
  const option = backUp.getByRole("option", { name: /Shop/ }); // "Selected": there is no other one
  await option.waitFor();
  await page.mouse.click(5, 5); // beside the dialog
  await option.waitFor({ state: "detached" });
  await hasFocus(page, chooser);
});

/** A time that is longer than any wait of a page. */
const UNTIL_PAUSE_MS = 60_000;

test("a dialog appears as soon as its file is there, and not when a timer has run out", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  const page = await open(`/servers/${server.id}`, { as: owner, clock: true });
  await expect.poll(() => button(page, "Edit").isEnabled()).toBe(true);
  await page.waitForLoadState("networkidle");
  await page.clock.pauseAt(Number(await page.evaluate("Date.now()")) + UNTIL_PAUSE_MS);
  await button(page, "Edit").click();
  await dialog(page, /^Edit/).waitFor();
});

test("a dialog whose file does not load says so, and opens once the file can be loaded", async ({ open, faults }) => {
  faults.expected.push(/Failed to load resource/, /dynamically imported module/, /NotLoaded/);
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  const page = await open(`/servers/${server.id}`, { as: owner, fresh: true });
  await expect.poll(() => button(page, "Edit").isEnabled()).toBe(true);
  // The page seems to have just reloaded by itself, so it does not reload once more.
  await page.evaluate("sessionStorage.setItem('reloaded', JSON.stringify({ path: location.pathname, at: Date.now() }))");
  await page.route("**/assets/edit-*.js", (route) => route.abort());
  await button(page, "Edit").click();
  await page.getByRole("alert").getByText("Couldn't load this page").waitFor();
  await page.unroute("**/assets/edit-*.js");
  await button(page, "Reload").click();
  await button(page, "Edit").click();
  await dialog(page, /^Edit/).waitFor();
});
