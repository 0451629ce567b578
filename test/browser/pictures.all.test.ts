// Pictures: how the size of an instance's backups has changed, and when operations succeeded and failed.
import { expect, test as plain } from "vitest";
import { sizesIn } from "../../dashboard/src/backups/sizes-in.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { openPart, title } from "./instance-page.ts";

const DAY_S = 86_400;

plain("the sizes of backups are at most 300 values, whole days apart, each of the newest backup of its time", () => {
  const backup = (day: number, size_bytes: number | null) => ({
    created_at: new Date(Date.UTC(2026, 0, 1 + day, 2)).toISOString(),
    size_bytes,
  });
  expect(sizesIn([])).toBeUndefined();
  expect(sizesIn([backup(0, null)])).toBeUndefined();
  expect(sizesIn([backup(3, 40), backup(1, 20), backup(0, 10)])).toEqual({
    from: "2026-01-01T02:00:00.000Z",
    step: DAY_S,
    values: [10, 20, null, 40],
  });
  const long = sizesIn([backup(700, 2), backup(699, 3), backup(0, 1)]);
  expect([long?.step, long?.values.length, long?.values[0], long?.values.at(-1)]).toEqual([3 * DAY_S, 234, 1, 2]);
});

test("the size of an instance's backups over time is a chart, by keyboard too, once the user opens it", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Shop" });
  for (const [day, size_bytes] of [1_000_000_000, 1_500_000_000, 2_500_000_000].entries())
    await seedBackup(instance, { size_bytes, created_at: new Date(Date.UTC(2026, 10, 1 + day, 2)).toISOString() });
  const page = await open(`/instances/${instance.id}?tab=backups`, { as: owner });
  await page.getByRole("table", { name: "Backups" }).getByText("2.50 GB").waitFor();
  expect(await page.getByRole("application").count()).toBe(0);
  await openPart(page, "Size over time");
  await page.getByRole("heading", { name: "Size over time" }).waitFor();
  await page.getByRole("application").first().waitFor();
  await expectAccessible(page);
  await page.getByRole("application").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/^1 Nov 2026, 02:00:00 (?:UTC|GMT)/).waitFor(); // of the point that the keyboard is at
});

test("operations on a time line are those of the filters, by keyboard too, once the user opens it", async ({ open }) => {
  const owner = await account();
  await owner.server({ name: "erp-1" });
  const page = await open("/operations?status=succeeded", { as: owner });
  await title(page, "Operations (1)");
  const listRequest = page.waitForRequest((request) => /\/operations\?.*per_page=100/.test(request.url()));
  await openPart(page, "Over time");
  expect(new URL((await listRequest).url()).searchParams.get("status")).toBe("succeeded");
  await page.getByRole("heading", { name: "Over time" }).waitFor();
  await page.getByRole("application").first().waitFor();
  await expectAccessible(page);
  await page.getByRole("application").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/:00:00 (?:UTC|GMT)/).waitFor(); // of the bar that the keyboard is at
});
