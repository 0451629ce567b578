// API keys on their page, for the tests of the dashboard.
import type { Page } from "playwright-core";
import * as z from "zod";
import { Token } from "../../shared/api/tokens.ts";
import type { TestAccount } from "../harness/account.ts";

export const CREATE = "/settings/api-keys/create";
export const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
export const submit = (page: Page) => page.getByRole("button", { name: "Create API key" }).click();

/** The value, which the page shows only once. */
export async function shownKey(page: Page, name: string): Promise<string> {
  const value = await page
    .getByRole("dialog", { name: `API key ${name}` })
    .getByRole("status", { name: "API key" })
    .textContent();
  return value ?? "";
}

export async function keep(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "I've saved the API key" }).check();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).first().waitFor();
}

export async function tokenNamed(owner: TestAccount, name: string): Promise<Token | undefined> {
  const all = (await (await owner.session()).get("/tokens?per_page=100")).as(z.array(Token));
  return all.find((token) => token.name === name);
}
