// The language of the dashboard: the browser's, or the one that the user chooses.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { find } from "../../shared/data/table.ts";
import { userRef } from "../../shared/records/users.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { fact } from "./instance-page.ts";

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).first().waitFor();
const language = (page: Page) => page.evaluate("document.documentElement.lang");

test("a German browser gets German, and the setting leads to English and back", async ({ open }) => {
  const page = await open("/settings/account", { as: await account(), locale: "de-DE" });
  await heading(page, "Konto");
  await expect.poll(() => language(page)).toBe("de");
  await page.getByText("0 von 100 belegt").first().waitFor();
  await page.getByRole("button", { name: "Passwort ändern" }).click();
  await page.getByText("Diese Angabe ist erforderlich.").first().waitFor();
  await expectAccessible(page);
  await page.getByRole("radio", { name: "English" }).check();
  await heading(page, "Account");
  await expect.poll(() => language(page)).toBe("en");
  await page.goto("/servers");
  await page.goto("/settings/account");
  await heading(page, "Account");
  await page.getByRole("radio", { name: "Browser's language" }).click();
  await heading(page, "Konto");
});

test("a German browser gets German from the sign-in page to an instance's page, with its dates and numbers", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Laden" });
  await owner.backup(id);
  const page = await open("/login", { locale: "de-DE" });
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByText("Geben Sie Ihre E-Mail-Adresse ein.").waitFor();
  await page.getByLabel("E-Mail-Adresse").fill(owner.user.email);
  await page.getByLabel("Passwort").fill("falsch");
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByText("E-Mail-Adresse oder Passwort ist falsch.").waitFor();
  await page.getByLabel("Passwort").fill(owner.user.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await heading(page, "Übersicht");
  await page.getByRole("link", { name: "Instanzen mit Status „Läuft“: 1" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Instanzen", exact: true }).click();
  await page.getByPlaceholder("Name, Domain, Label").waitFor();
  await page.getByRole("link", { name: "Laden", exact: true }).click();
  await heading(page, "Laden");
  await expectAccessible(page);
  await page
    .getByText(/vor \d+ Minuten?|gerade eben/)
    .first()
    .waitFor();
});

test("mail comes in the language that the user chose for the dashboard, not in the browser's", async ({ open }) => {
  const { user } = await account({ seeded: true });
  const page = await open("/login", { locale: "en-GB" });
  const written = async () => (await find(userRef(user.id)))?.language;
  const signIn = async (email: string, password: string, button: string) => {
    await page.getByLabel(email).fill(user.email);
    await page.getByLabel(password).fill(user.password);
    await page.getByRole("button", { name: button }).click();
  };
  await signIn("Email", "Password", "Sign in");
  await heading(page, "Home");
  expect(await written()).toBe("en");
  await page.goto("/settings/account");
  await page.getByRole("radio", { name: "Deutsch" }).check();
  await heading(page, "Konto");
  await page.getByRole("button", { name: user.name }).click();
  await page.getByRole("menuitem", { name: "Abmelden" }).click();
  await page.getByText("Sie haben sich abgemeldet.").waitFor();
  await signIn("E-Mail-Adresse", "Passwort", "Anmelden");
  await expect.poll(written).toBe("de");
});

test("a browser whose languages the dashboard does not have gets English", async ({ open }) => {
  const page = await open("/login", { locale: "fr-FR" });
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await expect.poll(() => language(page)).toBe("en");
});

test("what was typed survives a change of the language, except passwords", async ({ open }) => {
  const page = await open("/settings/account", { as: await account() });
  await page.getByLabel("Account name").fill("Half typed");
  await page.getByLabel("Current password").fill("not to be stored");
  await page.getByRole("radio", { name: "Deutsch" }).check();
  await heading(page, "Konto");
  await expect.poll(() => page.getByLabel("Kontoname").inputValue()).toBe("Half typed");
  expect(await page.getByLabel("Aktuelles Passwort").inputValue()).toBe("");
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("Half typed");
  await page.reload();
  await expect.poll(() => page.getByLabel("Kontoname").inputValue()).not.toBe("Half typed");
});

test("a policy and the picture of the backups are described in the language's own plurals, word order and dates", async ({
  open,
}) => {
  const owner = await account();
  const instance = await seedInstance(owner.id, { name: "Laden" });
  const { id } = instance;
  await seedBackup(instance, { created_at: new Date().toISOString(), size_bytes: 1_234_567_890 });
  const policy = { schedule: "30 3 * * *", timezone: "Europe/Berlin", drill_every_days: 7 };
  const keep = { last: 3, daily: 7, weekly: 4, yearly: 1 };
  await owner.api.put(`/instances/${id}/backup-policy`, { ...policy, keep });
  const page = await open(`/instances/${id}`, { as: owner, locale: "de-DE" });
  await fact(page, "Zeitplan", "Täglich um 03:30 Uhr (Europe/Berlin)");
  const retention = "Die 3 neuesten Sicherungen und die jeweils neueste der letzten 7 Tage, 4 Wochen und des letzten Jahres";
  await fact(page, "Behält", retention);
  await fact(page, "Wiederherstellungstests", "Alle 7 Tage");
  const strip = page.getByRole("list", { name: "Sicherungen der letzten 35 Tage" });
  await strip.getByRole("link", { name: /^\p{Lu}\p{Ll}\.?, \d+\. \p{Lu}\p{Ll}+\.?: Manuell, \d/u }).click();
  const details = page.getByRole("dialog", { name: /^Sicherung von Laden, \d+\.\d+\.\d{4}, / });
  await details.getByText("1,23 GB (1.234.567.890 Byte)").waitFor();
  await expectAccessible(page);
});
