// Lists of servers in the dashboard, names that are taken, and what prevents a deletion.
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { ListedServer } from "../../shared/api/servers.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, dialog, pathOf, sentTo, title } from "./instance-page.ts";

const placeOf = (page: Page): string => pathOf(page) + new URL(page.url()).search;
const rows = (page: Page, table: string): Locator => page.getByRole("table", { name: table }).getByRole("row");
const serversOf = async (owner: TestAccount): Promise<ListedServer[]> =>
  (await owner.api.get("/servers")).as(z.array(ListedServer));

describe("the list of servers", () => {
  test("the empty list of servers explains what a server is for, and links to creating one", async ({ open }) => {
    const page = await open("/servers", { as: await account() });
    await page.getByText("No servers yet. Create one to host your first instance.").waitFor();
    await expectAccessible(page);
    await rows(page, "Servers").getByRole("link", { name: "Create server" }).click();
    await title(page, "Create server");
    await expect.poll(() => pathOf(page)).toBe("/servers/create");
  });

  test("the list of servers filters by status, in a URL that can be shared", async ({ open }) => {
    const owner = await account();
    await seedServer(owner.id, { name: "erp-1" });
    await seedServer(owner.id, { name: "erp-2", state: "unreachable" });
    const page = await open("/servers", { as: owner });
    await expect.poll(() => rows(page, "Servers").count()).toBe(3); // including the table's header
    await page.getByRole("button", { name: /^Filter by status/ }).click();
    await page.getByRole("option", { name: "Offline" }).click();
    await expect.poll(() => rows(page, "Servers").count()).toBe(2);
    await rows(page, "Servers").getByRole("link", { name: "erp-2" }).waitFor();
    await expect.poll(() => placeOf(page)).toBe("/servers?status=offline");
    await page.reload();
    await rows(page, "Servers").getByRole("link", { name: "erp-2" }).waitFor();
    await expect.poll(() => rows(page, "Servers").count()).toBe(2);
    await page.goto("/servers?status=provisioning");
    await page.getByText("No matches for this filter.").waitFor();
    await button(page, "Clear filter").click();
    await expect.poll(() => rows(page, "Servers").count()).toBe(3);
    await expect.poll(() => placeOf(page)).toBe("/servers");
    await page.goBack();
    await page.getByText("No matches for this filter.").waitFor();
  });

  test("a long list of servers has pages, the newest server first", async ({ open }) => {
    const owner = await account();
    await setQuota(owner.id, "server", 21);
    for (let each = 1; each <= 21; each++) await seedServer(owner.id, { name: `erp-${each}` });
    const page = await open("/servers", { as: owner });
    await page.getByRole("heading", { name: "Servers (21)" }).waitFor();
    await page.getByRole("link", { name: "erp-21", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "erp-1", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: /^Page 2/ }).click();
    await page.getByRole("link", { name: "erp-1", exact: true }).click();
    await title(page, "erp-1");
    await page.goBack();
    await page.getByRole("link", { name: "erp-1", exact: true }).waitFor();
    await expect.poll(() => rows(page, "Servers").count()).toBe(2);
    await expect.poll(() => placeOf(page)).toBe("/servers?page=2");
  });
});

describe("creating a server", () => {
  test("creating a server needs all fields and a valid name; errors are shown at the fields and nothing is sent", async ({
    open,
  }) => {
    const owner = await account();
    const page = await open("/servers/create", { as: owner });
    const sent = sentTo(page, "POST", /\/servers$/);
    await button(page, "Create server").click();
    await expect.poll(() => page.getByText("This is required.", { exact: true }).count()).toBe(4); // there is only one provider
    await expect.poll(() => page.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    await page.getByText("Choose a region to see the sizes available.").waitFor();
    await expectAccessible(page);
    for (const name of ["ERP-1", "erp_1", "-erp", "e".repeat(64)]) {
      await page.getByLabel("Name").fill(name);
      await expect.poll(() => page.getByText(/^Must be 1 to 63/).count()).toBe(0);
      await button(page, "Create server").click();
      await page
        .getByText("Must be 1 to 63 lowercase letters, digits and hyphens, and must not start or end with a hyphen.", {
          exact: true,
        })
        .waitFor();
    }
    expect(sent).toEqual([]);
    await button(page, "Cancel").click();
    await title(page, "Servers");
    expect(await serversOf(owner)).toEqual([]);
  });
});

describe("deleting a server", () => {
  test("deleting a server is disabled with the reason while it has instances, and so is every action during an operation", async ({
    open,
  }) => {
    const owner = await account();
    const { id } = await seedServer(owner.id);
    await seedInstance(owner.id, { server_id: id });
    const page = await open(`/servers/${id}`, { as: owner });
    await button(page, "Delete").hover();
    await page.getByText("It has 1 instance. Delete it first.").filter({ visible: true }).waitFor();
    await expect.poll(() => button(page, "Delete").getAttribute("aria-disabled")).toBe("true");
    await button(page, "Delete").click({ force: true });
    expect(await page.getByRole("dialog").count()).toBe(0);
    const creating = await seedServer(owner.id, { state: "creating" });
    await page.goto(`/servers/${creating.id}`);
    for (const name of ["Edit", "Delete"]) {
      await button(page, name).hover();
      await page.getByText("Wait for it to finish").filter({ visible: true }).first().waitFor();
      await expect.poll(() => button(page, name).getAttribute("aria-disabled")).toBe("true");
    }
  });

  test("if a server gets an instance in the meantime, the API's error is shown with its request ID", async ({ open }) => {
    const owner = await account();
    const { id } = await seedServer(owner.id, { name: "erp-1" });
    const page = await open(`/servers/${id}`, { as: owner });
    await button(page, "Delete").click();
    await seedInstance(owner.id, { server_id: id });
    const confirmation = dialog(page, "Delete server");
    await confirmation.getByLabel("Type erp-1 to confirm").fill("erp-1");
    await button(confirmation, "Delete server").click();
    await confirmation.getByText(/^Couldn't complete this/).waitFor();
    await confirmation.getByText(/^Request ID: /).waitFor();
    expect(await serversOf(owner)).toMatchObject([{ id, status: "active" }]);
  });
});
