// How often a page asks the service: seldom during an operation, and never without a reason.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { BASE_PATH } from "../../shared/api/index.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { seedInstance } from "../harness/seed.ts";
import { dashboard } from "../harness/dashboard.ts";
import { type Open, test } from "./browser.ts";
import { isShown, PAGES } from "./pages.ts";

// So slow that operations outlast the time that the test watches.
await ownCloud({ fallback: dashboard(), environment: { SANDBOX_TIME_SCALE: "100" }, timeScale: 1 });

const WATCHED_MS = 7_000;
const APART_MS = 2_000;

const WATCHED = PAGES.filter(({ route }) => ["/", "/servers", "/instances", "/backups"].includes(route));

let mine: TestAccount;
beforeAll(async () => {
  mine = await account();
});

/** All of them concurrently, because watching takes time. */
async function opened(open: Open): Promise<Page[]> {
  const pages: Page[] = [];
  for (const shown of WATCHED) {
    const page = await open(shown.route, { as: mine });
    await isShown(page, shown);
    pages.push(page);
  }
  return pages;
}

/** The times, in milliseconds, at which the page asked the API while nobody used it. */
async function asked(page: Page): Promise<number[]> {
  const times: number[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.startsWith(BASE_PATH)) times.push(performance.now());
  });
  await sleep(WATCHED_MS);
  return times;
}

const HIDE = `Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));`;

test("an operation that the user starts is followed immediately", async ({ open }) => {
  const another = await account();
  const { id } = await seedInstance(another.id);
  const page = await open(`/instances/${id}`, { as: another, fresh: true }); // the clock is shared by all pages of the browser
  await page.getByRole("button", { name: "Stop" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Stop" });
  await confirm.waitFor();
  // Time stands still: what waits for the next poll never comes.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  const asksForWork = page.waitForRequest((request) => new URL(request.url()).pathname.startsWith(`${BASE_PATH}/operations/op_`));
  await confirm.click();
  await asksForWork;
  await page.clock.resume();
  await page.getByRole("progressbar", { name: "Stopping instance" }).first().waitFor();
});

test("no page polls while no operation is in progress", async ({ open }) => {
  const pages = await opened(open);
  expect(await Promise.all(pages.map(asked))).toEqual(pages.map(() => []));
});

test(
  "during an operation a page polls every two seconds, and not at all while it is hidden",
  { timeout: 60_000 },
  async ({ open }) => {
    await mine.api.post("/servers", await mine.serverBody());
    const pages = await opened(open);
    for (const times of await Promise.all(pages.map(asked))) {
      expect(times.length).toBeGreaterThan(1);
      const apart = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      expect(Math.min(...apart)).toBeGreaterThanOrEqual(APART_MS);
    }
    for (const page of pages) await page.evaluate(HIDE);
    await sleep(500); // earlier requests may still be on their way
    expect(await Promise.all(pages.map(asked))).toEqual(pages.map(() => []));
  },
);
