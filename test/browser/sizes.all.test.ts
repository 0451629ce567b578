// What a new browser has to load. The same is tested for every page of a small account in pages.table.test.ts.
import { beforeAll, expect } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import { bigAccount } from "./big-account.ts";
import { test } from "./browser.ts";
import {
  bytesLoaded,
  bytesOfCode,
  filesLoaded,
  isShown,
  LOGIN,
  PAGE_BYTES_MAX,
  PAGE_FILES_MAX,
  PAGES,
  pathsOf,
} from "./pages.ts";

/** The maximum for a sign-in page without the design system, the router and the cache of responses. */
const LOGIN_BYTES_MAX = 120_000;

let owner: TestAccount;
beforeAll(async () => {
  owner = await account();
});

test("the sign-in page is small, and has no frame", async ({ open }) => {
  const page = await open("/login", { fresh: true });
  await isShown(page, LOGIN);
  expect(await bytesLoaded(page)).toBeLessThanOrEqual(LOGIN_BYTES_MAX);
  // The banner goes from edge to edge, even before the design system's own styles are there.
  expect(await page.getByRole("region", { name: "Environment" }).boundingBox()).toMatchObject({ x: 0, y: 0 });
});

/** What 50 KB a second bring in the five seconds until the form must be there; `npm run bench:dashboard` measures the seconds. */
const FORM_BYTES_MAX = 170_000;

test("a browser that has nothing of the dashboard loads little before the form to sign in", async ({ open }) => {
  const page = await open("/config.json", { fresh: true, phone: true });
  const arrived = page.goto("/instances");
  await page.getByLabel("Email").waitFor();
  expect(await bytesLoaded(page)).toBeLessThanOrEqual(FORM_BYTES_MAX);
  await arrived;
});

/** What charts weigh comes on top, on the parts that are charts. */
const isOfCharts = (path: string): boolean => path.endsWith("?tab=metrics");

test("no page of an account with 320 instances is large, nor has many files", async ({ open, faults }) => {
  faults.expected.push(/503/); // its servers are seeded: nothing reads a log there
  const { owner: big, things } = await bigAccount();
  const page = await open("/config.json", { as: big, fresh: true });
  const large: Record<string, number[]> = {};
  for (const path of PAGES.flatMap((destination) => pathsOf(destination, things)).filter((path) => !isOfCharts(path))) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.locator(".deferred").first().waitFor({ state: "detached" });
    await page.waitForLoadState("networkidle");
    const [bytes, files] = [await bytesLoaded(page), await filesLoaded(page)];
    if (bytes > PAGE_BYTES_MAX || files > PAGE_FILES_MAX) large[path] = [bytes, files];
  }
  expect(large).toEqual({});
});

test("the first page that a browser loads is not large, and a cached load transfers the same bytes of data", async ({ open }) => {
  for (const destination of PAGES.filter(({ route }) => route === "/servers")) {
    const page = await open(destination.route, { as: owner, fresh: true });
    await isShown(page, destination);
    expect(await bytesLoaded(page)).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    const cold = await bytesOfCode(page);
    await page.goto(destination.route);
    await isShown(page, destination);
    expect(await bytesOfCode(page)).toBe(cold);
  }
});
