// What every page has in common: its URL opens it, for everyone, on a desktop and on a phone, in light and in dark mode.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test as plain } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { some } from "../harness/some.ts";
import { expectAccessible, expectFits } from "./axe.ts";
import { test } from "./browser.ts";
import {
  bytesLoaded,
  filesLoaded,
  furnish,
  isShown,
  LOGIN,
  PAGE_BYTES_MAX,
  PAGE_FILES_MAX,
  PAGES,
  pathOf,
  type Things,
} from "./pages.ts";

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  owner = await account();
  things = await furnish(owner);
});

plain("the pages that are looked at here are all that the dashboard has", () => {
  const table = readFileSync(join(ROOT, "dashboard", "src", "shell", "routes.tsx"), "utf8");
  const routes = [...table.matchAll(/\bpage\("([^"]+)"/g)].map(([, route = ""]) => route);
  expect(PAGES.map(({ route }) => route).toSorted()).toEqual(routes.toSorted());
});

test.for([
  { look: "light on a desktop", phone: false, dark: false },
  { look: "dark on a phone", phone: true, dark: true },
])("the sign-in page is accessible to everyone, $look", async ({ phone, dark }, { open }) => {
  const page = await open("/login", { phone, dark });
  await isShown(page, LOGIN);
  await expectAccessible(page);
});

test.for(some(PAGES, 4))(
  "the page $route is accessible to everyone, fits the screen and is not large",
  async (destination, { open }) => {
    const page = await open(pathOf(destination, things), { as: owner });
    await isShown(page, destination);
    await expectFits(page, 2560);
    expect(await bytesLoaded(page)).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    expect(await filesLoaded(page)).toBeLessThanOrEqual(PAGE_FILES_MAX);
  },
);

test("every page of the sandbox says that it is the sandbox, even while the service is down", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const page = await open("/login");
  await page.route("**/api/v1/**", (route) => route.abort());
  await page.reload();
  await page.getByRole("region", { name: "Environment" }).getByText("TEST").waitFor();
  const home = await open("/", { as: owner });
  await home.getByRole("region", { name: "Environment" }).getByText("TEST").waitFor();
  await expect.poll(() => home.title()).toMatch(/test/i);
});
