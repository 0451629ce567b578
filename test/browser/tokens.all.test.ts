// API keys in the dashboard: what the presets grant, until when a key is valid, and its rotation.
import { describe, expect } from "vitest";
import * as z from "zod";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { Token } from "../../shared/api/tokens.ts";
import { account } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";
import { expectAccessible } from "./axe.ts";
import { CREATE, keep, rowOf, shownKey, submit, tokenNamed } from "./api-keys.ts";
import { test } from "./browser.ts";
import { button, choose } from "./instance-page.ts";

describe("creating an API key", () => {
  test.for([
    { preset: "Read only", expected: ["servers:read", "instances:read", "backups:read", "settings:read"] },
    { preset: "Automation", expected: ALL_PERMISSIONS.filter((permission) => !permission.startsWith("settings")) },
    { preset: "Everything", expected: ALL_PERMISSIONS },
  ])("the preset $preset grants what it says", async ({ preset, expected }, { open }) => {
    const owner = await account();
    const page = await open(CREATE, { as: owner });
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
    const owner = await account();
    const page = await open("/config.json", { as: owner, zone: "America/Los_Angeles" });
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
    expect(await tokenNamed(owner, "For the fair")).toBeUndefined();
    await day.fill(`${year}-01-31`);
    await page.getByText("Must be in the future.").waitFor({ state: "detached" });
    await page.getByText(/^Expires at the end of \w+,? 31 January/).waitFor();
    await submit(page);
    await shownKey(page, "For the fair");
    expect((await tokenNamed(owner, "For the fair"))?.expires_at).toBe(`${year}-01-31T23:59:59.000Z`);
  });
});

test("an API key is replaced from its menu, and both work for as long as was chosen", async ({ open }) => {
  const owner = await account();
  const { id, api } = await owner.token(["servers:read"]);
  const { name } = (await (await owner.session()).get(`/tokens/${id}`)).as(Token);
  const page = await open("/settings/api-keys", { as: owner });
  await choose(page, name, "Rotate");
  const dialog = page.getByRole("dialog", { name: "Rotate API key" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Rotate" }).click();
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
