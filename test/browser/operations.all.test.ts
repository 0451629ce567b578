// The operations of an account: what failed and why, and another try.
import { expect } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { api } from "../../shared/api/index.ts";
import { Operation } from "../../shared/api/operations.ts";
import { storeWorkLog } from "../../shared/records/work-logs.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { choose, sentTo, storePassword } from "./instance-page.ts";

test("what failed in the night is found by a link, with its reason, and is tried again with the same note", async ({ open }) => {
  const owner = await account();
  const { id } = await owner.instance({ name: "Shop" });
  const failed = (await owner.api.post(`/instances/${id}/backups`, { note: "fail-upload" })).as(Backup);
  const { error } = await owner.until(failed.operation_id, "failed");
  await owner.backup(id);
  const page = await open("/operations", { as: owner });
  const title = (count: number) => page.getByRole("heading", { name: `Operations (${count})` }).waitFor();
  await page.getByRole("row").filter({ hasText: "Create server" }).getByText("Succeeded").waitFor();
  await page.getByRole("button", { name: /^Filter by action/ }).click();
  await page.getByRole("option", { name: "Backup", exact: true }).click();
  await title(2);
  await page.getByRole("button", { name: /^Filter by status/ }).click();
  await page.getByRole("option", { name: "Failed" }).click();
  await title(1);
  await expect.poll(() => new URL(page.url()).search).toBe("?type=backup.create&status=failed");
  await page.getByLabel("From").fill("2026-01-01T10:30");
  await title(1);
  await page.getByLabel("Until").fill("2026-01-01T11:00");
  await page.getByText("No matches for this filter.").waitFor();
  await expectAccessible(page);
  await page.goto(`/operations?status=failed&actor=${owner.user.id}`); // the API key asked for the backup
  await page.getByText("No matches for this filter.").waitFor();
  await page.goto("/operations?status=failed");
  const row = page.getByRole("row").filter({ hasText: error?.message ?? "no reason" });
  await row.getByText(/^\d+ (?:min \d+ )?s$/).waitFor();
  await row.getByText("Failed", { exact: true }).waitFor();
  await choose(page, "Backup, Shop", "Retry");
  const dialog = page.getByRole("dialog", { name: "Back up Shop" });
  await expect.poll(() => dialog.getByLabel(/^Note/).inputValue()).toBe("fail-upload");
  await dialog.getByLabel(/^Note/).fill("");
  await dialog.getByRole("button", { name: "Back up now" }).click();
  await page.getByText("Backup completed: Shop").waitFor();
  const [newest] = (await owner.api.get("/operations?type=backup.create")).as(api.operations.list.data);
  expect(newest?.status).toBe("succeeded");
  await page.goto(`/operations/${failed.operation_id}`);
  await page.getByRole("button", { name: "Retry backup: Shop" }).waitFor();
  await owner.until((await owner.api.delete(`/backups/${failed.id}`)).as(Operation).id);
  await page.goto(`/operations/${failed.operation_id}`);
  await page.getByRole("button", { name: "Retry backup: Shop" }).click();
  await expect.poll(() => dialog.getByLabel(/^Note/).inputValue()).toBe("");
  await dialog.getByRole("button", { name: "Back up now" }).waitFor();

  await page.goto("/operations");
  const filterIn = (name: string) => new URL(page.url()).searchParams.get(name);
  const creation = page.getByRole("row").filter({ hasText: "Create server" });
  await creation.getByRole("button", { name: /^Only about / }).click();
  await expect.poll(() => filterIn("resource")).toMatch(/^srv_/);
  await page.getByRole("button", { name: "One resource only" }).click();
  await expect.poll(() => filterIn("resource")).toBeNull();
  await creation.getByRole("button", { name: /^Only by / }).click();
  await expect.poll(() => filterIn("actor")).toMatch(/^tok_/);
  await creation.waitFor();
  await page.getByRole("button", { name: /^Filter by status/ }).click();
  await page.getByRole("option", { name: "Running" }).click();
  await page.getByText("No matches for this filter.").waitFor();
});

test("a phone shows what came of an operation: of a backup, a link to it", async ({ open }) => {
  const owner = await account();
  const { id } = await owner.instance({ name: "Shop" });
  await owner.backup(id);
  const page = await open("/operations?type=backup.create", { as: owner, phone: true });
  const result = page.locator(".card dl div").filter({ has: page.getByText("Result", { exact: true }) });
  await result.getByRole("link", { name: /^Backup/ }).waitFor();
});

test("an instance whose creation failed is created again from the list of operations, with the same values", async ({ open }) => {
  const owner = await account({ seeded: true });
  const labels = { customer: "acme" };
  const body = await owner.instanceBody({ name: "Doomed", domain: "fail-install.example.com", labels });
  const { id, operation_id } = (await owner.api.post("/instances", body)).as(Instance);
  await owner.until(operation_id, "failed");
  const page = await open("/operations?status=failed", { as: owner });
  await choose(page, "Create instance, Doomed", "Retry");
  await page.getByText("Doomed, whose creation failed, is deleted first").waitFor();
  await expect.poll(() => page.getByLabel("Domain").inputValue()).toBe("fail-install.example.com");
  await page
    .getByText(/^Server/)
    .first()
    .waitFor();
  await expect.poll(() => page.getByLabel("Database name").inputValue()).toBe(body["database_name"]);
  await page.getByText("customer: acme").waitFor();
  await page.getByLabel("Domain").fill(uniqueDomain());
  const sent = sentTo(page, "POST", /\/instances$/);
  await page.getByRole("button", { name: "Create instance" }).click();
  await expect.poll(() => sent).toMatchObject([{ name: "Doomed", labels }]);
  await storePassword(page, "Doomed");
  const shop = await owner.instance({ name: "Shop" });
  await page.goto(`/instances/create?like=${shop.id}`); // a form that deleted it first would be no retry
  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  expect(id).not.toBe(shop.id);
});

test("if what failed cannot be deleted first, the form says why, and creates nothing", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id, { state: "create_failed", ssh_key_id: (await owner.sshKey()).id });
  const page = await open(`/servers/create?again=${id}`, { as: owner });
  const sent = sentTo(page, "POST", /\/servers$/);
  const ended: Partial<Operation> = { finished_at: new Date().toISOString() };
  const ofDeletion = { code: "PROVIDER_ERROR" as const, message: "The machine is locked" };
  await page.route(/\/operations\/[^/?]+\?wait=/, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = z.looseObject({ data: Operation }).parse(await response.json());
    await route.fulfill({ response, json: { ...rest, data: { ...data, ...ended, status: "failed", error: ofDeletion } } });
  });
  await page.getByRole("button", { name: "Create server" }).click();
  await page.getByText("The machine is locked.").waitFor();
  expect(sent).toEqual([]);
});

test("a clone that failed is tried again in the form of clones, which asks again what to copy", async ({ open }) => {
  const owner = await account({ seeded: true });
  const shop = await owner.instance({ name: "Shop" });
  const backup = await owner.backup(shop.id);
  const labels = { customer: "acme" };
  const onlyFiles = { restore_database: false, neutralize: false, labels };
  const body = { name: "Files", domain: "fail-install.example.com", backup_id: backup.id, ...onlyFiles };
  const failed = (await owner.api.post(`/instances/${shop.id}/clone`, body)).as(Instance);
  await owner.until(failed.operation_id, "failed");
  const page = await open("/operations?status=failed", { as: owner });
  await choose(page, "Create instance from backup, Files", "Retry");
  await page.getByText("Files, whose creation failed, is deleted first").waitFor();
  await page.getByText("what the failed attempt chose isn't stored").waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/instances/${shop.id}/clone`);
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Files");
  await expect.poll(() => page.getByRole("checkbox", { name: "Neutralize (recommended)" }).isChecked()).toBe(false);
  expect(await page.getByRole("checkbox", { name: "Reset users" }).isChecked()).toBe(false);
  await page.getByText("customer: acme").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Domain").fill(uniqueDomain());
  const sent = sentTo(page, "POST", /\/clone$/);
  const restore = page.getByRole("button", { name: "Restore to a new instance" });
  await restore.click();
  // Nothing is copied without neutralization that the failed attempt may not have copied.
  await page.getByText("Choose the database, the files, or both.").waitFor();
  expect(sent).toEqual([]);
  await page.getByRole("checkbox", { name: "Files" }).check();
  await restore.click();
  await expect.poll(() => sent).toMatchObject([{ name: "Files", backup_id: backup.id, ...onlyFiles }]);
  await storePassword(page, "Files");
  expect((await owner.api.get(`/instances/${failed.id}`)).status).toBe(404);
});

test("what failed leads to its log, and shows its last lines at once", async ({ open }) => {
  const owner = await account();
  const { id } = await owner.instance({ name: "Shop" });
  const failed = (await owner.api.post(`/instances/${id}/backups`, { note: "fail-upload" })).as(Backup);
  await owner.until(failed.operation_id, "failed");
  const page = await open("/operations?status=failed", { as: owner });
  await page.getByRole("link", { name: "Show log" }).click();
  const log = page.getByRole("region", { name: "Log" });
  await expect.poll(() => log.textContent()).toMatch(/^# make_archive\n/);
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}\n`).join("");
  await storeWorkLog({ account_id: owner.id, id: failed.operation_id ?? "" }, lines);
  await page.reload();
  await page.getByRole("heading", { name: "The last 20 lines of the log" }).waitFor();
  await expect.poll(() => log.textContent()).toMatch(/^line 31\n[^]*line 50$/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect.poll(() => log.textContent()).toBe(lines);
});
