// What every page has in common: it is there by its address, for everybody, on a desk and in a hand, by day and by night.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test as plain } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { furnish, isShown, LOGIN, PAGES, pathOf, type Things } from "./pages.ts";

let mine: TestAccount;
let things: Things;
beforeAll(async () => {
  mine = await account();
  things = await furnish(mine);
});

plain("the pages that are looked at here are all that the dashboard has", () => {
  const table = readFileSync(join(ROOT, "dashboard", "src", "app", "routes.tsx"), "utf8");
  const routes = [...table.matchAll(/\bpage\("([^"]+)"/g)].map(([, route = ""]) => route);
  expect(PAGES.map(({ route }) => route).toSorted()).toEqual(routes.toSorted());
});

describe.each([
  { look: "light on a desktop", phone: false, dark: false },
  { look: "dark on a phone", phone: true, dark: true },
])("$look", ({ phone, dark }) => {
  test("the log-in page can be used by everybody", async ({ open }) => {
    const page = await open("/login", { phone, dark });
    await isShown(page, LOGIN);
    await expectAccessible(page);
  });

  test.for(PAGES)("$route can be used by everybody, and fits", async (shown, { open }) => {
    const page = await open(pathOf(shown, things), { as: mine, phone, dark });
    await isShown(page, shown);
    await expectAccessible(page);
    expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  });
});

test("on every page of the sandbox it is said that it is one", async ({ open }) => {
  const page = await open("/login");
  await page.getByRole("region", { name: "Environment" }).getByText("TEST").waitFor();
  const home = await open("/", { as: mine });
  await home.getByRole("region", { name: "Environment" }).getByText("TEST").waitFor();
  expect(await home.title()).toMatch(/test/i);
});
