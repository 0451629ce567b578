// The test that every page of an account with 320 instances, and every menu and dialog that opens on it, is accessible to
// everyone at a width. Each width has a file of its own, so that machines can share them.
import { beforeAll, expect } from "vitest";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { TestAccount } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { bigAccount } from "./big-account.ts";
import { moveTo, test } from "./browser.ts";
import { pressAll, settlerOf } from "./openers.ts";
import { furnish, PAGES, pathsOf, type Things } from "./pages.ts";

/** They act at once, leave the page, or open what is the browser's own. */
const NOT_PRESSED = /^(Sign out|Open|Start|Try starting again|Reload|Download.*|Choose file)$/;

/** One test after another takes minutes: each has a part of the pages, by their routes. */
const GROUPS = [
  ["lists", /^\/[a-z]*$/],
  ["pages of servers, instances and backups", /^\/(?!settings)[a-z]+\//],
  ["settings", /^\/settings\/|\*/],
] as const;

/** Registers the tests of a width, in pixels. */
export function testOpened(width: number): void {
  let owner: TestAccount;
  let things: Things;
  beforeAll(async () => {
    ({ owner } = await bigAccount());
    await setQuota(owner.id, "server", 20);
    await setQuota(owner.id, "instance", 400);
    things = await furnish(owner); // what work can be done on: the others are seeded
    await owner.token(["servers:read"]);
    await seedServer(owner.id, { name: "empty-1" }); // it can be deleted
  }, 600_000);

  test.for(GROUPS)("%s, with what opens there", { timeout: 600_000 }, async ([, routes], { open }) => {
    const page = await open("/config.json", { as: owner, phone: width === 320, fresh: true });
    await page.setViewportSize({ width, height: 900 });
    const settle = settlerOf(page);
    const show = async (path: string): Promise<void> => {
      await moveTo(page, path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await settle();
    };
    const look = async (): Promise<void> => {
      await settle();
      await expectAccessible(page);
    };
    const pressed = new Set<string>();
    await page.goto("/");
    for (const path of PAGES.filter(({ route }) => routes.test(route)).flatMap((destination) => pathsOf(destination, things))) {
      await show(path);
      await look();
      await pressAll({ page, path, pressed, notPressed: NOT_PRESSED, show, settle, look });
    }
    expect(pressed.size).toBeGreaterThan(10);
  });
}
