// Cloning an instance from its backups, even if the instance itself is gone.
import { describe, expect } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import {
  button,
  callsOf,
  expectGap,
  fact,
  instancesOf,
  more,
  notification,
  openTab,
  pathOf,
  sentTo,
  storePassword,
  title,
} from "./instance-page.ts";

describe("a clone", () => {
  test("cloning an instance without a backup is disabled until there is one", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await seedInstance(owner.id, { name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await more(page, "Clone…");
    await title(page, "Clone Shop");
    await page.getByText("No completed backups").waitFor();
    await page.getByRole("link", { name: "View instance" }).click();
    await title(page, "Shop");
    await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
  });

  test("an invalid clone form shows every error, even among collapsed options, and sends nothing", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    await owner.backup(id);
    const page = await open(`/instances/${id}/clone`, { as: owner });
    const sent = sentTo(page, "POST", /\/clone$/);
    await button(page, "More options").click();
    await page.getByLabel("Admin password").fill("short");
    await button(page, "More options").click();
    await button(page, "Create clone").click();
    await expect.poll(() => page.getByText("This is required.", { exact: true }).count()).toBe(2);
    await page.getByText("Must have at least 12 characters.", { exact: true }).waitFor();
    await page.getByLabel("Admin password").fill("");
    await page.getByLabel("Name", { exact: true }).fill("Staging");
    await page.getByLabel("Domain").fill(uniqueDomain());
    await page.getByRole("checkbox", { name: "Database" }).uncheck();
    await page.getByRole("checkbox", { name: "Files" }).uncheck();
    await button(page, "Create clone").click();
    await page.getByText("Choose the database, the files, or both.", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);
  });

  test("a clone has the backup's data, neutralized, and shows its new password once", async ({ open }) => {
    const owner = await account({ seeded: true });
    const source = await owner.instance({ name: "Shop" });
    await owner.api.put(`/sandbox/instances/${source.id}/data`, { orders: 3 });
    const backup = await owner.backup(source.id, { note: "three orders" });
    const domain = uniqueDomain("staging");
    const page = await open(`/instances/${source.id}`, { as: owner });
    await more(page, "Clone…");
    const sent = sentTo(page, "POST", /\/clone$/);
    await page.getByLabel("Name", { exact: true }).fill("Staging");
    await page.getByLabel("Domain").fill(domain);
    await page.getByText("Turns off scheduled actions, email and payments in the new instance").waitFor();
    const created = notification(page, "Instance created from backup: Staging");
    await button(page, "Create clone").click();
    const password = await storePassword(page, "Staging");
    await title(page, "Staging");
    await created;
    await fact(page, "Created from", "Shop");
    await fact(page, "Sends mail", "No (neutralized)");
    await openTab(page, "History");
    await page
      .getByText(`Neutralized, no active scheduled actions, no active mail servers, new database UUID, address https://${domain}`)
      .waitFor();
    expect(await page.content()).not.toContain(password);
    expect(sent).toEqual([
      {
        backup_id: backup.id,
        name: "Staging",
        domain,
        neutralize: true,
        reset_users: true,
        restore_database: true,
        restore_filestore: true,
      },
    ]);
    const clone = (await instancesOf(owner)).find(({ name }) => name === "Staging");
    expect(clone).toMatchObject({ neutralized: true, server_id: source.server_id, cloned_from_backup_id: backup.id });
    expect((await owner.api.get(`/sandbox/instances/${clone?.id}/data`)).as(z.unknown())).toEqual({ orders: 3 });
  });

  test("a clone with a given password, database and server shows no password", async ({ open }) => {
    const owner = await account({ seeded: true });
    const source = await owner.instance({ name: "Shop" });
    const other = await owner.server({ name: "erp-other" });
    await owner.backup(source.id);
    const page = await open(`/instances/${source.id}/clone`, { as: owner });
    await page.getByLabel("Name", { exact: true }).fill("Twin");
    await page.getByLabel("Domain").fill(source.domain);
    const message = page.getByText("This domain is already taken.", { exact: true });
    await message.waitFor();
    await button(page, "Create clone").click();
    await expect.poll(() => page.getByLabel("Domain").getAttribute("aria-invalid")).toBe("true");
    expect(await message.count()).toBe(1);
    await page.getByLabel("Domain").fill(uniqueDomain("twin"));
    await page.getByRole("checkbox", { name: /Neutralize/ }).uncheck();
    await page.getByText("The new instance will send email").waitFor();
    await button(page, "More options").click();
    await button(page, /^Server/).click();
    await page.getByRole("option", { name: /erp-other/ }).click();
    await page.getByLabel("Database name").fill("twin");
    await expectGap(page.getByText("Must start with a letter."), page.getByText(/^Admin password/));
    await page.getByLabel("Admin password").fill("correct-horse-battery");
    const { curl, typescript } = await callsOf(page);
    expect(curl).toContain('"admin_password":"…"');
    expect(typescript).toContain('admin_password: "…"');
    await button(page, "Create clone").click();
    await title(page, "Twin");
    await page.getByText("Instance created from backup: Twin").first().waitFor();
    const clone = (await instancesOf(owner)).find(({ name }) => name === "Twin");
    expect(clone).toMatchObject({ neutralized: false, server_id: other.id, database_name: "twin" });
  });

  test("a backup of a deleted instance can be restored to a new instance on a server that the user chooses", async ({ open }) => {
    const owner = await account({ seeded: true });
    const server = await owner.server({ name: "erp-1" });
    await owner.server({ name: "erp-2" }); // a single one would be chosen already
    const source = await owner.instance({ name: "Old wiki", server_id: server.id });
    const backup = await owner.backup(source.id);
    await owner.until((await owner.api.delete(`/instances/${source.id}`)).as(Operation).id);
    const page = await open(`/instances/${source.id}/clone?backup=${backup.id}`, { as: owner });
    await title(page, "Restore Old wiki to a new instance");
    await page.getByText("The original instance was deleted, so choose a server.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Wiki");
    await page.getByLabel("Domain").fill(uniqueDomain("wiki"));
    await button(page, "Restore to a new instance").click();
    await page.getByText(/^This is required, because the backup/).waitFor();
    await button(page, /^Server/).click();
    await page.getByRole("option", { name: /erp-1/ }).click();
    const created = notification(page, "Instance created from backup: Wiki");
    await button(page, "Restore to a new instance").click();
    await storePassword(page, "Wiki");
    await created;
    expect(await instancesOf(owner)).toMatchObject([{ name: "Wiki", server_id: server.id, status: "running" }]);
  });

  test("the clone page of an unknown instance says that it does not exist", async ({ open }) => {
    const page = await open("/instances/ins_01kag8w1s2e7tv8q4m5n6p7r8s/clone", { as: await account({ seeded: true }) });
    await page.getByText("Not found").waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
  });

  test("the clone form preselects the newest backup that is not a safety backup, however many safety backups are newer", async ({
    open,
  }) => {
    const owner = await account({ seeded: true });
    const source = await seedInstance(owner.id, { name: "Shop" });
    await seedBackup(source, { note: "the good one", created_at: "2026-11-20T12:00:07.000Z" });
    for (let each = 0; each < 100; each++)
      await seedBackup(source, { kind: "pre_restore", created_at: "2026-11-20T12:00:41.000Z" });
    const page = await open(`/instances/${source.id}/clone`, { as: owner });
    const chooser = button(page, /^Backup/);
    await chooser.getByText("the good one").waitFor();
    for (const text of ["12:00:07", "18.4 kB", "Manual"]) expect(await chooser.textContent()).toContain(text);
    await chooser.click();
    const safety = page.getByRole("option", { name: /Pre-restore/ }).first();
    for (const text of ["12:00:41", "18.4 kB"]) expect(await safety.textContent()).toContain(text);
    await expectAccessible(page);
  });

  test("the clone form preselects no backup if there are only safety backups", async ({ open }) => {
    const owner = await account({ seeded: true });
    const source = await seedInstance(owner.id, { name: "Shop" });
    await seedBackup(source, { kind: "pre_restore" });
    const page = await open(`/instances/${source.id}/clone`, { as: owner });
    await button(page, /^Backup.*Choose a backup/).waitFor();
  });

  test("the clone page of a backup that cannot be cloned preselects no other one", async ({ open }) => {
    const owner = await account({ seeded: true });
    const source = await seedInstance(owner.id, { name: "Shop" });
    await seedBackup(source);
    const failed = await seedBackup(source, { state: "failed" });
    const page = await open(`/instances/${source.id}/clone?backup=${failed.id}`, { as: owner });
    await button(page, /^Backup.*Choose a backup/).waitFor();
    await button(page, "Restore to a new instance").click();
    await expect.poll(() => page.getByText("This is required.", { exact: true }).count()).toBe(3); // backup, name, domain
  });
});
