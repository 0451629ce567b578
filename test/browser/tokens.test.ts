// API keys in the dashboard: creating one, seeing its value once, and revoking it.
import { describe, expect } from "vitest";
import * as z from "zod";
import { Token } from "../../shared/api/tokens.ts";
import { account } from "../harness/account.ts";
import { clientWith } from "../harness/client.ts";
import { expectAccessible } from "./axe.ts";
import { CREATE, keep, rowOf, shownKey, submit, tokenNamed } from "./api-keys.ts";
import { test } from "./browser.ts";
import { choose } from "./instance-page.ts";

describe("creating an API key", () => {
  test("the form for an API key needs a free name and a permission, and sends nothing before", async ({ open }) => {
    const owner = await account();
    const page = await open(CREATE, { as: owner });
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await submit(page);
    await page.getByText("This is required.", { exact: true }).waitFor();
    await page.getByText("Must contain at least one permission.", { exact: true }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('placeholder')")).toBe("Deploy pipeline");
    await expectAccessible(page);
    expect(sent).toEqual([]);
    const { name } = (await (await owner.session()).get(`/tokens/${owner.tokenId}`)).as(Token);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("radio", { name: "Read only" }).check();
    await submit(page);
    await page.getByText("This name is already taken.", { exact: true }).waitFor();
  });

  test("a new API key is shown once, and has only the chosen permissions", async ({ open }) => {
    const owner = await account();
    const page = await open("/settings/api-keys", { as: owner });
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
    expect((await tokenNamed(owner, "Nightly backups"))?.expires_at).toBeNull();
  });
});

test("an API key is revoked only after confirmation, and then stops working immediately", async ({ open }) => {
  const owner = await account();
  const { id, api } = await owner.token();
  const { name } = (await (await owner.session()).get(`/tokens/${id}`)).as(Token);
  const page = await open("/settings/api-keys", { as: owner });
  await choose(page, name, "Revoke");
  const dialog = page.getByRole("dialog", { name: "Revoke API key" });
  await dialog.getByText("stops working immediately").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await api.get("/servers")).status).toBe(200);
  await choose(page, name, "Revoke");
  const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  expect((await revoked).ok()).toBe(true);
  expect((await api.get("/servers")).status).toBe(401);
  await page.getByText(`API key revoked: ${name}`).first().waitFor();
  await rowOf(page, name).waitFor({ state: "detached" });
});
