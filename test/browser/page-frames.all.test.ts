// What all pages share: their frame on a dark phone, in both environments, with an operator's brand, and in both color modes.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import type { DashboardConfig } from "../../infra/dashboard-headers.ts";
import { api } from "../../shared/api/index.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { expectAccessible, expectFits } from "./axe.ts";
import { test } from "./browser.ts";
import { furnish, moveAndSee, PAGES, type Things } from "./pages.ts";

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  owner = await account();
  things = await furnish(owner);
});

test("every page is accessible to everyone and fits the screen on a dark phone", async ({ open }) => {
  const page = await open("/", { as: owner, phone: true, dark: true });
  for (const destination of PAGES) {
    await moveAndSee(page, destination, things);
    await expectFits(page, 320); // also what is left of 640 at a zoom of 200 %
  }
});

/** Returns where the content of a page begins: below its heading, what its resource is at a glance, its actions and its tabs. */
const CONTENT_BEGINS = `(() => {
  const main = document.getElementById("main");
  const [head, tabs] = [main.querySelector(".page-top, .phone-head"), main.querySelector(".tabs")];
  return scrollY + (tabs ?? head).getBoundingClientRect().bottom;
})()`;

test("on a phone, the content of a resource's page begins within the first 200 pixels", async ({ open }) => {
  const page = await open("/", { as: owner, phone: true });
  for (const width of [320, 360, 400]) {
    await page.setViewportSize({ width, height: 700 });
    for (const destination of PAGES.filter(({ path }) => path !== undefined)) {
      await moveAndSee(page, destination, things);
      expect(await page.evaluate(CONTENT_BEGINS), `${destination.route} at ${width}`).toBeLessThanOrEqual(200);
    }
  }
});

test("on a phone, a page has one button, and the rest of its actions in a menu", async ({ open }) => {
  const page = await open(`/instances/${things.instance}`, { as: owner, phone: true });
  await page.getByRole("button", { name: "Back up now" }).waitFor();
  expect(await page.getByRole("button", { name: "Restore", exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Actions", exact: true }).click();
  await page.getByRole("menuitem", { name: "Open" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Stop" }).click();
  await page.getByRole("dialog", { name: "Stop Shop" }).waitFor();
});

/** What of the element with the focus is behind the top bar, in pixels. */
const FOCUS_BEHIND_TOP = `(() => {
  const [top, focused] = [document.getElementById("top"), document.activeElement];
  if (top.contains(focused) || focused === document.body || focused.matches(".skip")) return 0;
  return Math.max(0, top.getBoundingClientRect().bottom - focused.getBoundingClientRect().top);
})()`;

test("the top bar is never in front of what has the focus: after the link to the main content, and on the way back up a page", async ({
  open,
}) => {
  const page = await open(`/instances/${things.instance}?tab=settings`, { as: owner });
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.getByRole("link", { name: "Skip to main content" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
  expect(await page.evaluate(FOCUS_BEHIND_TOP)).toBe(0);
  await page.getByRole("button", { name: "Delete instance", exact: true }).focus();
  for (let steps = 0; steps < 30; steps++) {
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(FOCUS_BEHIND_TOP), `after ${steps} steps`).toBe(0);
  }
});

test("paper gets the page without the shell", async ({ open }) => {
  const page = await open(`/instances/${things.instance}`, { as: owner });
  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  const shell = page.locator("#top, .trail, .side, .tabs");
  expect(await shell.filter({ visible: true }).count()).toBe(4);
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => shell.filter({ visible: true }).count()).toBe(0);
  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  await page.getByText("Protection", { exact: true }).first().waitFor();
  await page.emulateMedia({ media: null });
});

/** Configures the dashboard as the operator does. */
async function configure(page: Page, config: DashboardConfig): Promise<void> {
  await page.route("**/config.json", (route) => route.fulfill({ json: config }));
  await page.reload();
}

test("the live dashboard does not look like the sandbox, and each links to the other if that is configured", async ({ open }) => {
  const page = await open("/", { as: owner });
  const banner = page.getByRole("region", { name: "Environment" });
  await banner.waitFor();
  const other = page.getByRole("link", { name: /^Switch to/ });
  expect(await other.count()).toBe(0);
  await configure(page, {
    environment: "live",
    other_dashboard: { environment: "test", url: "https://test.example.com/" },
    api_page: null,
    brand: null,
  });
  await page.getByRole("link", { name: /^Switch to sandbox/ }).waitFor();
  expect(await other.getAttribute("href")).toBe("https://test.example.com/");
  expect(await other.getAttribute("target")).toBe("_blank");
  await banner.waitFor({ state: "detached" });
  await expect.poll(() => page.title()).toMatch(/^Home\b/); // without "TEST" before it
});

test("an operator's brand replaces the product's name, and a logo that holds a script is only a picture", async ({ open }) => {
  const page = await open("/", { as: owner, fresh: true });
  const hostile = `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48" onload="parent.ran = true; ran = true">
    <script>top.ran = true; fetch("https://example.com/")</script><image href="https://example.com/x.png"/>
    <rect width="48" height="48" fill="#d13212"/></svg>`;
  const logo = `data:image/svg+xml;base64,${Buffer.from(hostile).toString("base64")}`;
  const brand = { name: "Acme Cloud", logo, color: "#d13212", support_url: "https://help.example.com/" };
  await configure(page, { environment: "live", other_dashboard: null, api_page: null, brand });
  await page.getByRole("link", { name: /Acme Cloud$/ }).waitFor();
  await expect.poll(() => page.title()).toMatch(/Home · Acme Cloud$/);
  await expect.poll(() => page.evaluate(`document.querySelector("#top img").naturalWidth`)).toBe(48);
  await expect.poll(() => page.evaluate(`getComputedStyle(document.body, "::before").backgroundColor`)).toBe("rgb(209, 50, 18)");
  await page.getByRole("button", { name: owner.user.name }).click();
  expect(await page.getByRole("menuitem", { name: /^Get support/ }).getAttribute("href")).toBe("https://help.example.com/");
  await page.getByRole("menuitem", { name: "About" }).click();
  const about = page.getByRole("dialog", { name: "About Acme Cloud" });
  const { version, commit } = (await anonymous.get("/health")).as(api.health.get.data);
  for (const text of [version, commit?.slice(0, 10) ?? "–"]) await about.getByText(text, { exact: true }).waitFor();
  for (const name of ["Unreleased", "What operators do", "Fixed"])
    await about.getByRole("heading", { name, exact: true }).waitFor();
  await about.getByRole("listitem").first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: owner.user.name }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Acme Cloud" }).waitFor();
  await page.getByRole("link", { name: /^Get support/ }).waitFor();
  await expectAccessible(page);
  expect(await page.evaluate("window.ran")).toBeUndefined();
});

test("the color mode follows the system until the user switches it, and is remembered", async ({ open }) => {
  const page = await open("/", { as: owner });
  const ground = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  await page.getByRole("button", { name: "Dark mode" }).waitFor();
  const light = await ground();
  await page.getByRole("button", { name: "Dark mode" }).click();
  await page.getByRole("button", { name: "Light mode" }).waitFor();
  await expect.poll(ground).not.toBe(light);
  const dark = await ground();
  await page.reload();
  await page.getByRole("button", { name: "Light mode" }).waitFor();
  await expect.poll(ground).toBe(dark);
  await page.getByRole("button", { name: "Light mode" }).click();
  await expect.poll(ground).toBe(light);
  await page.emulateMedia({ colorScheme: "dark" }); // the last choice equals the system's: the page follows the system again
  await expect.poll(ground).toBe(dark);
});

test("a click on a button of the bar counts, although the number of alerts arrives in the middle of it", async ({ open }) => {
  const page = await open("/config.json", { as: owner, fresh: true });
  const released = Promise.withResolvers<void>();
  await page.route("**/overview", async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.goto("/");
  await page.getByRole("button", { name: "Dark mode" }).hover();
  await page.mouse.down();
  released.resolve();
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.mouse.up();
  await page.getByRole("button", { name: "Light mode" }).waitFor();
});
