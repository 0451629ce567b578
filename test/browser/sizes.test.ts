// What a browser has to load.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { account, type TestAccount } from "../harness/account.ts";
import { test } from "./browser.ts";
import { furnish, isShown, LOGIN, PAGES, pathOf, type Shown, type Things } from "./pages.ts";

const KB = 1000;
const LOGIN_MAX = 350 * KB;
const PAGE_MAX = 550 * KB;

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
