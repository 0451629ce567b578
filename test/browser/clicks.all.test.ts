// How many clicks the jobs of a hosting team take, in an account of 320 instances.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { TestAccount } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { bigAccount } from "./big-account.ts";
import { type Open, test } from "./browser.ts";
import { button, dialog, title } from "./instance-page.ts";

const CUSTOMER = 16;
let owner: TestAccount;
let failing: Instance;

beforeAll(async () => {
  const big = await bigAccount();
  ({ owner } = big);
  const server_id = big.things.server;
  await setQuota(owner.id, "instance", 400);
  await setQuota(owner.id, "server", 20);
  for (let n = 1; n <= CUSTOMER; n++)
    await seedInstance(owner.id, { server_id, name: `Chandlery ${n}`, protection_status: "protected" });
  await seedInstance(owner.id, { server_id, name: "Late Florist", protection_status: "overdue" });
  failing = await owner.instance({ name: "Night Bakery" });
});

/** Opens a page and counts the user's own clicks; a click on a label is one, although its field gets another. */
async function counting(open: Open, path: string): Promise<{ page: Page; clicks: () => Promise<unknown> }> {
  const page = await open(path, { as: owner });
  await page.evaluate(`window.clicks = 0;
    addEventListener("click", ({ isTrusted, detail }) => isTrusted && detail > 0 && window.clicks++, true)`);
  return { page, clicks: () => page.evaluate("window.clicks") };
}

test("from any page, it takes two clicks to see which customers have no backup to rely on", async ({ open }) => {
  const { page, clicks } = await counting(open, "/servers");
  await title(page, /^Servers/);
  await page.getByRole("link", { name: "Home", exact: true }).first().click();
  const needs = page.getByRole("list", { name: "Needs you" });
  await needs.getByText("Backup overdue").waitFor();
  await needs.getByRole("link", { name: "Late Florist" }).waitFor();
  await needs.getByRole("listitem").filter({ hasText: "protected by backups" }).getByRole("link", { name: "Protect" }).click();
  await title(page, "Instances (321)"); // the 320 of before and the new one, and none that is protected
  await page.getByRole("row").nth(1).getByText("Unprotected").waitFor();
  expect(await clicks()).toBeLessThanOrEqual(2);
});

test("from any page, it takes two clicks to the reason why something failed last night, and to its log", async ({ open }) => {
  const { operation_id } = (await owner.api.post(`/instances/${failing.id}/backups`, { note: "fail-upload" })).as(Backup);
  const { error } = await owner.until(operation_id, "failed");
  const { page, clicks } = await counting(open, "/instances");
  await title(page, /^Instances/);
  await page.getByRole("link", { name: "Home", exact: true }).first().click();
  const failure = page.getByRole("list", { name: "Needs you" }).getByRole("listitem").filter({ hasText: "Night Bakery" });
  await failure.getByText(error?.message ?? "no reason").waitFor();
  await failure.getByRole("link", { name: "Backup failed" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/operations/${operation_id}`);
  await page
    .getByText(error?.message ?? "no reason")
    .first()
    .waitFor();
  await page.getByRole("heading", { name: "Log" }).waitFor();
  expect(await clicks()).toBeLessThanOrEqual(2);
});

test.for(["/instances", "/"])(
  "from %s, deleting a customer with 16 instances and their backups takes six clicks",
  async (from, { open }) => {
    const { page, clicks } = await counting(open, from);
    if (from === "/") await page.getByRole("link", { name: "Instances", exact: true }).first().click();
    await page.getByLabel("Find instances").click();
    await page.keyboard.type("chandlery");
    await title(page, `Instances (${CUSTOMER})`);
    await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
    await button(page, "Actions on selected").click();
    await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
    const confirmation = dialog(page, `Delete ${CUSTOMER} instances`);
    // A person reads what it warns of before they type and click.
    await confirmation.getByRole("region", { name: "Warnings" }).waitFor();
    await page.keyboard.type(String(CUSTOMER));
    await confirmation.getByRole("checkbox", { name: "Delete their backups, too" }).click();
    // They are seeded: there is nothing on a machine that could be deleted.
    const error = { code: "QUOTA_EXCEEDED", message: "There are enough bulk actions" };
    await page.route("**/bulk", (route) => route.fulfill({ status: 409, json: { success: false, error } }));
    const asking = page.waitForRequest((request) => request.url().endsWith("/bulk") && request.method() === "POST");
    await page.keyboard.press("Enter");
    expect((await asking).postDataJSON()).toMatchObject({ action: "delete", parameters: { with_backups: true } });
    expect(await clicks()).toBeLessThanOrEqual(6);
  },
);
