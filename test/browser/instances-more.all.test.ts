// The DNS record of an instance, forms and dialogs by the keyboard alone, and an instance while the service is down.
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { recordReport } from "../../shared/records/host-reports.ts";
import { getServer } from "../../shared/records/servers.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, dialog, fact, openTab, pathOf, title } from "./instance-page.ts";

test("each part of the DNS record can be copied, and the page says what happens until it exists", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedInstance(owner.id, { domain: "shop.example.com" });
  const page = await open(`/instances/${id}`, { as: owner });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("Without this record, nobody can reach the instance").waitFor();
  for (const [part, value] of [
    ["type", "A"],
    ["name", "shop.example.com"],
    ["value", "203.0.113.10"],
  ]) {
    await button(page, `Copy record's ${part}`).click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(value);
  }
});

test("the DNS record is shown until the server reports a valid certificate, and again when that fails", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id, domain, server_id } = await seedInstance(owner.id, { domain: "shop.example.com" });
  const server = await getServer(owner.id, server_id);
  const report = (failing: boolean, expires_at: string | null) =>
    recordReport(server, {
      disk_free_bytes: 20e9,
      memory_free_bytes: 2e9,
      certificates: [{ instance_id: id, domain, expires_at, failing }],
    });
  const page = await open(`/instances/${id}`, { as: owner, clock: true });
  const card = page.getByRole("heading", { name: "DNS record" });
  await card.waitFor();
  await fact(page, "Certificate", "Pending");
  await page.getByText("Certificate checked: not yet").first().waitFor();
  await report(true, null);
  await page.clock.fastForward(60_000);
  await page.getByText("The server couldn't get or renew a certificate for shop.example.com.").waitFor();
  await page.getByText("nobody can reach the instance").waitFor({ state: "detached" });
  await button(page, "Copy record's value").waitFor();
  await expectAccessible(page);
  await report(false, new Date(Date.now() + 90 * 86_400_000).toISOString());
  await page.clock.fastForward(60_000);
  await card.waitFor({ state: "detached" });
  await fact(page, "Certificate", "Valid");
  await fact(page, "Certificate expires", /\(in (89|90) days\)$/);
  await expectAccessible(page);
});

test("an instance can be created with the keyboard alone", async ({ open }) => {
  const owner = await account({ seeded: true });
  await owner.server({ name: "erp-1" });
  const page = await open("/instances", { as: owner });
  await title(page, /^Instances/);
  const press = (key: string): Promise<void> => page.keyboard.press(key);
  const tabTo = async (target: Locator): Promise<void> => {
    for (let steps = 0; steps < 60; steps++) {
      if ((await target.and(page.locator(":focus")).count()) > 0) return;
      await press("Tab");
    }
    throw new Error(`The Tab key does not lead to ${target.toString()}`);
  };
  await tabTo(page.getByRole("link", { name: "Create instance" }).first());
  await press("Enter");
  await title(page, "Create instance");
  await tabTo(page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Shop");
  await tabTo(page.getByLabel("Domain"));
  await page.keyboard.type(uniqueDomain());
  await press("Enter");
  const passwordDialog = dialog(page, "Shop is being installed");
  await passwordDialog.waitFor();
  await tabTo(passwordDialog.getByRole("checkbox"));
  await press("Space");
  await tabTo(button(passwordDialog, "Done"));
  await press("Enter");
  await title(page, "Shop");
  await fact(page, "Status", "Running");
});

test("a dialog behind a menu can be used with the keyboard alone", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedInstance(owner.id, { name: "Shop" });
  const page = await open(`/instances/${id}`, { as: owner });
  await button(page, "Actions").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const form = dialog(page, "Change the domain of Shop");
  await form.waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("INPUT"); // the first field
  await page.keyboard.type("nonsense");
  await page.keyboard.press("Enter");
  await form.getByText(/^Must be a lowercase domain name/).waitFor();
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Actions");
});

test("if the service is down the page says so, and shows the instance by itself", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account({ seeded: true });
  const { id } = await seedInstance(owner.id, { name: "Shop" });
  const page = await open("/instances", { as: owner });
  await page.route(`**/api/v1/instances/${id}`, (route) => route.abort());
  await page.getByRole("link", { name: "Shop" }).click();
  await page.getByText("Can't reach the service").waitFor();
  await page.unroute(`**/api/v1/instances/${id}`);
  await title(page, "Shop");
  await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
});

test("a failed instance is never shown as running", async ({ open }) => {
  const owner = await account();
  const { id } = await seedInstance(owner.id, { name: "Shop", state: "failed", status_reason: "Odoo did not start" });
  const page = await open(`/instances/${id}`, { as: owner });
  await page.getByText("Odoo did not start").waitFor();
  await page.getByText("Without this record, nobody can reach the instance").waitFor();
  expect(await page.locator("#main").innerText()).not.toMatch(/\b(runs|running)\b/i);
});

test("each instance of the list has its actions in a menu, with the reasons against those that are not possible", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  await seedInstance(owner.id, { name: "Shop", server_id: server.id });
  await seedInstance(owner.id, { name: "Idle", server_id: server.id, state: "stopped" });
  const page = await open("/instances", { as: owner });
  await button(page, "Actions on Idle").click();
  await page.getByRole("menuitem", { name: "Stop" }).getByText("It is stopped already.").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  for (const [item, title] of [
    ["Stop", "Stop Shop"],
    ["Backup policy", "Backup policy of Shop"],
    ["Delete", "Delete instance Shop"],
  ] as const) {
    await button(page, "Actions on Shop").click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
    await dialog(page, title).waitFor();
    await page.keyboard.press("Escape");
    await dialog(page, title).waitFor({ state: "detached" });
  }
  await moveTo(page, "/servers");
  await button(page, "Actions on erp-1").click();
  await page.getByRole("menuitem", { name: "Delete" }).getByText("It has 2 instances. Delete them first.").waitFor();
  await page.getByRole("menuitem", { name: "Create instance" }).click();
  await expect.poll(() => pathOf(page)).toBe("/instances/create");
});

test("an instance says whether it sends mail, and a value has its button to copy it after it, in view under the pointer", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const { id } = await seedInstance(owner.id, { name: "Shop", labels: { team: "sales", env: "test" } });
  const page = await open(`/instances/${id}`, { as: owner });
  await fact(page, "Sends mail", "Yes");
  expect(await page.locator(".labels > span").allTextContents()).toEqual(["env: test", "team: sales"]);
  await openTab(page, "Settings");
  const copy = button(page, "Copy ID");
  const opacity = () => page.evaluate(`getComputedStyle(document.querySelector("[aria-label='Copy ID']")).opacity`);
  await copy.waitFor();
  await page.mouse.move(0, 0);
  await expect.poll(opacity).toBe("0");
  await page.getByText(id, { exact: true }).hover();
  await expect.poll(opacity).toBe("1");
  const [value, after] = [await page.getByText(id, { exact: true }).boundingBox(), await copy.boundingBox()];
  expect(after?.x ?? 0).toBeGreaterThan((value?.x ?? Infinity) + (value?.width ?? 0) - 1);
});
