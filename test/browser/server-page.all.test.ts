// The page of a server: what it reports, its instances, its operations, its name.
import { text } from "node:stream/consumers";
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { ListedServer, Server } from "../../shared/api/servers.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose, dialog, fact, openTab, pathOf, title } from "./instance-page.ts";

const placeOf = (page: Page): string => pathOf(page) + new URL(page.url()).search;
const rows = (page: Page, table: string): Locator => page.getByRole("table", { name: table }).getByRole("row");
const serversOf = async (owner: TestAccount): Promise<ListedServer[]> =>
  (await owner.api.get("/servers")).as(z.array(ListedServer));

test("a server shows what it last reported, and a low disk is a warning there and where an instance is created on it", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  const report = (disk_free_bytes: number) =>
    recordReport(server, { disk_free_bytes, memory_free_bytes: 2e9, certificates: undefined });
  const page = await open(`/servers/${server.id}`, { as: owner });
  await fact(page, "Disk", "Not reported yet");
  await report(20e9);
  await page.reload();
  await fact(page, "Disk", "20.0 GB of 40 GB free");
  await fact(page, "Memory", "2.00 GB of 4 GB free");
  await fact(page, "Reported", /\d\d:\d\d:\d\d (UTC|GMT\S*) \((just now|\d minutes? ago)\)$/);
  expect(await page.getByText("Low disk space").count()).toBe(0);
  await report(1.2e9);
  await page.reload();
  await page.getByText("erp-1 has 1.20 GB of 40 GB free. Backups and restores may fail").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Create instance" }).click();
  await title(page, "Create instance");
  await page.getByText("erp-1 has 1.20 GB of 40 GB free. Choose another server").waitFor();
  await expectAccessible(page);
  const instance = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
  await seedBackup(instance);
  await page.goto(`/instances/${instance.id}/clone`);
  await page.getByLabel("Name", { exact: true }).fill("Twin");
  await page.getByLabel("Domain").fill("twin.example.com");
  await page.getByText(/^Low disk space: server erp-1 reported 1\.20 GB free at [^T]+\. Delete instances there/).waitFor();
});

test("servers show what is used in bars, and how many instances they have, which are found, filtered and changed together there", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  await recordReport(server, { disk_free_bytes: 10e9, memory_free_bytes: 1e9, certificates: undefined });
  await seedInstance(owner.id, { server_id: server.id, name: "Shop", protection_status: "protected" });
  await seedInstance(owner.id, { server_id: server.id, name: "Wiki" });
  const page = await open("/servers", { as: owner });
  const row = page.getByRole("row").filter({ hasText: "erp-1" });
  await row.getByRole("cell", { name: "2", exact: true }).waitFor();
  for (const [name, used, all] of [
    ["Used: 30.0 GB of 40 GB", "30000000000", "40000000000"],
    ["Used: 3.00 GB of 4 GB", "3000000000", "4000000000"],
  ] as const) {
    const bar = row.getByRole("meter", { name });
    await expect.poll(() => bar.getAttribute("value")).toBe(used);
    expect(await bar.getAttribute("max")).toBe(all);
  }
  await row.getByRole("link", { name: "erp-1", exact: true }).click();
  await title(page, "erp-1");
  await page.getByRole("meter", { name: /^Used: .* of 40 GB/ }).waitFor();
  await rows(page, "Instances").filter({ hasText: "Shop" }).getByText("Protected", { exact: true }).waitFor();
  await rows(page, "Instances").filter({ hasText: "Wiki" }).getByText("Unprotected", { exact: true }).waitFor();
  const names = () => page.getByRole("rowheader").allTextContents();
  await page.getByLabel("Find instances").fill("wik");
  await expect.poll(names).toEqual(["Wiki"]);
  await page.getByLabel("Find instances").fill("");
  await expect.poll(async () => (await names()).toSorted()).toEqual(["Shop", "Wiki"]);
  await button(page, /^Filter by protection/).click();
  await page.getByRole("option", { name: "Unprotected" }).click();
  await expect.poll(names).toEqual(["Wiki"]);
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Download instances as CSV").click()]);
  expect(await text(await file.createReadStream())).toMatch(/\r\nWiki,Running,[^,]+,19\.0 community,Unprotected\r\n$/);
  await page.getByRole("checkbox", { name: "Select Wiki" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Set backup policy" }).click();
  await dialog(page, "Set backup policy of 1 instance").waitFor();
});

describe("the server page", () => {
  test("the server page shows its details, its own instances only, and its operations", async ({ open }) => {
    const owner = await account();
    const server = await owner.server({ name: "erp-1" });
    const { id } = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
    await seedInstance(owner.id, { name: "Elsewhere" });
    const page = await open("/servers", { as: owner });
    await page.getByRole("link", { name: "erp-1", exact: true }).click();
    await title(page, "erp-1");
    await fact(page, "Status", "Active");
    await fact(page, "IP address", server.ip_address ?? "no address");
    await fact(page, "Region", "eu-central");
    await fact(page, "Size", /^small: \d+ CPUs?, \d+ GB memory, \d+ GB disk$/);
    await fact(page, "Price", "Free");
    await fact(page, "SSH key", "Test key");
    await fact(page, "ID", server.id);
    const [label, value, copy] = await Promise.all(
      [page.locator("dt", { hasText: /^ID$/ }), page.getByText(server.id, { exact: true }), button(page, "Copy ID")].map((each) =>
        each.boundingBox(),
      ),
    );
    expect(value?.x).toBeCloseTo(label?.x ?? 0, 0);
    expect(copy?.x).toBeGreaterThan((value?.x ?? 0) + (value?.width ?? 0) - 1);
    await rows(page, "Instances").filter({ hasText: "Shop" }).getByText("Running").waitFor();
    expect(await page.getByText("Elsewhere").count()).toBe(0);
    await expectAccessible(page);
    await button(page, "Actions on Shop").click();
    await page.getByRole("menuitem", { name: "Restart", exact: true }).click();
    await dialog(page, "Restart Shop").waitFor();
    await page.keyboard.press("Escape");
    await dialog(page, "Restart Shop").waitFor({ state: "detached" });
    await openTab(page, "History");
    const row = rows(page, "Operations").filter({ hasText: "Create server" });
    await row.getByText("Succeeded").waitFor();
    await expectAccessible(page);
    await page.goBack();
    await rows(page, "Instances").getByRole("link", { name: "Shop" }).click();
    await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
    await page.goBack();
    await page.getByRole("link", { name: "Create instance" }).click();
    await expect.poll(() => placeOf(page)).toBe(`/instances/create?server=${server.id}`);
  });

  test("an offline server's page shows the reason, and a deleted server's page says that it does not exist", async ({ open }) => {
    const owner = await account();
    const status_reason = "The machine has not answered for 3 minutes";
    const { id } = await seedServer(owner.id, { state: "unreachable", status_reason });
    const page = await open(`/servers/${id}`, { as: owner });
    await page.getByText(status_reason).waitFor();
    await fact(page, "Status", "Offline");
    await page.goto("/servers/srv_01kag8w1s2e7tv8q4m5n6p7r8s");
    await page.getByText("Not found").waitFor();
    expect(await button(page, "Delete").count()).toBe(0);
  });

  test("a server whose creation failed is created again with the same values, once the failed one is deleted", async ({
    open,
  }) => {
    const owner = await account();
    const failed = (await owner.api.post("/servers", await owner.serverBody({ name: "fail-quota" }))).as(Server);
    await owner.until(failed.operation_id, "failed");
    const page = await open("/operations?status=failed", { as: owner });
    await choose(page, "Create server, fail-quota", "Retry");
    await page.getByText("fail-quota, whose creation failed, is deleted first").waitFor();
    await page.getByText("Deletes the record; it has no machine").waitFor();
    await page.getByRole("radio", { name: failed.size, checked: true }).waitFor();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("fail-quota");
    await page.getByLabel("Name").fill("erp-9"); // in the sandbox, the name makes it fail
    await button(page, "Create server").click();
    await title(page, "erp-9");
    await page.getByText("Server created: erp-9").first().waitFor();
    expect((await serversOf(owner)).map(({ name, status }) => [name, status])).toEqual([["erp-9", "active"]]);
  });

  test("a server can be renamed to a valid name that is free", async ({ open }) => {
    const owner = await account();
    const { id } = await seedServer(owner.id, { name: "erp-1" });
    await seedServer(owner.id, { name: "erp-2" });
    const page = await open(`/servers/${id}`, { as: owner });
    await button(page, "Edit").click();
    const form = dialog(page, "Edit erp-1");
    for (const [name, errorResponse] of [
      ["", "This is required."],
      ["Shop 1", /^Must be 1 to 63/],
      ["erp-2", "This name is already taken."],
    ] as const) {
      await form.getByLabel("Name").fill(name);
      await button(form, "Save").click();
      await form.getByText(errorResponse).waitFor();
    }
    await expectAccessible(page);
    expect((await serversOf(owner)).map(({ name }) => name).toSorted()).toEqual(["erp-1", "erp-2"]);
    await form.getByLabel("Name").fill("erp-3");
    await button(form, "Save").click();
    await title(page, "erp-3");
    await page.getByText("Server updated: erp-3").first().waitFor();
    await form.waitFor({ state: "detached" });
    expect((await owner.api.get(`/servers/${id}`)).as(Server).name).toBe("erp-3");
  });
});
