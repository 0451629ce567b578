// API keys in the dashboard: creating one, seeing its value once, and revoking it.
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { Token } from "../../shared/api/tokens.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose } from "./instance-page.ts";

const CREATE = "/settings/api-keys/create";
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
const submit = (page: Page) => page.getByRole("button", { name: "Create API key" }).click();

/** The value, which the page shows only once. */
async function shownKey(page: Page, name: string): Promise<string> {
  const value = await page
    .getByRole("dialog", { name: `API key ${name}` })
    .getByRole("status", { name: "API key" })
    .textContent();
  return value ?? "";
}

async function keep(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "I've saved the API key" }).check();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).first().waitFor();
}

async function tokenNamed(mine: TestAccount, name: string): Promise<Token | undefined> {
  const all = (await (await mine.session()).get("/tokens?per_page=100")).as(z.array(Token));
  return all.find((token) => token.name === name);
}

describe("creating an API key", () => {
  test("the form for an API key needs a free name and a permission, and sends nothing before", async ({ open }) => {
    const mine = await account();
    const page = await open(CREATE, { as: mine });
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await submit(page);
    await page.getByText("This is required.", { exact: true }).waitFor();
    await page.getByText("Must contain at least one permission.", { exact: true }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('placeholder')")).toBe("Deploy pipeline");
    await expectAccessible(page);
    expect(sent).toEqual([]);
    const { name } = (await (await mine.session()).get(`/tokens/${mine.tokenId}`)).as(Token);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("radio", { name: "Read only" }).check();
    await submit(page);
    await page.getByText("This name is already taken.", { exact: true }).waitFor();
  });

  test("a new API key is shown once, and has only the chosen permissions", async ({ open }) => {
    const mine = await account();
    const page = await open("/settings/api-keys", { as: mine });
    await page.getByRole("link", { name: "Create API key" }).click();
    await page.getByLabel("Name").fill("Nightly backups");
    await page.getByRole("radio", { name: "Backups only" }).check();
    await page.getByRole("checkbox", { name: /^View servers/ }).check();
    await page.getByRole("checkbox", { name: /^Create, delete backups/ }).uncheck();
    await page.getByRole("button", { name: /^Expires/ }).click();
    await page.getByRole("option", { name: "Never" }).click();
    await page.getByText("Valid until you revoke it.").waitFor();
    await page.getByLabel(/^Networks/).fill("127.0.0.0/8, 2001:db8::/64");
    await submit(page);
    const value = await shownKey(page, "Nightly backups");
    await expectAccessible(page);
    expect(value).toMatch(/^svc_test_/);
    const me = (await clientWith(value).get("/auth/me")).as(z.object({ permissions: z.array(z.string()) }));
    expect(me.permissions).toEqual(["servers:read", "instances:read", "backups:read"]);
    await page.keyboard.press("Escape"); // not before it is saved
    expect(await shownKey(page, "Nightly backups")).toBe(value);
    await keep(page);
    const row = rowOf(page, "Nightly backups");
    await row.getByText("only from 127.0.0.0/8, 2001:db8::/64").waitFor();
    await row.getByText(`svc_test_…${value.slice(-4)}`).waitFor();
    await row.getByText("from 127.0.0.1").waitFor();
    expect(await page.content()).not.toContain(value);
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain(value);
    await row.getByRole("button", { name: "3 permissions" }).click();
    await page.getByText("View backups").waitFor();
    expect((await tokenNamed(mine, "Nightly backups"))?.expires_at).toBeNull();
  });

  test.for([
    { preset: "Read only", expected: ["servers:read", "instances:read", "backups:read", "settings:read"] },
    { preset: "Automation", expected: ALL_PERMISSIONS.filter((permission) => !permission.startsWith("settings")) },
    { preset: "Everything", expected: ALL_PERMISSIONS },
  ])("the preset $preset grants what it says", async ({ preset, expected }, { open }) => {
    const mine = await account();
    const page = await open(CREATE, { as: mine });
    await page.getByLabel("Name").fill(preset);
    await page.getByRole("radio", { name: preset }).check();
    await submit(page);
    const value = await shownKey(page, preset);
    expect((await clientWith(value).get("/auth/me")).as(z.object({ permissions: z.array(z.string()) })).permissions).toEqual(
      expected,
    );
    await keep(page);
    await rowOf(page, `svc_test_…${value.slice(-4)}`)
      .getByRole("button", { name: preset, exact: true })
      .waitFor();
  });

  test("the last day of an API key must be in the future, and the key ends with it, in the chosen zone", async ({ open }) => {
    const mine = await account();
    const page = await open("/config.json", { as: mine, zone: "America/Los_Angeles" });
    await page.evaluate(`localStorage.setItem("zone", "utc")`);
    await page.goto(CREATE);
    await page.getByLabel("Name").fill("For the fair");
    await page.getByRole("radio", { name: "Read only" }).check();
    await page.getByRole("button", { name: /^Expires/ }).click();
    await page.getByRole("option", { name: "On a specific date" }).click();
    await submit(page);
    await page.getByText("Must be a date, for example 2027-01-31.", { exact: true }).waitFor();
    const day = page.getByLabel("Last day");
    await day.fill("2020-01-31");
    await submit(page);
    await page.getByText("Must be in the future.", { exact: true }).waitFor();
    const year = new Date().getFullYear() + 1;
    expect(await tokenNamed(mine, "For the fair")).toBeUndefined();
    await day.fill(`${year}-01-31`);
    await page.getByText("Must be in the future.").waitFor({ state: "detached" });
    await page.getByText(/^Expires at the end of \w+,? 31 January/).waitFor();
    await submit(page);
    await shownKey(page, "For the fair");
    expect((await tokenNamed(mine, "For the fair"))?.expires_at).toBe(`${year}-01-31T23:59:59.000Z`);
  });
});

test("an API key is replaced from its menu, and both work for as long as was chosen", async ({ open }) => {
  const mine = await account();
  const { id, api } = await mine.token(["servers:read"]);
  const { name } = (await (await mine.session()).get(`/tokens/${id}`)).as(Token);
  const page = await open("/settings/api-keys", { as: mine });
  await choose(page, name, "Rotate");
  const asked = page.getByRole("dialog", { name: "Rotate API key" });
  await expectAccessible(page);
  await asked.getByRole("button", { name: "Rotate" }).click();
  const value = await shownKey(page, name);
  await keep(page);
  for (const each of [api, clientWith(value)]) expect((await each.get("/servers")).status).toBe(200);
  await rowOf(page, name).filter({ hasText: "replaced" }).waitFor();
  await button(rowOf(page, name).filter({ hasText: "replaced" }), `Actions on ${name}`).click();
  const items = page.getByRole("menuitem");
  await expect.poll(() => items.allTextContents()).toEqual(["Revoke"]); // only the new one can be rotated
  await page.keyboard.press("Escape");
  await items.first().waitFor({ state: "detached" });
  await button(rowOf(page, name).filter({ hasNotText: "replaced" }), `Actions on ${name}`).click();
  await expect.poll(() => items.allTextContents()).toEqual(["Rotate", "Revoke"]);
});

test("an API key is revoked only after confirmation, and then stops working immediately", async ({ open }) => {
  const mine = await account();
  const { id, api } = await mine.token();
  const { name } = (await (await mine.session()).get(`/tokens/${id}`)).as(Token);
  const page = await open("/settings/api-keys", { as: mine });
  await choose(page, name, "Revoke");
  const asked = page.getByRole("dialog", { name: "Revoke API key" });
  await asked.getByText("stops working immediately").waitFor();
  await expectAccessible(page);
  await asked.getByRole("button", { name: "Cancel" }).click();
  await asked.waitFor({ state: "detached" });
  expect((await api.get("/servers")).status).toBe(200);
  await choose(page, name, "Revoke");
  const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
  await asked.getByRole("button", { name: "Revoke" }).click();
  expect((await revoked).ok()).toBe(true);
  expect((await api.get("/servers")).status).toBe(401);
  await page.getByText(`API key revoked: ${name}`).first().waitFor();
  await rowOf(page, name).waitFor({ state: "detached" });
});
