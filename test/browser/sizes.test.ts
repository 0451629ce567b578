// What a new browser has to load. The same is tested for every page in pages.test.ts, which opens them all.
import { beforeAll, expect } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import { test } from "./browser.ts";
import { bytesLoaded, bytesOfCode, isShown, LOGIN, PAGE_BYTES_MAX, PAGES } from "./pages.ts";

/** Without the design system, the router and the cache of responses. */
const LOGIN_BYTES_MAX = 120_000;

let mine: TestAccount;
beforeAll(async () => {
  mine = await account();
});

test("the sign-in page is small", async ({ open }) => {
  const page = await open("/login", { fresh: true });
  await isShown(page, LOGIN);
  expect(await bytesLoaded(page)).toBeLessThanOrEqual(LOGIN_BYTES_MAX);
});

/** Slow 3G. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

test("on a slow phone line something useful is there in two seconds, and the form to sign in within five", async ({ open }) => {
  const page = await open("/config.json", { fresh: true, phone: true }); // the browser has nothing of the dashboard yet
  const line = await page.context().newCDPSession(page);
  await line.send("Network.enable");
  await line.send("Network.emulateNetworkConditions", SLOW);
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const arrived = page.goto("/instances");
  await page
    .getByText(/^(Loading the dashboard|ERP control plane)/)
    .first()
    .waitFor();
  expect(seconds()).toBeLessThanOrEqual(2);
  await page.getByLabel("Email").waitFor();
  expect(seconds()).toBeLessThanOrEqual(5);
  await arrived;
});

test("the first page that a browser loads is not large, and a cached load transfers the same bytes of data", async ({ open }) => {
  for (const shown of PAGES.filter(({ route }) => route === "/servers")) {
    const page = await open(shown.route, { as: mine, fresh: true });
    await isShown(page, shown);
    expect(await bytesLoaded(page)).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    const cold = await bytesOfCode(page);
    await page.goto(shown.route);
    await isShown(page, shown);
    expect(await bytesOfCode(page)).toBe(cold);
  }
});
