// Backup policies in the dashboard: set up, changed and deleted on the instance's page, and seen in the list and on the home page.
import { expect } from "vitest";
import { BackupPolicy } from "../../shared/api/backup-policy.ts";
import { account } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, dialog, fact } from "./instance-page.ts";

test("a backup policy is set up, changed and deleted on the instance's page", async ({ open }) => {
  const mine = await account();
  const { id } = await seedInstance(mine.id, { name: "Shop" });
  const policy = async () => (await mine.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy);
  const page = await open(`/instances/${id}`, { as: mine });
  await page.getByText("backed up only when somebody does it").waitFor();
  await button(page, "Set up automatic backups").click();
  const form = dialog(page, "Backup policy of Shop");
  await form.getByText("The newest of each of the last 7 days, 4 weeks, and 12 months.").waitFor();
  await form.getByLabel("Time zone").fill("Europe/Berlin");
  await form.getByLabel("At", { exact: true }).fill("25:00");
  await form.getByLabel("Newest").fill("3");
  await button(form, "Save policy").click();
  await form.getByText("Enter a time such as 02:00.").waitFor();
  await expectAccessible(page);
  await form.getByLabel("At", { exact: true }).fill("3:30");
  await button(form, "Save policy").click();
  await page.getByText("Backup policy saved: Shop").first().waitFor();
  await fact(page, "Schedule", "Every day at 03:30 (Europe/Berlin)");
  await fact(page, "Keeps", "The 3 newest backups, and the newest of each of the last 7 days, 4 weeks, and 12 months");
  expect(await policy()).toMatchObject({
    schedule: "30 3 * * *",
    timezone: "Europe/Berlin",
    keep: { last: 3, daily: 7, weekly: 4, monthly: 12 },
    drill_every_days: null,
    enabled: true,
  });

  await button(page, "Edit policy").click();
  await form.getByRole("radio", { name: "Custom" }).check();
  await form.getByLabel("Cron expression").fill("* * * * *");
  await button(form, "Save policy").click();
  await form.getByText("Must run at most once an hour").waitFor();
  await form.getByLabel("Cron expression").fill("15 6 * * 1-5");
  await form.getByLabel(/^Restore drill every/).fill("30");
  await form.getByRole("checkbox", { name: "Enabled" }).uncheck();
  await button(form, "Save policy").click();
  await fact(page, "Schedule", "Paused. By the cron expression 15 6 * * 1-5 (Europe/Berlin)");
  expect(await policy()).toMatchObject({ schedule: "15 6 * * 1-5", drill_every_days: 30, enabled: false, next_run_at: null });

  await button(page, "Delete policy").click();
  await button(dialog(page, "Delete backup policy"), "Delete policy").click();
  await button(page, "Set up automatic backups").waitFor();
  expect((await mine.api.get(`/instances/${id}/backup-policy`)).status).toBe(404);
});

test("the home page counts instances by protection, and each count leads to their list", async ({ open }) => {
  const mine = await account();
  await seedInstance(mine.id, { name: "Shop" });
  const page = await open("/", { as: mine });
  await page.getByRole("link", { name: "1 unprotected instances" }).click();
  await page.getByRole("link", { name: "Shop" }).waitFor();
  expect(new URL(page.url()).search).toBe("?protection=unprotected");
  await page.getByRole("button", { name: /Filter by status/ }).click();
  await page.getByRole("option", { name: "Overdue" }).click();
  await page.getByText("No matches for this filter.").waitFor();
  await button(page, "Clear filter").click();
  await page.getByRole("link", { name: "Shop" }).waitFor();
});
