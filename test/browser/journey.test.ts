// The whole journey of a new user: from signing in to a clone of an instance, and the end of an API key that they created on the
// way.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { ListedInstance } from "../../shared/api/instances.ts";
import { account, newPublicKey, uniqueDomain } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";
import { test } from "./browser.ts";
import { choose, notification, openTab } from "./instance-page.ts";

const JOURNEY_MS = 480_000;
/** At this speed a session's requests of a minute may be used up; then the page waits until it can continue. */
const REQUESTS_AGAIN_MS = 70_000;

const dialog = (page: Page, name: string | RegExp): Locator => page.getByRole("dialog", { name });
const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("heading", { level: 1, name }).first().waitFor();
const goTo = (page: Page, name: string): Promise<void> => page.getByRole("link", { name, exact: true }).first().click();

/** The value in the dialog that shows it once; closes the dialog. */
async function storedSecret(page: Page, name: string): Promise<string> {
  const value = (await page.getByRole("status", { name, exact: true }).textContent()) ?? "";
  await page.getByRole("checkbox", { name: `I've saved the ${name}` }).check();
  await page.getByRole("button", { name: "Done" }).click();
  return value;
}

async function logIn(page: Page, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Home");
}

async function createKey(page: Page): Promise<string> {
  await goTo(page, "API keys");
  await page.getByRole("link", { name: "Create API key" }).first().click();
  await page.getByLabel("Name").fill("Deploy pipeline");
  await page.getByRole("radio", { name: "Automation" }).check();
  await page.getByRole("button", { name: "Create API key" }).click();
  const value = await storedSecret(page, "API key");
  await heading(page, "API keys");
  return value;
}

/** Fills in the form of a server, with an SSH key that is added in the form. */
async function fillInServer(page: Page): Promise<void> {
  await page.getByLabel("Name").fill("erp-1");
  await page.getByRole("button", { name: /^Region/ }).click();
  await page.getByRole("option").first().click();
  await page.getByRole("radio").first().check();
  await page.getByRole("button", { name: "Add SSH key" }).click();
  const adding = dialog(page, "Add SSH key");
  await adding.getByLabel("Name").fill("Ops laptop");
  await adding.getByLabel("Public key").fill(newPublicKey());
  await adding.getByRole("button", { name: "Add SSH key" }).click();
  await adding.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create server" }).click();
  await heading(page, "erp-1");
  await page.getByText("Server created: erp-1").first().waitFor();
}

/** Fills in the form of an instance on the only server. */
async function fillInInstance(page: Page): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByLabel("Domain").fill(uniqueDomain());
  const created = notification(page, "Instance created: Shop");
  await page.getByRole("button", { name: "Create instance" }).click();
  expect(await storedSecret(page, "admin password")).not.toBe("");
  await heading(page, "Shop");
  await created;
}

async function backUp(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Back up now" }).click();
  const form = dialog(page, "Back up Shop");
  await form.getByLabel("Note").fill("three orders");
  await form.getByRole("button", { name: "Back up now" }).click();
  await page.getByText("Backup completed: Shop").first().waitFor();
}

async function restore(page: Page): Promise<void> {
  await openTab(page, "Backups");
  await actOn(page, "three orders", "Restore");
  const confirmation = dialog(page, "Restore Shop");
  await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
  await confirmation.getByRole("button", { name: "Restore" }).click();
  await page.getByText("Backup restored: Shop").first().waitFor({ timeout: REQUESTS_AGAIN_MS });
}

async function clone(page: Page): Promise<void> {
  await goTo(page, "Backups");
  await heading(page, /^Backups/); // the instance's page has the same row
  await actOn(page, "three orders", "Restore to a new instance");
  await heading(page, "Restore Shop to a new instance");
  await page.getByLabel("Name", { exact: true }).fill("Staging", { timeout: REQUESTS_AGAIN_MS });
  await page.getByLabel("Domain").fill(uniqueDomain("staging"));
  const created = notification(page, "Instance created from backup: Staging");
  await page.getByRole("button", { name: "Restore to a new instance", exact: true }).click();
  await storedSecret(page, "admin password");
  await heading(page, "Staging");
  await created;
}

async function actOn(page: Page, backup: string, action: string): Promise<void> {
  const row = page.getByRole("row").filter({ hasText: backup });
  await row.getByRole("button", { name: /^Actions on the backup/ }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

const CLICKS_MAX = 14;
/** Counts the user's own clicks, also on the pages that follow; a click on a label is one, although its field gets another. */
const COUNT_CLICKS = `addEventListener("click", ({ isTrusted, detail }) => {
  if (isTrusted && detail > 0) sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true)`;

test(
  "a new user gets from signing in to a running, protected instance in few clicks, from there to a clone, and an API key stops working as soon as they revoke it",
  { timeout: JOURNEY_MS },
  async ({ open }) => {
    const owner = await account();
    const page = await open("/config.json", { fresh: true }); // counts clicks from the first page on
    // No user is as fast: the page may have to wait until it has requests again.
    page.setDefaultTimeout(REQUESTS_AGAIN_MS);
    await page.addInitScript(COUNT_CLICKS);
    await page.goto("/login");
    await logIn(page, owner.user);
    await goTo(page, "Create server");
    await fillInServer(page);
    await goTo(page, "Create instance");
    await fillInInstance(page);
    await page.getByRole("button", { name: "Set up automatic backups" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save policy" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const clicks = Number(await page.evaluate(`sessionStorage.getItem("clicks")`));
    expect(clicks).toBeGreaterThan(8);
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);

    const api = clientWith(await createKey(page));
    const [shop] = (await api.get("/instances")).as(z.array(ListedInstance));
    expect(shop).toMatchObject({ status: "running", protection: { next_backup_at: expect.any(String) } });
    const data = `/sandbox/instances/${shop?.id}/data`;
    await api.put(data, { orders: 3 });
    await goTo(page, "Instances");
    await goTo(page, "Shop");
    await backUp(page);
    await api.put(data, { orders: 0 });
    await restore(page);
    expect((await api.get(data)).as(z.unknown())).toEqual({ orders: 3 });
    await clone(page);
    const [staging] = (await api.get("/instances")).as(z.array(ListedInstance));
    expect(staging).toMatchObject({ name: "Staging", status: "running", neutralized: true });
    expect((await api.get(`/sandbox/instances/${staging?.id}/data`)).as(z.unknown())).toEqual({ orders: 3 });
    expect((await api.get("/backups")).as(z.array(Backup)).map(({ kind }) => kind)).toEqual(["pre_restore", "manual"]);
    await goTo(page, "API keys");
    await choose(page, "Deploy pipeline", "Revoke");
    const confirmation = dialog(page, "Revoke API key");
    const revoked = page.waitForResponse(
      // An error that asks the page to wait and retry does not count.
      (response) => response.request().method() === "DELETE" && response.ok(),
      { timeout: REQUESTS_AGAIN_MS },
    );
    await Promise.all([revoked, confirmation.getByRole("button", { name: "Revoke", exact: true }).click()]);
    expect((await api.get("/instances")).status).toBe(401);
    await page.getByText("API key revoked: Deploy pipeline").first().waitFor();
  },
);
