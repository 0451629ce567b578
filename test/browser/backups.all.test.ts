// Backups: creating, restoring, downloading and deleting them, and the reasons that prevent it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { openTab } from "./instance-page.ts";

const rowOf = (page: Page, text: string): Locator => page.getByRole("row").filter({ hasText: text });
const menuOf = (row: Locator): Locator => row.getByRole("button", { name: /^Actions on the backup/ });
const dialog = (page: Page, name: string | RegExp): Locator => page.getByRole("dialog", { name });

async function choose(page: Page, row: Locator, action: string): Promise<void> {
  await menuOf(row).click();
  await page.getByRole("menuitem", { name: new RegExp(`^${action}(?! to)`) }).click();
}

const backupsOf = async (owner: TestAccount): Promise<Backup[]> => (await owner.api.get("/backups")).as(z.array(Backup));

describe("creating a backup", () => {
  test("the backup form needs an instance, unless there is one alone, and a note that is not too long", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { server_id } = await seedInstance(owner.id, { name: "Shop" });
    await seedInstance(owner.id, { name: "Outlet", server_id });
    const page = await open("/backups", { as: owner });
    await page.getByText("No backups yet.").waitFor();
    await page.getByRole("button", { name: "Back up now" }).click();
    const form = dialog(page, "Back up an instance");
    await form.getByLabel("Note").fill("n".repeat(201));
    await form.getByRole("button", { name: "Back up now" }).click();
    await form.getByText("This is required.", { exact: true }).waitFor();
    await form.getByText("Must have at most 200 characters.", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await backupsOf(owner)).toEqual([]);
  });

  test("the page follows a backup to its end and shows a notification", async ({ open }) => {
    const owner = await account({ seeded: true });
    await owner.instance({ name: "Shop" });
    const page = await open("/backups", { as: owner });
    await page.getByRole("button", { name: "Back up now" }).click();
    const form = dialog(page, "Back up an instance");
    await form
      .getByRole("button", { name: /^Instance/ })
      .getByText("Shop", { exact: true })
      .waitFor(); // there is no other one
    await form.getByLabel("Note").fill("Before the upgrade");
    await page.route("**/api/v1/backups?*", (route) => void sleep(300).then(() => route.continue()));
    await form.getByRole("button", { name: "Back up now" }).click();
    await form.waitFor({ state: "detached" });
    await page.getByText("Backup completed: Shop").first().waitFor();
    // The page shows what the notification says by then, however long the request took.
    expect(await rowOf(page, "Before the upgrade").getByText("Completed").count()).toBe(1);
    expect(await backupsOf(owner)).toMatchObject([{ note: "Before the upgrade", kind: "manual", status: "completed" }]);
  });

  test("a backup is available for every instance, even beyond the first hundred", async ({ open }) => {
    const owner = await account();
    await setQuota(owner.id, "instance", 200);
    const oldest = await seedInstance(owner.id, { name: "The oldest of all" });
    const { server_id } = oldest;
    for (let each = 0; each < 100; each++) await seedInstance(owner.id, { server_id });
    await seedBackup(oldest, { note: "Of the oldest" });
    await seedBackup({ ...oldest, id: unusedId("instance"), name: "Gone" }, { note: "Of one that is gone" });
    const page = await open("/backups", { as: owner });
    await rowOf(page, "Of the oldest").getByRole("link", { name: "The oldest of all" }).waitFor();
    await rowOf(page, "Of one that is gone").getByText("(deleted)").waitFor();
    expect(await rowOf(page, "Of one that is gone").getByRole("link", { name: "Gone" }).count()).toBe(0);
    await page.getByRole("button", { name: "Back up now" }).click();
    const form = dialog(page, "Back up an instance");
    await form.getByRole("button", { name: /^Instance/ }).click();
    await expectAccessible(page);
    await form.getByPlaceholder("Search all 101 instances").fill("oldest");
    await page.getByRole("option", { name: /The oldest of all/ }).click();
    await form
      .getByRole("button", { name: /^Instance/ })
      .getByText("The oldest of all")
      .waitFor();
  });

  test("the backup button is disabled with the reason if the instance does not allow a backup", async ({ open }) => {
    const owner = await account({ seeded: true });
    await seedInstance(owner.id, { name: "Shop", state: "failed" });
    const page = await open("/backups", { as: owner });
    await page.getByRole("button", { name: "Back up now" }).click();
    await dialog(page, "Back up an instance")
      .getByRole("button", { name: /^Instance/ })
      .click();
    const option = page.getByRole("option", { name: /Shop/ });
    await expect.poll(() => option.getAttribute("aria-disabled")).toBe("true");
    await option.getByText("while failed").first().waitFor();
  });
});

describe("restoring a backup", () => {
  test("a restore needs the instance's name, and then restores the data with a safety backup", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const data = `/sandbox/instances/${id}/data`;
    await owner.api.put(data, { orders: 3 });
    await owner.backup(id, { note: "three orders" });
    await owner.api.put(data, { orders: 0 });
    const page = await open("/backups", { as: owner });
    const sent: unknown[] = [];
    page.on("request", (request) => request.url().endsWith("/restore") && sent.push(request.postDataJSON()));
    await choose(page, rowOf(page, "three orders"), "Restore");
    const confirmation = dialog(page, "Restore Shop");
    await confirmation
      .getByText(/^The backup is from .* Changes made since then will exist only in the pre-restore backup\./)
      .waitFor();
    await confirmation.getByText("Replaces the database and the files with the backup's").waitFor();
    await confirmation.getByText("Takes a safety backup of the current data while the ERP is stopped").waitFor();
    await confirmation.getByText("Can't be estimated yet").waitFor(); // no restore of this instance has shown it
    await confirmation.getByRole("button", { name: "Restore" }).click();
    await confirmation.getByText("This is required.", { exact: true }).waitFor();
    await confirmation.getByLabel("Type Shop to confirm").fill("Shep");
    await confirmation.getByRole("button", { name: "Restore" }).click();
    await confirmation.getByText("Doesn't match. Type Shop.").waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    await confirmation.getByRole("button", { name: "Restore" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/instances/${id}`);
    await page.getByText("Backup restored: Shop").first().waitFor();
    expect(sent).toEqual([{ restore_database: true, restore_filestore: true, backup_first: true, neutralize: false }]);
    expect((await owner.api.get(data)).as(z.unknown())).toEqual({ orders: 3 });
    expect((await backupsOf(owner)).map(({ kind }) => kind)).toEqual(["pre_restore", "manual"]);
    // What it worked with is named by its date, not by its ID.
    await openTab(page, "History");
    const history = page.getByRole("table", { name: "History" });
    for (const name of [/^Backup from .*20\d\d/, /^Pre-restore backup from .*20\d\d/])
      await history.getByRole("link", { name }).waitFor();
    expect(await history.textContent()).not.toContain("bak_");
  });

  test("the dialog keeps the backup that it showed first when a newer one comes, and says so when that one is gone", async ({
    open,
  }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const first = await owner.backup(id, { note: "First" });
    const page = await open(`/instances/${id}?do=restore`, { as: owner, clock: true });
    const confirmation = dialog(page, "Restore Shop");
    const chooserOf = (note: string) => confirmation.getByRole("button", { name: /^Backup/ }).filter({ hasText: note });
    await chooserOf("First").waitFor();
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    const refreshed = async () => {
      const listed = page.waitForResponse(/\/backups\?.*status=completed/);
      await page.clock.fastForward(31_000);
      await (await listed).finished();
    };
    await owner.backup(id, { note: "Newer" });
    await refreshed();
    await chooserOf("First").click();
    await page.getByRole("option", { name: /Newer/ }).waitFor();
    await page.keyboard.press("Escape");
    await chooserOf("First").waitFor();
    expect(await confirmation.getByLabel("Type Shop to confirm").inputValue()).toBe("Shop");

    await confirmation.getByLabel("Files only").check();
    await chooserOf("First").click();
    await page.getByRole("option", { name: /Newer/ }).click();
    await chooserOf("Newer").waitFor();
    expect(await confirmation.getByLabel("Type Shop to confirm").inputValue()).toBe("");
    expect(await confirmation.getByLabel("Files only").isChecked()).toBe(true);
    await chooserOf("Newer").click();
    await page.getByRole("option", { name: /First/ }).click();
    await chooserOf("First").waitFor();

    await owner.until((await owner.api.delete(`/backups/${first.id}`)).as(z.looseObject({ id: z.string() })).id);
    await refreshed();
    await confirmation.getByText("The backup that was chosen here no longer exists. Choose another one.").waitFor();
    expect(await confirmation.getByRole("button", { name: "Restore" }).count()).toBe(0);
    await confirmation.getByRole("button", { name: /^Backup/ }).click();
    await page.getByRole("option", { name: /Newer/ }).click();
    await chooserOf("Newer").waitFor();
    expect(await confirmation.getByLabel("Type Shop to confirm").inputValue()).toBe("");
  });

  test("a restore begun far down shows its progress where one looks: at the top, where the focus then is", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    await owner.backup(id, { note: "three orders" });
    const page = await open(`/instances/${id}?tab=backups`, { as: owner });
    await page.setViewportSize({ width: 1280, height: 300 });
    await choose(page, rowOf(page, "three orders"), "Restore");
    expect(await page.evaluate("scrollY")).toBeGreaterThan(0);
    const confirmation = dialog(page, "Restore Shop");
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    await confirmation.getByRole("button", { name: "Restore" }).click();
    await confirmation.waitFor({ state: "detached" });
    await page.getByText("Backup restored: Shop").first().waitFor();
    expect(await page.evaluate("[scrollY, document.activeElement.id]")).toEqual([0, "main"]);
  });

  test("a restore restores only the chosen parts", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    await owner.backup(id);
    const page = await open("/backups", { as: owner });
    await choose(page, rowOf(page, "Shop"), "Restore");
    const confirmation = dialog(page, "Restore Shop");
    await confirmation.getByRole("radio", { name: "Files only" }).check();
    await confirmation
      .getByText(/^The backup is from .* The replaced files will exist only in the pre-restore backup\./)
      .waitFor();
    await confirmation.getByText("Adds the backup's files to the present ones").waitFor();
    await confirmation.getByRole("radio", { name: "Database only" }).check();
    await confirmation.getByText("Replaces the database with the backup's").waitFor();
    await confirmation.getByRole("checkbox", { name: /Back up the current state/ }).uncheck();
    await confirmation.getByText("Without a backup first, the current data cannot be recovered").waitFor();
    expect(await confirmation.getByText(/lost|only in the pre-restore backup/).count()).toBe(0); // said once
    await confirmation.getByRole("checkbox", { name: /Neutralize/ }).check();
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    const [request] = await Promise.all([
      page.waitForRequest("**/restore"),
      confirmation.getByRole("button", { name: "Restore" }).click(),
    ]);
    expect(request.postDataJSON()).toEqual({
      restore_database: true,
      restore_filestore: false,
      backup_first: false,
      neutralize: true,
    });
    await page.getByText("Backup restored: Shop").first().waitFor();
  });

  test("a damaged archive fails the restore before anything changes, and the page says so", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    await owner.backup(id, { note: "corrupt" });
    const page = await open("/backups", { as: owner });
    await choose(page, rowOf(page, "corrupt"), "Restore");
    const confirmation = dialog(page, "Restore Shop");
    await confirmation.getByRole("checkbox", { name: /Back up the current state/ }).uncheck();
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    await confirmation.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Couldn't restore backup: Shop").first().waitFor();
    await page.getByText("it does not match its checksum").first().waitFor();
    await page
      .getByText(/^Request ID: /)
      .first()
      .waitFor();
  });

  test("a backup of a deleted instance can be restored to a new instance only", async ({ open }) => {
    const owner = await account({ seeded: true });
    const id = unusedId("instance");
    await seedBackup({ ...(await seedInstance(owner.id)), id, name: "Old wiki" });
    const page = await open("/backups", { as: owner });
    const row = rowOf(page, "Old wiki");
    await row.getByText("(deleted)").waitFor();
    await menuOf(row).click();
    const restore = page.getByRole("menuitem", { name: /^Restore(?! to)/ });
    await expect.poll(() => restore.getAttribute("aria-disabled")).toBe("true");
    await restore.getByText("The instance was deleted. Restore the backup to a new instance instead.").waitFor();
    await page.getByRole("menuitem", { name: "Restore to a new instance" }).click();
    await page
      .getByRole("heading", { level: 1, name: /to a new instance$/ })
      .first()
      .waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/instances/${id}/clone`);
  });
});

describe("the archive", () => {
  test("the archive downloads completely, from a URL that is requested at the click", async ({ open, faults }) => {
    faults.expected.push(/^asks http:\/\/127\.0\.0\.1:\d+\/[^/]+\/.*X-Amz-Signature=/); // the store is on another host
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const backup = await owner.backup(id);
    const page = await open("/backups", { as: owner });
    await rowOf(page, "Shop").waitFor();
    const urls: string[] = [];
    page.on("request", (request) => request.url().endsWith("/download") && urls.push(request.url()));
    const [download] = await Promise.all([page.waitForEvent("download"), choose(page, rowOf(page, "Shop"), "Download")]);
    expect(download.suggestedFilename()).toMatch(/\.zip$/);
    expect(Buffer.concat(await (await download.createReadStream()).toArray()).byteLength).toBe(backup.size_bytes);
    expect(urls).toHaveLength(1);
    await page.getByRole("heading", { name: "Backups" }).first().waitFor();
  });

  test("a failed backup cannot be used, and its page shows the reason", async ({ open }) => {
    const owner = await account({ seeded: true });
    await seedBackup(await seedInstance(owner.id), {
      state: "failed",
      status_reason: "The archive could not be uploaded to the storage",
      note: "on a bad day",
    });
    const page = await open("/backups", { as: owner });
    const row = rowOf(page, "on a bad day");
    await row.getByText("Failed").waitFor();
    await row.getByText("The archive could not be uploaded to the storage").waitFor();
    await menuOf(row).click();
    const disabled = (name: RegExp) => page.getByRole("menuitem", { name }).getAttribute("aria-disabled");
    for (const name of [/^Restore(?! to)/, /^Run drill/, /^Restore to a new instance/, /^Download/])
      await expect.poll(() => disabled(name)).toBe("true");
    await page.getByText("The backup failed. Only completed backups can be used.").first().waitFor();
    await expect.poll(() => disabled(/^Delete/)).toBeNull();
  });

  test("the backup page shows the checksum, and has its own URL", async ({ open }) => {
    const owner = await account({ seeded: true });
    const backup = await seedBackup(await seedInstance(owner.id, { name: "Shop" }), { note: "Before the inventory" });
    const page = await open("/backups", { as: owner });
    await rowOf(page, "Before the inventory").getByRole("link").first().click();
    const details = dialog(page, /^Backup of Shop/);
    await details.getByText(backup.sha256 ?? "no checksum").waitFor();
    await details.getByRole("button", { name: "Copy checksum" }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await details.getByText(backup.sha256 ?? "no checksum").waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.goto("/backups?backup=bak_01kag8w1s2e7tv8q4m5n6p7r8s");
    await dialog(page, "Backup").getByText("Not found").waitFor();
    await page.goto(`/backups?backup=${backup.id}`);
    await details.getByRole("button", { name: "Restore to a new instance" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/instances/${backup.instance_id}/clone`);
  });
});

test("a backup is deleted only after confirmation", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const backup = await owner.backup(id, { note: "no longer needed" });
  const page = await open("/backups", { as: owner });
  const row = rowOf(page, "no longer needed");
  await choose(page, row, "Delete");
  const confirmation = dialog(page, /^Delete backup of Shop, /);
  await confirmation.getByText("You can't undo this.").waitFor();
  const red = "getComputedStyle([...document.querySelectorAll('button')].find((each) => each.textContent === 'Delete backup'))";
  expect(await page.evaluate(`${red}.backgroundColor`)).toBe("rgb(196, 11, 11)");
  await expectAccessible(page);
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  await confirmation.waitFor({ state: "detached" });
  expect((await owner.api.get(`/backups/${backup.id}`)).status).toBe(200);
  await choose(page, row, "Delete");
  await confirmation.getByRole("button", { name: "Delete backup" }).click();
  await page.getByText("Backup deleted: Shop").first().waitFor();
  await row.waitFor({ state: "detached" });
  expect((await owner.api.get(`/backups/${backup.id}`)).status).toBe(404);
});

test("a backup is locked with a note that says why, and the menu then says why it cannot be deleted", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedBackup(await seedInstance(owner.id, { name: "Shop" }), { note: "Before the audit" });
  const page = await open("/backups", { as: owner });
  await choose(page, rowOf(page, "Before the audit"), "Edit details");
  const form = dialog(page, /^Edit backup of Shop/);
  await form.getByLabel("Note").fill("For the auditors");
  await form.getByLabel("Locked").check();
  await expectAccessible(page);
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await form.waitFor({ state: "detached" });
  const row = rowOf(page, "For the auditors");
  await row.getByText("locked", { exact: true }).waitFor();
  await menuOf(row).click();
  await page.getByRole("menuitem", { name: /Delete.*The backup is locked/ }).waitFor();
  expect((await owner.api.get(`/backups/${id}`)).as(Backup)).toMatchObject({ note: "For the auditors", locked: true });
});

test("the list of backups filters by status, in a URL that can be shared", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id);
  await seedBackup(instance, { note: "whole" });
  await seedBackup(instance, { note: "on a bad day", state: "failed" });
  const page = await open("/backups", { as: owner });
  await rowOf(page, "whole").waitFor();
  await page.getByRole("button", { name: /^Filter by status/ }).click();
  await page.getByRole("option", { name: "Failed" }).click();
  await rowOf(page, "whole").waitFor({ state: "detached" });
  await rowOf(page, "on a bad day").waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=failed");
  await page.goto("/backups?status=deleting");
  await page.getByText("No matches for this filter.").waitFor();
  await page.getByRole("button", { name: "Clear filter" }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(3);
});

test("the list of backups can be used with the keyboard alone", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedBackup(await seedInstance(owner.id, { name: "Shop" }));
  const page = await open("/backups", { as: owner });
  await menuOf(rowOf(page, "Shop")).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Restore", exact: true }).waitFor();
  await page.keyboard.press("Enter");
  const confirmation = dialog(page, "Restore Shop");
  await confirmation.getByLabel("Type Shop to confirm").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.closest('[role=dialog]') !== null")).toBe(true);
  await page.keyboard.press("Escape");
  await confirmation.waitFor({ state: "detached" });
});

test("a restore works on a phone and shows how it ended", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedBackup(await seedInstance(owner.id, { name: "Shop" }), { note: "Before the inventory" });
  const page = await open("/backups", { as: owner, phone: true });
  await page.getByText("Before the inventory").waitFor();
  await page.getByRole("button", { name: /^Actions on the backup of Shop/ }).tap();
  await page.getByRole("menuitem", { name: "Restore", exact: true }).tap();
  const confirmation = dialog(page, "Restore Shop");
  await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  await confirmation.getByRole("button", { name: "Restore" }).tap();
  // No machine has it, and the service tries that more than once.
  await page.getByText("Couldn't restore backup: Shop").first().waitFor();
});

test("without an instance the backup button is disabled", async ({ open }) => {
  const page = await open("/backups", { as: await account() });
  const backUp = page.getByRole("button", { name: "Back up now" });
  await page.getByText("Create an instance first.").first().waitFor({ state: "attached" });
  await expect.poll(() => backUp.getAttribute("aria-disabled")).toBe("true");
});

test("if the service is down the page says so above the list of backups, and shows the list by itself", async ({
  open,
  faults,
}) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account({ seeded: true });
  await seedBackup(await seedInstance(owner.id, { name: "Shop" }));
  const page = await open("/servers", { as: owner });
  await page.route("**/api/v1/backups?*", (route) => route.abort());
  await page.getByRole("link", { name: "Backups" }).click();
  await page.getByRole("alert").getByText("Can't reach the service").waitFor();
  await page.unroute("**/api/v1/backups?*");
  await rowOf(page, "Shop").waitFor();
  // The error also appears above items that are already shown.
  await page.route("**/api/v1/backups?*", (route) => route.abort());
  await page.getByRole("button", { name: "Refresh backups" }).click();
  await page.getByText("Can't reach the service").waitFor();
  expect(await rowOf(page, "Shop").count()).toBe(1);
});
