// Whoever uses the keyboard alone: Tab to something, then press it or type.
import type { Locator, Page } from "playwright-core";

/** More than any page has. */
const STOPS = 120;

const hasFocus = async (page: Page, target: Locator): Promise<boolean> =>
  (await page.locator(":focus").and(target).count()) === 1;

export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let i = 0; i < STOPS && !(await hasFocus(page, target)); i++) await page.keyboard.press("Tab");
}

export async function press(page: Page, name: string | RegExp, role: "button" | "link" = "button"): Promise<void> {
  await tabTo(page, page.getByRole(role, { name, exact: true }).last());
  await page.keyboard.press("Enter");
}

/** An action of the menu in a row. */
export async function chooseByKeys(page: Page, of: string, item: string): Promise<void> {
  await press(page, `Actions on ${of}`);
  const target = page.getByRole("menuitem", { name: item, exact: true });
  await target.waitFor();
  for (let i = 0; i < STOPS && !(await hasFocus(page, target)); i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

export async function typeInto(page: Page, label: string, typed: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }).and(page.locator("input")));
  await page.keyboard.type(typed);
}

export async function signIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await typeInto(page, "Email", email);
  await typeInto(page, "Password", password);
  await page.keyboard.press("Enter");
}
