// Forms and dialogs while something else happens: a colleague's change, a response that takes its time, the end of a session.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Settings } from "../../shared/api/settings.ts";
import { getServer } from "../../shared/records/servers.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { keys } from "../../shared/data/keys.ts";
import { transact } from "../../shared/data/table.ts";
import { put } from "../../shared/data/writes.ts";
import { account, type TestUser, uniqueDomain } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { moveTo, test } from "./browser.ts";
import { button, dialog, fact, more, openPart, pathOf, sentTo, title } from "./instance-page.ts";

/** Simulates that the user comes back from another window after long enough: the page then fetches everything again. */
const comeBack = (page: Page): Promise<unknown> => page.evaluate(`window.dispatchEvent(new Event("visibilitychange"))`);

/** Holds the responses to requests of a method until the returned function is called. */
async function hold(page: Page, method: string, url: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}

/** The service ends the session, and the same user signs in again. */
async function signInAgain(page: Page, { email, password }: TestUser): Promise<void> {
  const session = await page.evaluate(`localStorage.getItem("session")`);
  await clientWith(z.object({ token: z.string() }).parse(JSON.parse(String(session))).token).post("/auth/logout");
  await expect.poll(() => comeBack(page).then(() => pathOf(page))).toBe("/login");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await button(page, "Sign in").click();
}

const menuOf = (page: Page) => button(page, /^Actions on the backup/).first();

test("editing a backup's note leaves the lock that a colleague has set meanwhile", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedBackup(await seedInstance(owner.id, { name: "Shop" }));
  const page = await open("/backups", { as: owner });
  await menuOf(page).click();
  await page.getByRole("menuitem", { name: "Edit details" }).click();
  const form = dialog(page, /^Edit/);
  await form.getByLabel("Note").fill("Before the inventory");
  expect((await owner.api.put(`/backups/${id}`, { locked: true })).status).toBe(200);
  const sent = sentTo(page, "PUT", /\/backups\//);
  await button(form, "Save").click();
  await form.waitFor({ state: "detached" });
  // A second time if the version that the dialog was opened with is older than the lock.
  for (const body of sent) expect(body).toEqual({ note: "Before the inventory" });
  expect((await owner.api.get(`/backups/${id}`)).as(Backup)).toMatchObject({ note: "Before the inventory", locked: true });
});

test("an instance's disk quota is set in GB, and taken away by emptying the field", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id, server_id } = await seedInstance(owner.id, { name: "Shop" });
  await transact([put(keys.watchedServer(server_id), { account_id: owner.id, server_id })]);
  const page = await open(`/instances/${id}`, { as: owner });
  const sent = sentTo(page, "PUT", /\/instances\//);
  const edit = async (gb: string): Promise<void> => {
    await button(page, "Actions").click();
    await page.getByRole("menuitem", { name: "Edit details" }).click();
    const form = dialog(page, /^Edit/);
    await form.getByLabel("Disk quota in GB").fill(gb);
    await button(form, "Save").click();
    if (gb === "many") {
      await form.getByText("Must be a number of GB").waitFor();
      await form.getByLabel("Disk quota in GB").fill("12.5");
      await button(form, "Save").click();
    }
    await form.waitFor({ state: "detached" });
  };
  await edit("many");
  await page.getByText("Not reported yet of a quota of 12.5 GB").waitFor();
  await edit("");
  expect(sent).toEqual([{ disk_quota_bytes: 12_500_000_000 }, { disk_quota_bytes: null }]);
});

test("an edit without a change sends nothing", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id);
  const page = await open(`/servers/${id}`, { as: owner });
  const sent = sentTo(page, "PUT", /\/servers\//);
  await button(page, "Edit").click();
  const form = dialog(page, /^Edit/);
  await button(form, "Save").click();
  await form.waitFor({ state: "detached" });
  expect(sent).toEqual([]);
});

test("an account page that was left open shows and keeps what a colleague has changed, also after signing in again", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const page = await open("/settings/account", { as: owner });
  const [name, retention] = [page.getByLabel("Account name"), page.getByLabel("Keep pre-restore backups for (days)")];
  await name.fill("Half typed");
  expect((await owner.api.put("/settings", { backup_retention_days: 99 })).status).toBe(200);
  await signInAgain(page, owner.user);
  await expect.poll(() => name.inputValue()).toBe("Half typed");
  await expect.poll(() => retention.inputValue()).toBe("99");
  await button(page, "Save settings").click();
  await page.getByText("Settings saved").first().waitFor();
  expect((await owner.api.get("/settings")).as(Settings)).toMatchObject({
    account_name: "Half typed",
    backup_retention_days: 99,
  });
});

test("a dialog cannot be dismissed while its request is pending, and a form not by a click beside it", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id, { name: "erp-1" });
  const page = await open(`/servers/${id}`, { as: owner });
  await button(page, "Edit").click();
  const editing = dialog(page, /^Edit/);
  await editing.getByLabel("Name").fill("erp-2");
  await page.mouse.click(5, 300);
  expect(await editing.getByLabel("Name").inputValue()).toBe("erp-2");
  const respond = await hold(page, "PUT", "**/api/v1/servers/*");
  await button(editing, "Save").click();
  await expect.poll(() => button(editing, "Cancel").isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  expect(await editing.isVisible()).toBe(true);
  respond();
  await editing.waitFor({ state: "detached" });
  await title(page, "erp-2");
});

test("a page that the user has left leads them nowhere when its response arrives", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id, { ssh_key_id: (await owner.sshKey()).id });
  const page = await open(`/servers/create?like=${id}`, { as: owner });
  await page.getByLabel("Name", { exact: true }).fill("late-1");
  const respond = await hold(page, "POST", "**/api/v1/servers");
  await button(page, "Create server").click();
  await page.getByRole("link", { name: "API keys" }).first().click();
  await title(page, "API keys");
  const responded = page.waitForResponse((response) => response.request().method() === "POST");
  respond();
  expect((await responded).status()).toBe(201);
  await page.waitForTimeout(1_000); // in which it would lead them there
  expect(pathOf(page)).toBe("/settings/api-keys");
});

test("nobody leaves a page by mistake whose response has a secret", async ({ open }) => {
  const owner = await account({ seeded: true });
  const page = await open("/settings/api-keys/create", { as: owner });
  await page.getByLabel("Name", { exact: true }).fill("Deploy");
  await page.getByRole("checkbox").first().check();
  const respond = await hold(page, "POST", "**/api/v1/tokens");
  await page.locator("form").getByRole("button", { name: "Create API key" }).click();
  await page.getByRole("link", { name: "Servers" }).first().click();
  expect(pathOf(page)).toBe("/settings/api-keys/create");
  respond();
  await dialog(page, /Deploy/)
    .getByText(/^svc_test_/)
    .waitFor();
});

test("the forecast of a deletion is that of its own backup, however long another's takes", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Shop" });
  const first = await seedBackup(instance, { note: "First" });
  await seedBackup(instance, { note: "Second" });
  const page = await open("/backups", { as: owner });
  await page.route(`**/api/v1/backups/${first.id}?dry_run=true`, () => new Promise(() => undefined));
  const askAbout = async (note: string): Promise<void> => {
    await page
      .getByRole("row", { name: note })
      .getByRole("button", { name: /^Actions on the backup/ })
      .click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
  };
  const confirmation = dialog(page, "Delete backup");
  await askAbout("First");
  await button(confirmation, "Cancel").click();
  await confirmation.waitFor({ state: "detached" });
  await askAbout("Second");
  await confirmation.getByText("What happens").waitFor();
});

test("a form that is being filled in stays when no server is active any more", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id, { name: "erp-1" });
  const page = await open("/instances/create", { as: owner });
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Shop");
  await page.route("**/api/v1/servers?*", async (route) => {
    const response = await route.fetch();
    const { meta } = z.object({ meta: z.looseObject({}) }).parse(await response.json());
    await route.fulfill({ response, json: { success: true, data: [], meta: { ...meta, total: 0 } } });
  });
  expect((await owner.api.put(`/servers/${id}`, { name: "erp-2" })).status).toBe(200);
  await expect.poll(() => comeBack(page).then(() => page.getByText("erp-1").count())).toBe(0);
  expect(await name.inputValue()).toBe("Shop");
});

test("a search keeps the letters that arrive while the list is still being asked", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedInstance(owner.id, { name: "Abacus" });
  const page = await open("/instances", { as: owner, fresh: true });
  await title(page, /^Instances/);
  const field = page.getByRole("searchbox").first();
  await field.waitFor();
  // The next letter is typed in the moment in which the page asks for the first two.
  await page.evaluate(`(() => {
    const push = history.pushState.bind(history);
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    history.pushState = (...entry) => {
      push(...entry);
      if (!String(entry[2]).endsWith("find=ab")) return;
      const input = document.querySelector('input[type="search"]');
      set.call(input, "aba");
      input.dispatchEvent(new Event("input", { bubbles: true }));
    };
  })()`);
  const response = page.waitForResponse(/search=aba\b/);
  await field.pressSequentially("ab");
  await response;
  expect(await field.inputValue()).toBe("aba");
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe("ab");
});

test("the address of an ERP finds its instance", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { domain } = await seedInstance(owner.id, { name: "Shop" });
  await seedInstance(owner.id, { name: "Another" });
  const page = await open(`/instances?find=${encodeURIComponent(`https://${domain}/web#action=1`)}`, { as: owner });
  await page.getByRole("link", { name: "Shop" }).waitFor();
  expect(await page.getByRole("link", { name: "Another" }).count()).toBe(0);
});

test("a backup's history begins on its first page, whatever page of the instance's is shown", async ({ open }) => {
  const owner = await account();
  const instance = await owner.instance({ name: "Shop" });
  const { id } = await owner.backup(instance.id);
  const page = await open(`/instances/${instance.id}?operations-page=3&backup=${id}`, { as: owner });
  const details = dialog(page, /Shop/);
  await openPart(details, "Operations");
  await details.getByRole("row", { name: /Backup/ }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => new URL(page.url()).search).toBe("?operations-page=3");
});

test("the details of a backup that is deleted meanwhile say so", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await owner.instance({ name: "Shop" });
  const { id } = await owner.backup(instance.id);
  const page = await open(`/backups?backup=${id}`, { as: owner });
  const details = page.getByRole("dialog");
  await fact(page, "Status", "Completed");
  expect((await owner.api.delete(`/backups/${id}`)).status).toBe(202);
  await expect.poll(() => comeBack(page).then(() => details.getByText("Not found").count())).toBe(1);
});

test("an open server page shows what the server reports", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id);
  const page = await open(`/servers/${id}`, { as: owner, clock: true });
  await title(page, /seeded/);
  await recordReport(await getServer(owner.id, id), { disk_free_bytes: 1e9, memory_free_bytes: 2e9, certificates: [] });
  await page.clock.fastForward(60_000);
  await fact(page, "Free disk", /1/);
});

test("Escape closes the navigation of a phone and returns the focus to its button", async ({ open }) => {
  const owner = await account({ seeded: true });
  const page = await open("/servers", { as: owner, phone: true });
  await button(page, "Open navigation").click();
  await page.getByRole("link", { name: "API keys" }).focus();
  await page.keyboard.press("Escape");
  await button(page, "Open navigation").and(page.locator(":focus")).waitFor();
});

test("an instance from a backup never becomes an empty one because the backup is gone", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await owner.instance({ name: "Shop" });
  const { id } = await owner.backup(instance.id);
  await owner.until((await owner.api.delete(`/backups/${id}`)).as(Operation).id);
  const page = await open(`/instances/create?backup=${id}`, { as: owner });
  await page.getByText("Not found").waitFor();
  expect(await page.getByRole("textbox").count()).toBe(0);
});

test("a backup that is deleted while the form that starts with it is open is named as the problem", async ({ open, faults }) => {
  faults.expected.push(/responded with a status of 422/);
  const owner = await account({ seeded: true });
  const instance = await owner.instance({ name: "Shop" });
  const { id } = await owner.backup(instance.id);
  const page = await open(`/instances/create?backup=${id}`, { as: owner });
  await page.getByLabel("Name", { exact: true }).fill("Moved in");
  await page.getByLabel("Domain").fill(uniqueDomain());
  await owner.until((await owner.api.delete(`/backups/${id}`)).as(Operation).id);
  await button(page, "Create instance").click();
  await page.getByText("No such backup in this account.", { exact: true }).waitFor();
});

test("a name is confirmed as it is shown: with one space for several", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop \u00a0 Berlin" });
  const page = await open(`/instances/${id}`, { as: owner });
  await more(page, "Delete");
  const confirmation = dialog(page, "Delete instance");
  await confirmation.getByRole("textbox").fill("Shop Berlin");
  await expect.poll(() => button(confirmation, "Delete instance").isEnabled()).toBe(true);
});

test("the restore dialog does not keep the name that was typed to confirm it", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Shop" });
  await seedBackup(instance);
  const page = await open(`/instances/${instance.id}?tab=backups`, { as: owner });
  await menuOf(page).click();
  await page.getByRole("menuitem", { name: "Restore", exact: true }).click();
  await dialog(page, /^Restore/)
    .getByLabel(/^Type Shop/)
    .fill("Shop");
  await signInAgain(page, owner.user);
  await title(page, "Shop");
  await menuOf(page).click();
  await page.getByRole("menuitem", { name: "Restore", exact: true }).click();
  expect(
    await dialog(page, /^Restore/)
      .getByLabel(/^Type Shop/)
      .inputValue(),
  ).toBe("");
});

test("the picture of an instance's backups fetches those of its days alone", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Shop" });
  const page = await open("/", { as: owner });
  const urls: URL[] = [];
  page.on("request", (request) => urls.push(new URL(request.url())));
  await moveTo(page, `/instances/${instance.id}`);
  await page.locator('.strip[aria-busy="false"]').waitFor();
  const lists = urls.filter(({ pathname }) => pathname.endsWith(`/instances/${instance.id}/backups`));
  expect(lists).toHaveLength(1);
  expect(lists[0]?.searchParams.has("created_after")).toBe(true);
});

test("the button of a form stands under its fields, with what follows; one server alone is chosen", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedServer(owner.id, { name: "erp-1" });
  const page = await open("/instances/create", { as: owner });
  await page.getByText(/^Odoo .+ is installed on erp-1/).waitFor();
  const [field, submit] = [page.getByLabel("Admin email"), button(page, "Create instance")];
  const [above, below] = [await field.boundingBox(), await submit.boundingBox()];
  expect(Math.abs((below?.x ?? Infinity) - (above?.x ?? 0))).toBeLessThan(16);
  expect(below?.y ?? 0).toBeGreaterThan(above?.y ?? Infinity);
});
