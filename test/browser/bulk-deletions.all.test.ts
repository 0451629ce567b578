// Deleting many instances at once: in a few clicks, after their number was typed, and again where something is left.
import { expect } from "vitest";
import * as z from "zod";
import type { Instance } from "../../shared/api/instances.ts";
import { account, unusedId } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { test } from "./browser.ts";
import { button, dialog, instancesOf } from "./instance-page.ts";

test("what is left of a bulk deletion is deleted only after its number was typed again, and by nobody who may not", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const heldInstance = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await owner.session()).post("/bulk", { action: "delete", select: { ids: [heldInstance.id] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${id}`, { as: owner });
  const viewer = await open(`/operations/${id}`, { as: { user: await owner.anotherUser({ role: "viewer" }) } });
  await viewer.getByText(/Another operation is in progress/).waitFor();
  expect(await button(viewer, "Cancel the rest").count()).toBe(0);
  await page.locator("#main").getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await button(page, "Try 1 again").click();
  const confirmation = dialog(page, "Delete 1 instance");
  expect(await button(confirmation, "Delete 1 instance").isDisabled()).toBe(true);
  await confirmation.getByLabel(/To confirm, type the number/).fill("1");
  await button(confirmation, "Delete 1 instance").click();
  await expect.poll(() => page.url()).not.toContain(id);
  await page.locator("#main").getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await viewer.reload();
  await viewer.getByText("0 of 1 done, 1 canceled.").waitFor();
  expect(await button(viewer, "Try 1 again").count()).toBe(0);
});

/** However many instances the customer has; the number is typed in a field that the Tab key reaches. */
const CLICKS_MAX = 6;

test("a customer's instances are deleted with their backups in a few clicks, after their number was typed", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instances: Instance[] = [];
  for (let n = 1; n <= 4; n++) instances.push(await owner.instance({ name: `Bakery ${n}` }));
  await owner.instance({ name: "Garage" });
  const backups = [await owner.backup(instances[0]?.id ?? ""), await owner.backup(instances[1]?.id ?? "")];
  const page = await open("/instances", { as: owner });
  await page.evaluate(`addEventListener("click", ({ isTrusted }) => isTrusted && (window.clicks = (window.clicks ?? 0) + 1))`);
  await page.getByLabel("Find instances").click();
  await page.keyboard.type("bakery");
  await page.getByRole("heading", { name: "Instances (4)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  const confirmation = dialog(page, "Delete 4 instances");
  await confirmation.getByText("4 × Removes the ERP with its database and files from the server").waitFor();
  await page.keyboard.type("4"); // the field has the focus
  await confirmation.getByRole("checkbox", { name: "Delete their backups, too" }).click();
  await confirmation.getByText("2 × Deletes a backup").waitFor();
  await confirmation.getByText(/^(Bakery \d, ){3}Bakery \d will have no completed backup left/).waitFor();
  const bulkResponse = page.waitForResponse(/\/bulk$/);
  await button(confirmation, "Delete 4 instances").click();
  const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await (await bulkResponse).json());
  expect(await page.evaluate("window.clicks")).toBeLessThanOrEqual(CLICKS_MAX);
  await owner.until(data.id);
  await page.getByText("Bulk action finished: 4 of 4 done", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Show results" }).click();
  await page.getByText("4 of 4 done.").waitFor();
  await page.getByText("Deletes their backups, too", { exact: true }).waitFor();
  expect((await instancesOf(owner)).map(({ name }) => name)).toEqual(["Garage"]);
  for (const { id } of backups) expect((await owner.api.get(`/backups/${id}`)).status).toBe(404);
});
