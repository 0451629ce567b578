// The account page: its settings, its quotas, and the user's password.
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { Catalog } from "../../shared/api/catalog.ts";
import { Settings } from "../../shared/api/settings.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";
import { markMailboxBouncing } from "../../shared/records/users.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { clientWith, anonymous } from "../harness/client.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";

const settingsOf = async (owner: TestAccount): Promise<Settings> => (await owner.api.get("/settings")).as(Settings);
const save = (page: Page) => page.getByRole("button", { name: "Save settings" }).click();

async function choose(page: Page, label: RegExp, option: string | RegExp): Promise<void> {
  await page.getByRole("button", { name: label }).click();
  await page.getByRole("option", { name: option }).click();
}

describe("settings", () => {
  test("invalid settings show an error at each field, and nothing changes", async ({ open }) => {
    const owner = await account();
    const before = await settingsOf(owner);
    const page = await open("/settings/account", { as: owner });
    await page.getByLabel("Account name").fill("");
    await page.getByLabel("Contact email").fill("nobody");
    await page.getByLabel("Keep pre-restore backups for (days)").fill("366");
    await save(page);
    await page.getByText("This is required.", { exact: true }).waitFor();
    await page.getByText("Must be an email address.", { exact: true }).waitFor();
    await page.getByText("Must be at most 365.", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Keep pre-restore backups for (days)").fill("");
    await save(page);
    await expect.poll(() => page.getByText("This is required.", { exact: true }).count()).toBe(2);
    await page.getByLabel("Keep pre-restore backups for (days)").fill("1.5");
    await save(page);
    await page.getByText("Must be a whole number.", { exact: true }).waitFor();
    expect(await settingsOf(owner)).toEqual(before);
  });

  test("settings are saved, and the defaults are preselected for the next server", async ({ open }) => {
    const owner = await account();
    const [provider] = (await owner.api.get("/catalog")).as(Catalog).providers;
    const region = provider?.regions.at(-1);
    const page = await open("/settings/account", { as: owner });
    await page.getByLabel("Account name").fill("Example Ltd");
    await page.getByLabel("Contact email").fill("ops@example.com");
    await page.getByLabel("Keep pre-restore backups for (days)").fill("30");
    await choose(page, /^Default provider/, provider?.name ?? "");
    await choose(page, /^Default region/, region?.name ?? "");
    await save(page);
    await page.getByText("Settings saved", { exact: true }).waitFor();
    expect(await settingsOf(owner)).toMatchObject({
      account_name: "Example Ltd",
      contact_email: "ops@example.com",
      backup_retention_days: 30,
      default_provider: provider?.code,
      default_region: region?.code,
    });
    await page.reload();
    await expect.poll(() => page.getByLabel("Account name").inputValue()).toBe("Example Ltd");
    await page.goto("/servers/create");
    await expect.poll(() => page.getByRole("button", { name: /^Provider/ }).textContent()).toContain(provider?.name);
    await expect.poll(() => page.getByRole("button", { name: /^Region/ }).textContent()).toContain(region?.name);
  });

  test("optional settings can be cleared again", async ({ open }) => {
    const owner = await account();
    const [provider] = (await owner.api.get("/catalog")).as(Catalog).providers;
    const defaults = { default_provider: provider?.code, default_region: provider?.regions[0]?.code };
    await owner.api.put("/settings", { contact_email: "ops@example.com", ...defaults });
    const page = await open("/settings/account", { as: owner });
    await page.getByLabel("Contact email").fill("");
    await choose(page, /^Default provider/, "None");
    await save(page);
    await page.getByText("Settings saved", { exact: true }).waitFor();
    expect(await settingsOf(owner)).toMatchObject({ contact_email: null, default_provider: null, default_region: null });
  });
});

test("the account page shows the quotas, how much of them is used, and who is signed in", async ({ open }) => {
  const owner = await account();
  await seedServer(owner.id);
  const page = await open("/settings/account", { as: owner });
  await page.getByText("1 of 10 used").waitFor();
  await page.getByText("0 of 100 used").first().waitFor();
  await page.getByText(owner.user.email).filter({ visible: true }).waitFor();
  await expect.poll(() => page.getByRole("progressbar").count()).toBe(8);
  // What is the user's own comes first, then what all users of the account share.
  const places = ["You", "Preferences", "Change password", "The account", "Default backup policy", "Quotas"].map(
    async (name) => (await page.getByRole("heading", { level: 2, name, exact: true }).first().boundingBox())?.y,
  );
  const positions = await Promise.all(places);
  expect(positions).toEqual(positions.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
  expect(positions).not.toContain(undefined);
});

test("times are shown in the browser's zone or, once chosen, in UTC, on every page and after a reload", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const backup = await owner.backup(id);
  const page = await open("/settings/account", { as: owner, zone: "Asia/Tokyo" });
  await page.getByText(/GMT\+9/).waitFor();
  await page.getByRole("radio", { name: "UTC" }).check();
  await page.getByText(/GMT\+9/).waitFor({ state: "detached" });
  await page.goto(`/instances/${id}`);
  const at = new Date(backup.created_at).toISOString().slice(11, 19);
  await page
    .getByRole("link", { name: `${at} UTC` })
    .first()
    .waitFor();
  await page.goto("/settings/account");
  await page.getByRole("radio", { name: "Local time (Asia/Tokyo)" }).check();
  await page.getByText(/GMT\+9/).waitFor();
});

describe("the password", () => {
  const form = (page: Page): Locator => page.locator("form").filter({ has: page.getByLabel("Current password") });
  const fill = async (page: Page, current: string, next: string, again = next): Promise<void> => {
    await page.getByLabel("Current password").fill(current);
    await page.getByLabel("New password", { exact: true }).fill(next);
    await page.getByLabel("Confirm new password").fill(again);
    await form(page).getByRole("button", { name: "Change password" }).click();
  };
  const worksFor = async ({ user }: TestAccount, password: string): Promise<boolean> =>
    (await anonymous.post("/auth/login", { email: user.email, password })).status === 200;

  test("the password form rejects a wrong current password, a short new one and one that was typed two ways", async ({
    open,
  }) => {
    const owner = await account();
    const page = await open("/settings/account", { as: owner });
    await fill(page, "", "short", "shart");
    await page.getByText("This is required.", { exact: true }).waitFor();
    await page.getByText("Must have at least 12 characters.", { exact: true }).waitFor();
    await fill(page, owner.user.password, "correct-horse-battery", "correct-horse-bettery");
    await page.getByText("Doesn't match the new password.", { exact: true }).waitFor();
    await fill(page, "not the right one", "correct-horse-battery");
    await page.getByText("This is not the current password.", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await worksFor(owner, owner.user.password)).toBe(true);
    expect(await worksFor(owner, "correct-horse-battery")).toBe(false);
  });

  test("changing the password ends the other sessions and keeps this one", async ({ open }) => {
    const owner = await account();
    const other = await owner.session();
    const page = await open("/settings/account", { as: owner });
    await fill(page, owner.user.password, "correct-horse-battery");
    await page.getByText("Password changed", { exact: true }).waitFor();
    expect((await other.get("/auth/me")).status).toBe(401);
    const storedSession = z
      .object({ token: z.string() })
      .parse(JSON.parse(String(await page.evaluate(`localStorage.getItem("session")`))));
    expect((await clientWith(storedSession.token).get("/auth/me")).status).toBe(200);
    await expect.poll(() => page.getByLabel("Current password").inputValue()).toBe("");
    expect(await worksFor(owner, owner.user.password)).toBe(false);
    expect(await worksFor(owner, "correct-horse-battery")).toBe(true);
    await page.getByRole("link", { name: "Servers" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Servers" }).first().waitFor();
  });
});

test("everybody changes their own name, also who may change nothing else", async ({ open }) => {
  const owner = await account();
  const viewer = await owner.anotherUser({ role: "viewer" });
  const page = await open("/settings/account", { as: { user: viewer } });
  await page.getByRole("button", { name: "Change name" }).click();
  const dialog = page.getByRole("dialog", { name: "Change name" });
  await dialog.getByLabel("Name", { exact: true }).fill("");
  await dialog.getByRole("button", { name: "Change name" }).click();
  await dialog.getByText("This is required.", { exact: true }).waitFor();
  await expectAccessible(page);
  await dialog.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  const newName = page.getByText("Ada Lovelace", { exact: true }).filter({ visible: true }).first();
  await dialog.getByRole("button", { name: "Change name" }).click();
  await page.getByText("Name changed", { exact: true }).first().waitFor();
  await dialog.waitFor({ state: "detached" });
  await newName.waitFor();
  expect((await owner.api.get(`/users/${viewer.id}`)).as(AccountUser).name).toBe("Ada Lovelace");
  await page.reload();
  await newName.waitFor();
});

test("an owner limits the life of API keys and where people sign in, but locks nobody out by mistake", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/account", { as: owner });
  await page.getByLabel(/^Longest life of API keys/).fill("90");
  const networks = page.getByLabel(/^Networks that people may sign in from/);
  await networks.fill("192.0.2.0/24");
  await save(page);
  await page.getByText(/^Must contain the address that you send this from/).waitFor();
  await networks.fill("127.0.0.0/8");
  await save(page);
  await page.getByText("Settings saved", { exact: true }).waitFor();
  expect(await settingsOf(owner)).toMatchObject({ token_max_days: 90, allowed_ips: ["127.0.0.0/8"] });
  const admin = await open("/settings/account", { as: { user: await owner.anotherUser({ role: "admin" }) } });
  await admin.getByLabel("Account name").waitFor();
  expect(await admin.getByLabel(/^Networks that people may sign in from/).count()).toBe(0);
});

test("if the service is down the account page says so, and loads the settings by itself", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  const page = await open("/servers", { as: owner });
  await page.route("**/api/v1/settings", (route) => route.abort());
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByText("Can't reach the service").waitFor();
  await page.unroute("**/api/v1/settings");
  await page.getByLabel("Account name").waitFor();
});

test("nothing on the account page jumps while it loads, or when a notification appears", async ({ open }) => {
  const page = await open("/settings/account", { as: await account(), fresh: true });
  await page.getByRole("button", { name: "Save settings" }).waitFor();
  await page.waitForLoadState("networkidle");
  const shifts = `new Promise((resolve) => new PerformanceObserver((list) =>
    resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: "layout-shift", buffered: true }))`;
  const none = "new Promise((resolve) => setTimeout(resolve, 100, 0))"; // the browser reports no entry if nothing has shifted
  expect(Number(await page.evaluate(`Promise.race([${shifts}, ${none}])`))).toBeLessThanOrEqual(0.05);
  const settings = page.getByRole("heading", { name: "Settings" });
  const place = async () => ((await settings.boundingBox())?.y ?? Number.NaN) + Number(await page.evaluate("scrollY"));
  const before = await place();
  expect(before).toBeGreaterThan(0);
  await save(page);
  await page.getByText("Settings saved", { exact: true }).waitFor();
  expect(await place()).toBe(before);
});

test("a user without any other permission chooses which mails to get, and reads why none arrive", async ({ open }) => {
  const owner = await account();
  const viewer = await owner.anotherUser({ role: "custom", permissions: ["servers:read"] });
  await markMailboxBouncing(viewer.email);
  const page = await open("/settings/account", { as: { user: viewer } });
  await page.getByRole("button", { name: "Mails" }).click();
  await page.getByText(`Our last mail to ${viewer.email} was not accepted`).waitFor();
  expect(await page.getByRole("radio", { name: "Nothing" }).isChecked()).toBe(true);
  await page.getByText("Alerts and failures", { exact: true }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save mails" }).click();
  await page.getByText("Mails saved", { exact: true }).waitFor();
  const user = (await owner.api.get(`/users/${viewer.id}`)).as(AccountUser);
  expect(user.notifications).toEqual({ email: "all" });
});

test("an email of another script is shown as people read it, and an older service's without that as it is", async ({ open }) => {
  const owner = await account();
  const email = `${unique("ada")}@xn--bcher-kva.example`;
  const fields = { email, name: "Ada", password: `${unique("word")}-and-more!` };
  const user = { ...fields, id: (await createUser(owner.id, fields)).id };
  await markMailboxBouncing(email);
  const readable = email.replace("xn--bcher-kva", "bücher");
  const page = await open("/settings/account", { as: { user } });
  await page.getByText(`${readable} (${email})`).waitFor();
  await page.getByRole("button", { name: "Ada" }).click();
  await page.locator("#top").getByText(readable, { exact: true }).filter({ visible: true }).waitFor();

  await page.route("**/auth/me", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/"email_unicode":"[^"]*",?/, "");
    await route.fulfill({ response, body });
  });
  await page.reload();
  await page.getByRole("button", { name: "Mails" }).click();
  await page.getByText(`Our last mail to ${email} was not accepted`).waitFor();
});
