// Presses everything on a page that opens something: menus, dialogs, and what is collapsed.
import type { Locator, Page, Request } from "playwright-core";
import { expect } from "vitest";

/** React shows what was loaded up to 300 ms late, so that placeholders do not flicker. */
const QUIET_MS = 350;

/** What waits until nothing has been in flight for a moment. */
export function settlerOf(page: Page): () => Promise<void> {
  const inFlight = new Set<Request>();
  let lastAt = 0;
  const ended = (request: Request): void => {
    inFlight.delete(request);
    lastAt = performance.now();
  };
  page
    .on("request", (request) => inFlight.add(request))
    .on("requestfinished", ended)
    .on("requestfailed", ended);
  return async () => {
    lastAt = performance.now();
    await expect.poll(() => inFlight.size === 0 && performance.now() - lastAt > QUIET_MS, { timeout: 30_000 }).toBe(true);
  };
}

interface Pressing {
  page: Page;
  /** The page that is shown. */
  path: string;
  /**
   * What was pressed on other pages: each button once for each kind of page. All rows have the same, with the names that are
   * links in the row.
   */
  pressed: Set<string>;
  /** Buttons that act at once, leave the page, or open what is the browser's own. */
  notPressed: RegExp;
  show: (path: string) => Promise<void>;
  settle: () => Promise<void>;
  /** Looks at what is open after the button, or the item of its menu, was pressed. */
  look: (label: string) => Promise<void>;
}

const openers = (page: Page): Locator => page.locator("#main").getByRole("button", { disabled: false });

export async function pressAll({ page, path, pressed, notPressed, show, settle, look }: Pressing): Promise<void> {
  const kind = path.replace(/[a-z]{3}_\w{26}.*/, "");
  const isNew = (of: string, label: string): boolean => {
    const key = `${of} ${label.replaceAll(/\S*(?:\d|…)\S*|"[^"]*"|„[^“]*“/g, "")}`;
    if (notPressed.test(label) || pressed.has(key)) return false;
    pressed.add(key);
    return true;
  };
  const buttons = await openers(page).evaluateAll((all) =>
    all.map((button) => {
      const label = button.getAttribute("aria-label") ?? button.textContent ?? "";
      const names = [...(button.closest("tr, li")?.querySelectorAll("a") ?? [])].map(({ textContent }) => textContent);
      return { label, withoutName: names.reduce((rest, name) => rest.replace(name, ""), label) };
    }),
  );
  /** Back to the page as it was, by the shortest way. */
  const leave = async (): Promise<void> => {
    await page.keyboard.press("Escape");
    await settle(); // what comes late, and what closes slowly
    const { pathname, search } = new URL(page.url());
    const isThere = pathname + search === path && (await page.getByRole("dialog").count()) === 0;
    if (isThere && (await openers(page).count()) === buttons.length) return;
    await page.goto(path);
    await show(path);
  };
  for (const [index, { label, withoutName }] of buttons.entries()) {
    const button = openers(page).nth(index);
    if (!isNew(kind, withoutName) || !(await button.isVisible())) continue;
    await button.click();
    await look(label);
    for (const [place, item] of (await page.getByRole("menuitem").allTextContents()).entries()) {
      if (!isNew(`${kind} ${withoutName}`, item)) continue;
      if (!(await page.getByRole("menuitem").nth(place).isVisible())) await button.click();
      const one = page.getByRole("menuitem").nth(place);
      if ((await one.getAttribute("aria-disabled")) === "true") continue;
      await one.click();
      await look(`${label}: ${item}`);
      await leave();
    }
    await leave();
  }
}
