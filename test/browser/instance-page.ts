// Shared by tests of an instance's pages: its dialogs and facts, and the password that is shown once.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { Instance, ListedInstance } from "../../shared/api/instances.ts";
import type { TestAccount } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";

export const dialog = (page: Page, name: string | RegExp): Locator => page.getByRole("dialog", { name });
export const title = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("heading", { level: 1, name }).first().waitFor();
export const button = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole("button", { name, exact: true });
/** A part of a page that loads only then. */
export const openPart = (page: Page | Locator, name: string): Promise<void> => button(page, name).click();
/** Opens a tab of the page of an instance or a server. */
export const openTab = (page: Page, name: string): Promise<void> =>
  page
    .getByRole("navigation", { name: /^(Parts|Bereiche) / })
    .getByRole("link", { name, exact: true })
    .click();
export const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** The design system leaves 20 pixels between two fields; a text may be a few pixels lower or higher than its field. */
export async function expectGap(above: Locator, below: Locator): Promise<void> {
  const [upper, lower] = [await above.boundingBox(), await below.boundingBox()];
  expect((lower?.y ?? 0) - (upper?.y ?? 0) - (upper?.height ?? 0)).toBeGreaterThanOrEqual(16);
}

/** A value of the details, by its label. */
export const fact = (page: Page, label: string, value: string | RegExp): Promise<void> =>
  page.locator("dt", { hasText: label }).locator("xpath=following-sibling::dd[1]").getByText(value).first().waitFor();

export async function more(page: Page, item: string): Promise<void> {
  await button(page, "Actions").click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** An action of the menu in a row. */
export async function choose(page: Page, of: string, item: string): Promise<void> {
  await button(page, `Actions on ${of}`).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

export const instancesOf = async (owner: TestAccount): Promise<ListedInstance[]> =>
  (await owner.api.get("/instances")).as(z.array(ListedInstance));
export const getInstance = async (owner: TestAccount, id: string): Promise<Instance> =>
  (await owner.api.get(`/instances/${id}`)).as(Instance);

/** Simulates that the user comes back from another window, until the page shows what has happened meanwhile. */
export const comeBackUntil = (page: Page, locator: Locator): Promise<void> =>
  expect
    .poll(async () => {
      await page.evaluate(`window.dispatchEvent(new Event("visibilitychange"))`);
      return locator.isVisible();
    })
    .toBe(true);

/**
 * Begins to watch for a notification: a success leaves after ten seconds, and other steps of a test may take that long on a busy
 * machine.
 */
export function notification(page: Page, text: string): Promise<void> {
  const appearance = page.getByText(text).first().waitFor();
  appearance.catch(() => undefined); // thrown where the test waits for it
  return appearance;
}

/** Records what the page sends with a method to paths with this end, except dry runs. */
export function sentTo(page: Page, method: string, end: RegExp): unknown[] {
  const sent: unknown[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (request.method() === method && end.test(pathname) && !searchParams.has("dry_run")) sent.push(request.postDataJSON());
  });
  return sent;
}

/** The calls that a dialog or a form shows for its request: for a shell and for the typed client. */
export async function callsOf(container: Page | Locator): Promise<{ curl: string; typescript: string }> {
  await container.getByRole("button", { name: "Show API call" }).click();
  const text = async (label: string) => (await container.getByRole("region", { name: `${label} call` }).textContent()) ?? "";
  return { curl: await text("curl"), typescript: await text("TypeScript") };
}

/** The password dialog, which stays until the user confirms that the password is saved. */
export async function storePassword(page: Page, name: string): Promise<string> {
  const passwordDialog = dialog(page, `${name} is being installed`);
  const password = (await passwordDialog.getByLabel("admin password", { exact: true }).textContent()) ?? "";
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await passwordDialog.getByText("Save it first, then tick this box.").waitFor();
  await expect.poll(() => button(passwordDialog, "Done").isDisabled()).toBe(true);
  await passwordDialog.getByRole("checkbox", { name: /I've saved/ }).check();
  await button(passwordDialog, "Done").click();
  await passwordDialog.waitFor({ state: "detached" });
  return password;
}
