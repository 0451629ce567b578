// The lists in the tabs of an instance and a server, and beside other lists: filtered by what they show, searched and downloaded
// like the pages of all.
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedDeploy, seedInstance, seedInvitation, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose, dialog } from "./instance-page.ts";

async function filter(page: Page, by: RegExp, option: string): Promise<void> {
  await button(page, by).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

const counted = (page: Page, name: string, count: number): Promise<void> =>
  page.getByRole("heading", { level: 2, name: `${name} (${count})` }).waitFor();

const parameter = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);

async function csvOf(page: Page, name: string): Promise<string[]> {
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, `Download ${name} as CSV`).click()]);
  return (await text(await file.createReadStream())).trimEnd().split("\r\n");
}

test("an instance's backups are searched and filtered, and its filters are saved for the backups of every instance", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const [one, other] = [await seedInstance(owner.id), await seedInstance(owner.id)];
  await seedBackup(one, { note: "Before the inventory", labels: { reason: "inventory" } });
  await seedBackup(one, { state: "failed", note: "At night" });
  await seedBackup(other, { state: "failed" });
  const page = await open(`/instances/${one.id}?tab=backups`, { as: owner });
  await counted(page, "Backups", 2);
  await page.getByLabel("Find backups").fill("inventory");
  await counted(page, "Backups", 1);
  expect(await csvOf(page, "backups")).toHaveLength(2);
  await page.getByLabel("Find backups").fill("");
  await counted(page, "Backups", 2);
  await filter(page, /^Filter by status/, "Failed");
  await counted(page, "Backups", 1);
  expect([parameter(page, "tab"), parameter(page, "backups-status")]).toEqual(["backups", "failed"]);
  await button(page, "More filters").click();
  await filter(page, /^Filter by kind/, "Scheduled");
  await page.getByText("No matches for this filter.").waitFor();
  await expectAccessible(page);
  await button(page, "Clear filter").click();
  await counted(page, "Backups", 2);

  await page.goto(`/instances/${one.id}?tab=backups&backups-status=failed`);
  await button(page, "Saved filters").click();
  await page.getByRole("menuitem", { name: "Save these filters…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("What failed");
  await button(page.getByRole("dialog"), "Save").click();
  await page.goto(`/instances/${other.id}?tab=history`);
  await button(page, "Saved filters").click();
  expect(await page.getByRole("menuitem", { name: "What failed", exact: true }).count()).toBe(0);
  await page.goto(`/instances/${other.id}?tab=backups`);
  await button(page, "Saved filters").click();
  await page.getByRole("menuitem", { name: "What failed", exact: true }).click();
  await expect.poll(() => parameter(page, "backups-status")).toBe("failed");
});

test("an instance's deploys are filtered and gone back to from their list, its history is filtered and downloaded", async ({
  open,
}) => {
  const owner = await account();
  const { id } = await owner.instance({ name: "Shop" });
  await seedDeploy({ account_id: owner.id, id });
  await owner.backup(id);
  const page = await open(`/instances/${id}?tab=code`, { as: owner });
  await counted(page, "Deploys", 1);
  await button(page, "More filters").click();
  await filter(page, /^Filter by trigger/, "A push");
  await page.getByText("No matches for this filter.").waitFor();
  await filter(page, /^Filter by trigger/, "A user");
  await filter(page, /^Filter by status/, "Completed");
  await counted(page, "Deploys", 1);
  await page.getByLabel("Find deploys").fill("nobody");
  await page.getByText("No matches for this filter.").waitFor();
  await page.getByLabel("Find deploys").fill("operator");
  await counted(page, "Deploys", 1);
  await button(page, /^Actions on Deploy of /).click();
  await page.getByRole("menuitem", { name: "Roll back to this…" }).click();
  await dialog(page, /^Roll back/).waitFor();
  await page.keyboard.press("Escape");

  await page.goto(`/instances/${id}?tab=history`);
  await page.getByRole("row").filter({ hasText: "Create instance" }).waitFor();
  await filter(page, /^Filter by action/, "Backup");
  await expect.poll(() => page.getByRole("row").filter({ hasText: "Create instance" }).count()).toBe(0);
  const [header, row, ...rest] = await csvOf(page, "history");
  expect([header, row, rest]).toEqual([
    "Operation,Status,Result,Started by,Started",
    expect.stringMatching(/^Backup,Succeeded,,/),
    [],
  ]);
  await filter(page, /^Filter by status/, "Failed");
  await page.getByText("No matches for this filter.").waitFor();
  expect(parameter(page, "operations-type")).toBe("backup.create");
  await expectAccessible(page);
});

test("a server's instances are filtered by version, and instances by a server that is not among the first hundred", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "server", 200);
  const first = await seedServer(owner.id, { name: "erp-first" });
  for (let n = 0; n < 100; n++) await seedServer(owner.id);
  await seedInstance(owner.id, { name: "Old", server_id: first.id, erp_version: "17.0" });
  await seedInstance(owner.id, { name: "New", server_id: first.id, erp_version: "18.0" });
  await seedInstance(owner.id, { name: "Elsewhere" });
  const page = await open("/instances", { as: owner });
  await button(page, "More filters").click();
  await button(page, /^Filter by server/).click();
  await page.getByRole("combobox", { name: "Find servers" }).fill("first");
  await page.getByRole("option", { name: "erp-first" }).click();
  await expect.poll(() => parameter(page, "server")).toBe(first.id);
  const names = async () => (await page.getByRole("rowheader").getByRole("link").allTextContents()).toSorted();
  await expect.poll(names).toEqual(["New", "Old"]);
  await page.reload();
  await button(page, /^Filter by server.*erp-first/).waitFor();
  await expectAccessible(page);

  await page.goto(`/servers/${first.id}`);
  await expect.poll(names).toEqual(["New", "Old"]);
  await button(page, "More filters").click();
  expect(await button(page, /^Filter by server/).count()).toBe(0);
  await filter(page, /^Filter by version/, "17.0");
  await expect.poll(names).toEqual(["Old"]);
  expect(parameter(page, "instances-version")).toBe("17.0");
});

test("invitations are found and filtered apart from the people", async ({ open }) => {
  const owner = await account();
  for (let sent = 0; sent < 2; sent++) await seedInvitation(owner);
  const page = await open("/settings/people", { as: owner });
  await counted(page, "Invitations", 2);
  const rows = page.getByRole("table", { name: "Invitations" }).getByRole("rowheader");
  const [email = ""] = await rows.allTextContents();
  await page.getByLabel("Find invitations").fill(email);
  await counted(page, "Invitations", 1);
  await page.getByRole("heading", { level: 1, name: "People (1)" }).waitFor();
  expect((await csvOf(page, "invitations"))[1]).toContain(email);
  await page.goto("/settings/people?invitations-role=owner");
  await page.getByText("No matches for this filter.").waitFor();
  await page.getByRole("heading", { level: 1, name: "People (1)" }).waitFor();
  await button(page, "Clear filter").click();
  await choose(page, email, "Withdraw");
  await dialog(page, /^Withdraw invitation/).waitFor();
});
