// What a browser has to load, and how soon there is something to use.
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { account, type TestAccount } from "../harness/account.ts";
import { type Look, type Open, test } from "./browser.ts";
import { furnish, isShown, LOGIN, PAGES, pathOf, type Shown, type Things } from "./pages.ts";

const KB = 1000;
const LOGIN_MAX = 350 * KB;
const PAGE_MAX = 550 * KB;
const INTERACTIVE_MS = 1500;
const TURNS_MAX = 6;

let mine: TestAccount;
let things: Things;
beforeAll(async () => {
  mine = await account();
  things = await furnish(mine);
});

const Files = z.array(z.object({ name: z.string(), encodedBodySize: z.number(), decodedBodySize: z.number() }));

/** Bytes of scripts and styles, as they came. */
const LOADED = `performance.getEntriesByType("resource")
  .filter(({ name }) => /\\.(js|css)$/.test(new URL(name).pathname))
  .map(({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize }))`;

async function loaded(page: Page, shown: Shown): Promise<number> {
  await isShown(page, shown);
  const files = Files.parse(await page.evaluate(LOADED));
  const uncompressed = files.filter(
    ({ encodedBodySize, decodedBodySize }) => encodedBodySize >= decodedBodySize && decodedBodySize > 1000,
  );
  expect(uncompressed).toEqual([]);
  expect(files.length).toBeGreaterThan(1);
  return files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
}

test("the log-in page is small", async ({ open }) => {
  expect(await loaded(await open("/login", { fresh: true }), LOGIN)).toBeLessThanOrEqual(LOGIN_MAX);
});

test.for(PAGES)("$route from cold is not large", async (shown, { open }) => {
  expect(await loaded(await open(pathOf(shown, things), { as: mine, fresh: true }), shown)).toBeLessThanOrEqual(PAGE_MAX);
});

/** The best of some turns, each in a browser that has not been there before: the machine may be busy with other things. */
async function fastest(path: string, look: Look, open: Open, used: (page: Page) => Locator): Promise<number> {
  let best = Infinity;
  for (let turn = 0; turn < TURNS_MAX && best >= INTERACTIVE_MS; turn++) {
    const page = await open(path, { ...look, fresh: true });
    await used(page).click({ trial: true });
    best = Math.min(best, Number(await page.evaluate("performance.now()"))); // since it was asked for
    await page.close();
  }
  return best;
}

test("a warm server's log-in page can be used at once", async ({ open }) => {
  const took = await fastest("/login", {}, open, (page) => page.getByRole("button", { name: "Log in" }));
  expect(took).toBeLessThan(INTERACTIVE_MS);
});

test("so can Home, with its numbers", async ({ open }) => {
  const took = await fastest("/", { as: mine }, open, (page) => page.getByRole("link", { name: "1 running instances" }));
  expect(took).toBeLessThan(INTERACTIVE_MS);
});
