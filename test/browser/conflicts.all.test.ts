// Two people edit the same record: nothing is lost unseen. Each form shows what the other person has changed, beside one's own.
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Server } from "../../shared/api/servers.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose, comeBackUntil, dialog, getInstance, more } from "./instance-page.ts";

const TITLE = "Someone else changed this meanwhile";

interface Form {
  name: string;
  /** The form, filled in with a change of the user's own. */
  fill: (page: Page) => Promise<Locator>;
  /** Another change of the same field. */
  change: () => Promise<unknown>;
  save: string;
  otherValue: string;
  /** What the API then has. */
  stored: () => Promise<unknown>;
  path: string;
}

async function formsOf(owner: TestAccount): Promise<Form[]> {
  const server = await owner.server({ name: "erp-1" });
  const instance = await owner.instance({ name: "Shop", server_id: server.id });
  const backup = await owner.backup(instance.id);
  const domain = uniqueDomain();
  const policy = (last: number) => ({ schedule: "0 2 * * *", timezone: "UTC", keep: { last } });
  const policyPath = `/instances/${instance.id}/backup-policy`;
  await owner.api.put(policyPath, policy(7));
  await owner.api.put("/settings", { default_backup_policy: policy(7) });
  return [
    {
      name: "an instance",
      path: `/instances/${instance.id}`,
      fill: async (page) => {
        await more(page, "Edit details");
        await dialog(page, /^Edit/).getByLabel("Name").fill("My shop");
        return dialog(page, /^Edit/);
      },
      change: () => owner.api.put(`/instances/${instance.id}`, { name: "Their shop" }),
      save: "Save",
      otherValue: "Their shop",
      stored: async () => (await getInstance(owner, instance.id)).name,
    },
    {
      name: "a domain",
      path: `/instances/${instance.id}`,
      fill: async (page) => {
        await more(page, "Change domain");
        await dialog(page, /^Change the domain/)
          .getByLabel("New domain")
          .fill(uniqueDomain());
        return dialog(page, /^Change the domain/);
      },
      change: async () => {
        const changed = await owner.api.put(`/instances/${instance.id}`, { domain });
        expect(changed.status, changed.text).toBe(200);
        await expect.poll(async () => (await getInstance(owner, instance.id)).operation_id, { timeout: 60_000 }).toBeNull();
      },
      save: "Change domain",
      otherValue: domain,
      stored: async () => (await getInstance(owner, instance.id)).domain,
    },
    {
      name: "a server",
      path: `/servers/${server.id}`,
      fill: async (page) => {
        await button(page, "Edit").click();
        await dialog(page, /^Edit/).getByLabel("Name").fill("mine-1");
        return dialog(page, /^Edit/);
      },
      change: () => owner.api.put(`/servers/${server.id}`, { name: "theirs-1" }),
      save: "Save",
      otherValue: "theirs-1",
      stored: async () => (await owner.api.get(`/servers/${server.id}`)).as(Server).name,
    },
    {
      name: "a backup",
      path: "/backups",
      fill: async (page) => {
        await button(page, /^Actions on the backup/)
          .first()
          .click();
        await page.getByRole("menuitem", { name: "Edit details" }).click();
        await dialog(page, /^Edit/).getByLabel("Note").fill("My note");
        return dialog(page, /^Edit/);
      },
      change: () => owner.api.put(`/backups/${backup.id}`, { note: "Their note" }),
      save: "Save",
      otherValue: "Their note",
      stored: async () => (await owner.api.get(`/backups/${backup.id}`)).as(Backup).note,
    },
    {
      name: "the account's settings",
      path: "/settings/account",
      fill: async (page) => {
        await page.getByLabel("Account name").fill("My account");
        return page.locator("main");
      },
      change: () => owner.api.put("/settings", { account_name: "Their account" }),
      save: "Save settings",
      otherValue: "Their account",
      stored: async () => (await owner.api.get("/settings")).as(Settings).account_name,
    },
    {
      name: "a backup policy",
      path: `/instances/${instance.id}`,
      fill: async (page) => {
        await button(page, "Edit policy").click();
        await dialog(page, /^Backup policy/)
          .getByLabel("At", { exact: true })
          .fill("04:00");
        return dialog(page, /^Backup policy/);
      },
      change: () => owner.api.put(policyPath, policy(30)),
      save: "Save policy",
      otherValue: "30",
      stored: async () => String((await owner.api.get(policyPath)).as(BackupPolicy).keep.last),
    },
    {
      name: "the default policy",
      path: "/settings/account",
      fill: async (page) => {
        await button(page, "Edit default policy").click();
        await dialog(page, /^Default backup policy/)
          .getByLabel("Time zone")
          .fill("Europe/Berlin");
        return dialog(page, /^Default backup policy/);
      },
      change: () => owner.api.put("/settings", { default_backup_policy: policy(30) }),
      save: "Save policy",
      otherValue: "30",
      stored: async () => String((await owner.api.get("/settings")).as(Settings).default_backup_policy?.keep.last),
    },
  ];
}

test("every form shows what somebody else has changed meanwhile, and overwrites it only if the user says so", async ({
  open,
}) => {
  const owner = await account();
  const page = await open("/config.json", { as: owner });
  for (const { name, path, fill, change, save, otherValue, stored } of await formsOf(owner)) {
    await page.goto(path);
    const form = await fill(page);
    await change();
    await button(form, save).click();
    await form.getByText(TITLE).waitFor();
    await form.getByRole("row").getByRole("cell").getByText(otherValue).first().waitFor();
    expect(await stored(), name).toBe(otherValue);
    expect(await button(form, save).isDisabled(), name).toBe(true);
    await expectAccessible(page);
    await button(form, "Discard my changes").click();
    await form.getByText(TITLE).waitFor({ state: "detached" });
    expect(await stored(), name).toBe(otherValue);
  }
});

test("a policy that somebody else deletes meanwhile is created again only if the user says so, as the form shows it", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const path = `/instances/${id}/backup-policy`;
  const page = await open(`/instances/${id}`, { as: owner });
  await button(page, "Set up automatic backups").click();
  const form = dialog(page, /^Backup policy/);
  const creation = page.waitForRequest((each) => each.method() === "PUT" && each.url().endsWith(path));
  await button(form, "Save policy").click();
  expect((await creation).headers()).toMatchObject({ "if-none-match": "*" });
  await form.waitFor({ state: "detached" });

  await owner.api.put(path, { schedule: "0 2 * * *", timezone: "UTC", keep: { last: 5 } });
  await page.reload();
  await button(page, "Edit policy").click();
  await form.getByLabel("At", { exact: true }).fill("04:00");
  await owner.api.delete(path);
  await button(form, "Save policy").click();
  const notice = form.getByText("Someone else deleted this meanwhile");
  await notice.waitFor();
  expect((await owner.api.get(path)).status).toBe(404);
  expect(await button(form, "Save policy").isDisabled()).toBe(true);
  await expectAccessible(page);
  await button(form, "Keep my changes").click();
  await notice.waitFor({ state: "detached" });
  expect((await owner.api.get(path)).status).toBe(404);
  await button(form, "Save policy").click();
  await form.waitFor({ state: "detached" });
  const { schedule, timezone, keep } = (await owner.api.get(path)).as(BackupPolicy);
  expect({ schedule, timezone, keep }).toEqual({ schedule: "0 4 * * *", timezone: "UTC", keep: { last: 5 } });
});

test("a policy that somebody else deletes is gone from the dialog of the list, too, and saving creates one anew", async ({
  open,
  faults,
}) => {
  faults.expected.push(/status of 404/);
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const path = `/instances/${id}/backup-policy`;
  await owner.api.put(path, { schedule: "0 5 * * *", timezone: "UTC", keep: { last: 5 } });
  const page = await open("/instances", { as: owner });
  await choose(page, "Shop", "Backup policy");
  const form = dialog(page, /^Backup policy/);
  const at = form.getByLabel("At", { exact: true });
  await expect.poll(() => at.inputValue()).toBe("05:00");
  await at.fill("04:00");
  await owner.api.delete(path);
  await button(form, "Save policy").click();
  await form.getByText("Someone else deleted this meanwhile").waitFor();
  await button(form, "Discard my changes").click();
  await expect.poll(() => at.inputValue()).toBe("02:00");
  await button(form, "Save policy").click();
  await form.waitFor({ state: "detached" });
  expect((await owner.api.get(path)).as(BackupPolicy).schedule).toBe("0 2 * * *");
});

test("one's own name and mails, and a webhook's switch, are sent with the version that was seen", async ({ open }) => {
  const owner = await account();
  const page = await open(`/settings/webhooks/${await owner.webhook()}`, { as: owner });
  const versionSent = async (control: Locator): Promise<string | undefined> => {
    const request = page.waitForRequest((each) => each.method() === "PUT");
    await control.click();
    return (await request).headers()["if-match"];
  };
  expect(await versionSent(button(page, "Disable"))).toMatch(/^"/);
  await button(page, "Enable").waitFor();

  await page.goto("/settings/account");
  await button(page, "Change name").click();
  const form = dialog(page, "Change name");
  await form.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  expect(await versionSent(button(form, "Change name"))).toMatch(/^"/);
  await form.waitFor({ state: "detached" });
  await button(page, "Mails").click();
  await page.getByText("Nothing", { exact: true }).click();
  expect(await versionSent(button(page, "Save mails"))).toMatch(/^"/);
  await page.getByText("Mails saved", { exact: true }).waitFor();
});

describe("labels that two people add at the same time", () => {
  test.for(["before", "after"])("are both kept, if the page learns of the other one %s it saves", async (when, { open }) => {
    const owner = await account({ seeded: true });
    const { id } = await seedInstance(owner.id, { name: "Shop", labels: { env: "test" } });
    const page = await open(`/instances/${id}`, { as: owner });
    await more(page, "Edit details");
    const form = dialog(page, /^Edit/);
    await form.getByLabel(/^Labels/).fill("env: test\nteam: sales");
    await owner.api.put(`/instances/${id}`, { labels: { env: "production", owner: "ana" } });
    if (when === "before") {
      await comeBackUntil(page, form.getByText(TITLE));
    } else await button(form, "Save").click();
    await form.getByText(TITLE).waitFor();
    await button(form, "Keep my changes").click();
    await expect.poll(() => form.getByLabel(/^Labels/).inputValue()).toBe("env: production\nowner: ana\nteam: sales");
    await button(form, "Save").click();
    await form.waitFor({ state: "detached" });
    expect((await getInstance(owner, id)).labels).toEqual({ env: "production", owner: "ana", team: "sales" });
  });
});
