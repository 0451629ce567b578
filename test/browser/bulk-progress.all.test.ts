// A bulk action in progress, and what is said at its end: it waits, is paused or canceled, and is shown on every page.
import { expect } from "vitest";
import * as z from "zod";
import { account, unusedId } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, dialog } from "./instance-page.ts";

const Listed = z.looseObject({ data: z.array(z.looseObject({})), meta: z.looseObject({}) });

test("what another operation holds waits; the action is paused, resumed and canceled, and what did not begin can be tried again", async ({
  open,
  faults,
}) => {
  const owner = await account({ seeded: true });
  const { id: heldId } = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  const operation = (await (await owner.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${operation.id}`, { as: owner });
  await page.getByText(/Another operation is in progress/).waitFor();
  const main = page.locator("#main");
  faults.expected.push(/status of 503/);
  await page.route(
    "**/actions",
    (route) =>
      route.fulfill({ status: 503, json: { success: false, error: { code: "SERVICE_UNAVAILABLE", message: "Try again soon" } } }),
    { times: 1 },
  );
  await main.getByRole("button", { name: "Pause" }).click();
  await main.getByRole("alert").getByText("Try again soon").waitFor();
  await main.getByRole("button", { name: "Pause" }).click();
  await main.getByRole("button", { name: "Resume" }).waitFor();
  // What somebody else asks for counts, too.
  await (await owner.session()).post(`/operations/${operation.id}/actions`, { action: "resume" });
  await main.getByRole("button", { name: "Pause" }).waitFor();
  await main.getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await main.getByRole("button", { name: "Try 1 again" }).click();
  const confirmation = dialog(page, "Stop 1 instance");
  await confirmation.getByText("Waits for other operations on Held fast, for up to 60 minutes").waitFor();
  await button(confirmation, "Stop 1 instance").click();
  await expect.poll(() => page.url()).not.toContain(operation.id);
  await main.getByRole("button", { name: "Cancel the rest" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement === document.body")).toBe(false);
});

/** The time after which a page asks for the overview again. */
const FOLLOWED_MS = 60_000;
const BULK = { type: "instance", parameters: {}, total: 1, waiting: 0, running: 1, succeeded: 0, failed: 0, cancelled: 0 };

test("a bulk action in progress can be closed for the session, and covers no bar of a phone's list", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id: heldId } = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await owner.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open("/instances", { as: owner, phone: true });
  const progress = page.getByText("Stopping instances: 0 of 1", { exact: true });
  await progress.waitFor();
  await page.getByRole("checkbox", { name: "Select Held fast" }).click();
  const bar = page.locator(".phone-selection");
  await bar.getByText("1 selected").waitFor();
  await page.setViewportSize({ width: 390, height: 380 }); // so that the bar stands at the edge
  const [panel, edge] = ["toasts", "phone-selection"].map((name) => `document.querySelector(".${name}").getBoundingClientRect()`);
  await expect.poll(() => page.evaluate(`innerHeight - ${edge}.bottom`)).toBe(0);
  await expect.poll(() => page.evaluate(`${panel}.bottom <= ${edge}.top`)).toBe(true);
  await page.getByRole("region", { name: "Notifications" }).getByRole("button", { name: "Dismiss" }).click();
  await progress.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("checkbox", { name: "Select Held fast" }).waitFor();
  await page.goto(`/operations/${id}`);
  await progress.waitFor();
  const watched = page.waitForResponse(/\/operations\?per_page=50$/);
  await page.goto("/instances");
  await (await watched).finished();
  await page.getByRole("checkbox", { name: "Select Held fast" }).waitFor();
  expect(await progress.count()).toBe(0);
});

test("a running bulk action is shown after a reload, behind however many newer operations", async ({ open, faults }) => {
  const owner = await account({ seeded: true });
  const { id: heldId } = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  await (await owner.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } });
  const page = await open("/config.json", { as: owner, clock: true });
  let begunMeanwhile = {};
  const newId = unusedId("operation");
  await page.route(/\/operations\?per_page=50$/, async (route) => {
    const response = await route.fetch();
    const { data, meta, ...rest } = Listed.parse(await response.json());
    const newer = {
      ...data[0],
      id: newId,
      status: "succeeded",
      finished_at: new Date().toISOString(),
      result: null,
      ...begunMeanwhile,
    };
    await route.fulfill({ response, json: { ...rest, data: [newer], meta: { ...meta, next_cursor: "more" } } });
  });
  await page.goto("/settings/account");
  await page.getByText("Stopping instances: 0 of 1", { exact: true }).waitFor();
  // What others begin is seen while the overview fails, too.
  faults.expected.push(/^Failed to load resource: net::ERR_FAILED/);
  await page.route("**/overview", (route) => route.abort());
  begunMeanwhile = { status: "running", finished_at: null, result: { bulk: { ...BULK, action: "start" } } };
  await page.clock.fastForward(FOLLOWED_MS);
  await page.getByText("Starting instances: 0 of 1", { exact: true }).waitFor();
});

test("the operations say what a bulk action did and how many failed, and link to nothing that it has deleted", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const shop = await owner.instance({ name: "Shop" });
  const stopped = await seedInstance(owner.id, { name: "Resting", state: "stopped" });
  const lockedBackup = await owner.backup(shop.id);
  await owner.api.put(`/backups/${lockedBackup.id}`, { locked: true });
  const begin = async (body: object): Promise<void> => {
    const { id } = (await (await owner.session()).post("/bulk", body)).as(z.looseObject({ id: z.string() }));
    await owner.until(id);
  };
  await begin({ action: "stop", select: { ids: [stopped.id] } });
  await begin({ action: "delete", select: { ids: [shop.id] }, parameters: { with_backups: true } });
  const page = await open("/operations", { as: owner });
  const row = page.getByRole("row").filter({ hasText: "Stop instances" });
  await row.getByText("0 of 1 done, 1 failed.").waitFor();
  await row.getByText("1 instance", { exact: true }).waitFor();
  await expectAccessible(page);
  const single = page.getByRole("row").filter({ hasText: "Delete instance" }).filter({ hasText: "Shop" });
  await single.getByText("Shop", { exact: true }).first().waitFor();
  expect(await single.getByRole("link", { name: "Shop", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Delete instances" }).click();
  expect(await page.getByRole("link", { name: "Shop", exact: true }).getAttribute("href")).toBe(`/backups?instance=${shop.id}`);
  await button(page, "Try 1 again").click();
  const confirmation = dialog(page, "Delete: none of 1 instance");
  await confirmation
    .getByText("Shop: Already deleted. To delete the backups that are left, follow the link in the results.")
    .waitFor();
  expect(await button(confirmation, "Delete").isDisabled()).toBe(true);
});
