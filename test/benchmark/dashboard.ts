// What a user waits for in the dashboard: a first visit over a slow connection, and what they do in lists of 320 instances and
// 560 backups.
import { cpus } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import * as z from "zod";
import { ROOT } from "../../infra/built.ts";
import { bigAccount } from "../browser/big-account.ts";
import { test } from "../browser/browser.ts";
import { bytesLoaded, isShown, LOGIN, PAGES, pathOf, type Things } from "../browser/pages.ts";
import type { TestAccount } from "../harness/account.ts";
import { tableOf, writeTables } from "./figures.ts";

/** A phone on a slow 3G network: 50 KB a second, and 400 ms to a response. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  ({ owner, things } = await bigAccount());
});

const tables: string[] = [];
afterAll(() => {
  const [first] = cpus();
  const date = new Date().toLocaleDateString("en-US", { dateStyle: "long" });
  const where = `Measured on ${date} in Chromium, ${cpus().length} × ${first?.model ?? "unknown"}:`;
  writeTables(join(ROOT, "docs", "performance.md"), "npm run bench:dashboard", [where, ...tables]);
});

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const kilobytes = (bytes: number): string => String(Math.round(bytes / 1000));

test("a first visit over a slow connection", async ({ open }) => {
  const page = await open("/config.json", { fresh: true });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", SLOW);
  const began = performance.now();
  await page.goto("/login", { waitUntil: "commit" });
  await page.getByText(/./).first().waitFor();
  const first = performance.now() - began;
  await page.getByLabel("Password").waitFor();
  const form = performance.now() - began;
  const before = await bytesLoaded(page);
  await isShown(page, LOGIN);
  tables.push(
    tableOf(
      ["Sign-in page, first visit at 50 KB/s", "Seconds", "KB"],
      [
        ["first words", seconds(first), ""],
        ["form", seconds(form), kilobytes(before)],
        ["everything", seconds(performance.now() - began), kilobytes(await bytesLoaded(page))],
      ],
    ),
  );
});

/**
 * Measures the time from a user's input to the next picture, as browsers report it: the longest of an action's keys or clicks, in
 * milliseconds.
 */
const WATCH_INPUT = `self.longest = 0; new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) longest = Math.max(longest, duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });`;
/** Longer than the browser takes to report an input that is done. */
const REPORTED_MS = 500;

async function inputDelay(page: Page, act: () => Promise<unknown>): Promise<number> {
  await page.evaluate("longest = 0");
  await act();
  await page.waitForTimeout(REPORTED_MS);
  return z.number().parse(await page.evaluate("longest"));
}

test("what is done in long lists", async ({ open }) => {
  const page = await open("/instances", { as: owner, fresh: true });
  await page.addInitScript(WATCH_INPUT);
  await page.reload();
  const rows = page.getByRole("row");
  await rows.nth(20).waitFor();
  await page.getByRole("button", { name: "Preferences for instances" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /20 per page/ }).click();
  await dialog.getByRole("option", { name: "100 per page" }).click();
  const delays: [string, number][] = [
    ["show 100 on a page", await inputDelay(page, () => dialog.getByRole("button", { name: "Save" }).click())],
  ];
  await rows.nth(100).waitFor();
  const find = page.getByLabel("Find instances");
  delays.push(["type in the search", await inputDelay(page, () => find.pressSequentially("bakery ulm"))]);
  await page.getByRole("heading", { name: "Instances (4)" }).waitFor();
  delays.push(["clear it", await inputDelay(page, () => find.fill(""))]);
  await rows.nth(100).waitFor();
  delays.push(["select all", await inputDelay(page, () => page.getByRole("checkbox").first().click())]);
  delays.push(["deselect one", await inputDelay(page, () => page.getByRole("checkbox").nth(5).click())]);
  delays.push([
    "open the actions",
    await inputDelay(page, () =>
      page
        .getByRole("button", { name: /^Actions/ })
        .first()
        .click(),
    ),
  ]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Sort/ }).click();
  delays.push(["sort", await inputDelay(page, () => page.getByRole("option", { name: "Name A–Z" }).click())]);
  await page.getByRole("link", { name: "Bakery Aachen 1" }).waitFor();
  const preferences = page.getByRole("button", { name: "Preferences for instances" });
  delays.push(["open the preferences", await inputDelay(page, () => preferences.click())]);
  await dialog.getByLabel("Database name").check();
  delays.push(["show another column", await inputDelay(page, () => dialog.getByRole("button", { name: "Save" }).click())]);
  await page.getByRole("columnheader", { name: "Database name" }).waitFor();
  delays.push(["next page", await inputDelay(page, () => page.getByRole("button", { name: "Next page" }).click())]);
  delays.push([
    "jump by the top bar",
    await inputDelay(page, () => page.getByRole("combobox", { name: "Search" }).pressSequentially("bakery")),
  ]);
  delays.push([
    "open an instance",
    await inputDelay(page, () =>
      page
        .getByRole("option", { name: /Bakery/ })
        .first()
        .click(),
    ),
  ]);
  tables.push(
    tableOf(
      ["Input to next picture, 100 of 320 instances on a page", "ms"],
      delays.map(([action, ms]) => [action, String(ms)]),
    ),
  );
});

const SHIFTS = `new Promise((resolve) => { let sum = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 100); })`;

test("what jumps while a page loads", async ({ open }) => {
  const shifts: [string, number][] = [];
  for (const destination of [LOGIN, ...PAGES]) {
    const path = pathOf(destination, things);
    const page = await open(path, destination === LOGIN ? { fresh: true } : { as: owner, fresh: true });
    await page.waitForLoadState("networkidle");
    shifts.push([destination.route, z.number().parse(await page.evaluate(SHIFTS))]);
  }
  const worst = shifts.toSorted(([, a], [, b]) => b - a).slice(0, 5);
  tables.push(
    tableOf(
      ["Layout shift while loading, the worst pages", "CLS"],
      worst.map(([route, sum]) => [`\`${route}\``, sum.toFixed(3)]),
    ),
  );
});
