// Servers in the dashboard: finding, creating, renaming and deleting them, and the reasons that prevent it.
import type { Locator, Page } from "playwright-core";
import { describe, expect } from "vitest";
import * as z from "zod";
import { Catalog } from "../../shared/api/catalog.ts";
import { Operation } from "../../shared/api/operations.ts";
import { ListedServer, Server } from "../../shared/api/servers.ts";
import { SshKey } from "../../shared/api/ssh-keys.ts";
import { account, newPublicKey, type TestAccount } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, dialog, fact, openTab, pathOf, sentTo, title } from "./instance-page.ts";

const rows = (page: Page, table: string): Locator => page.getByRole("table", { name: table }).getByRole("row");
const serversOf = async (owner: TestAccount): Promise<ListedServer[]> =>
  (await owner.api.get("/servers")).as(z.array(ListedServer));

/** Returns the catalog with the prices of a provider that charges more in the sandbox's first region. */
function priced(catalog: unknown): unknown {
  const { data, ...envelope } = z.looseObject({ data: Catalog }).parse(catalog);
  const price = { monthly: 4.49, hourly: 0.0072, currency: "EUR" };
  const region_prices = { "eu-central": { monthly: 5.39, hourly: 0.0086, currency: "EUR" } };
  const providers = data.providers.map((provider) => ({
    ...provider,
    sizes: provider.sizes.map((size) => ({ ...size, price, region_prices })),
  }));
  return { ...envelope, data: { ...data, providers } };
}

describe("creating a server", () => {
  async function choose(page: Page): Promise<void> {
    await page.getByRole("button", { name: /^Region/ }).click();
    await page.getByRole("option", { name: /eu-central/ }).click();
    await page.getByRole("radio", { name: /^small/ }).check();
  }

  async function chooseKey(page: Page): Promise<void> {
    await page.getByRole("button", { name: /^SSH key/ }).click();
    await page.getByRole("option", { name: /Test key/ }).click();
  }

  test("a taken server name is shown at its field, and another name succeeds", async ({ open }) => {
    const owner = await account();
    await seedServer(owner.id, { name: "erp-1" });
    const key = await owner.sshKey();
    const page = await open("/servers/create", { as: owner });
    const sent = sentTo(page, "POST", /\/servers$/);
    await page.getByLabel("Name").fill("erp-1");
    await choose(page);
    await chooseKey(page);
    await button(page, "Create server").click();
    await page.getByText("This name is already taken.", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    await expect.poll(() => pathOf(page)).toBe("/servers/create");
    await page.getByLabel("Name").fill("erp-2");
    await button(page, "Create server").click();
    await title(page, "erp-2");
    await page.getByText("Server created: erp-2").first().waitFor();
    const chosen = { provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: key.id };
    expect(sent).toEqual([
      { name: "erp-1", ...chosen },
      { name: "erp-2", ...chosen },
    ]);
  });

  test("the server form can add an SSH key, keeps what was filled in, and the page follows the server to its end", async ({
    open,
  }) => {
    const owner = await account();
    const page = await open("/servers/create", { as: owner });
    await page.getByLabel("Name").fill("erp-1");
    await choose(page);
    await button(page, "Add SSH key").click();
    const form = dialog(page, "Add SSH key");
    await button(form, "Add SSH key").click();
    await expect.poll(() => form.getByText("This is required.", { exact: true }).count()).toBe(2);
    await form.getByLabel("Name").fill("Ops laptop");
    await form.getByLabel("Public key").fill(newPublicKey());
    await button(form, "Add SSH key").click();
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^SSH key.*Ops laptop/ }).waitFor();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("erp-1");
    await button(page, "Create server").click();
    await title(page, "erp-1");
    await page.getByText("Server created: erp-1").first().waitFor();
    await fact(page, "Status", "Active");
    await fact(page, "SSH key", "Ops laptop");
    const [server] = await serversOf(owner);
    const [key] = (await owner.api.get("/ssh-keys")).as(z.array(SshKey));
    expect(server).toMatchObject({ name: "erp-1", status: "active", region: "eu-central", size: "small", ssh_key_id: key?.id });
    await fact(page, "IP address", server?.ip_address ?? "no address");
    await expect.poll(() => pathOf(page)).toBe(`/servers/${server?.id}`);
  });

  test("a server that fails shows the reason and the request ID, and can be deleted", async ({ open }) => {
    const owner = await account();
    await owner.sshKey();
    const page = await open("/servers/create", { as: owner });
    await page.getByLabel("Name").fill("fail-quota");
    await choose(page);
    await chooseKey(page);
    await button(page, "Create server").click();
    await title(page, "fail-quota");
    await page.getByText("Couldn't create server: fail-quota").first().waitFor();
    const [creation] = (await owner.api.get("/operations")).as(z.array(Operation));
    await fact(page, "Status", "Offline");
    await openTab(page, "History");
    const outcome = rows(page, "Operations").filter({ hasText: "Create server" });
    await outcome.getByText("Failed").waitFor();
    await outcome.getByText("The quota at the provider is used up").waitFor();
    await outcome.getByText(`Request ID: ${creation?.request_id}`).waitFor();
    await expectAccessible(page);
    await openTab(page, "Overview");
    const create = page.getByRole("link", { name: "Create instance" }).or(button(page, "Create instance"));
    await expect.poll(() => create.getAttribute("aria-disabled")).toBe("true");
    await page.route("**/api/v1/catalog", async (route) => route.fulfill({ json: priced(await (await route.fetch()).json()) }));
    await page.reload();
    await page.getByRole("link", { name: "Create again" }).click();
    await title(page, "Create server");
    await page.getByText("fail-quota, whose creation failed, is deleted first").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("fail-quota");
    await page.getByRole("radio", { name: "small", checked: true }).waitFor();
    await page.getByText("€5.39 a month, €0.0086 an hour (from €4.49 in other regions)").first().waitFor();
    await page.getByText(/^The machine is created at .* Price: €5\.39 a month/).waitFor();
    await expectAccessible(page);
    await page.goBack();
    await title(page, "fail-quota");
    await button(page, "Delete").click();
    await dialog(page, "Delete server").getByLabel("Type fail-quota to confirm").fill("fail-quota");
    await button(dialog(page, "Delete server"), "Delete server").click();
    await page.getByText("No servers yet.").waitFor();
  });
});

describe("deleting a server", () => {
  test("a server is deleted once its name is typed", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.server({ name: "erp-1" });
    const page = await open(`/servers/${id}`, { as: owner });
    await button(page, "Delete").click();
    const confirmation = dialog(page, "Delete server");
    await confirmation.getByText("Deletes the machine with everything on it").waitFor();
    expect(await confirmation.getByText("machine").count()).toBe(1); // said once
    await confirmation.getByLabel("Type erp-1 to confirm").fill("erp-");
    await expect.poll(() => button(confirmation, "Delete server").isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    expect((await owner.api.get(`/servers/${id}`)).as(Server).status).toBe("active");
    await confirmation.getByLabel("Type erp-1 to confirm").fill("erp-1");
    await button(confirmation, "Delete server").click();
    await title(page, "Servers");
    await page.getByText("Server deleted: erp-1").first().waitFor();
    await page.getByText("No servers yet.").waitFor();
    expect((await owner.api.get(`/servers/${id}`)).status).toBe(404);
    await page.goto(`/servers/${id}`);
    await page.getByText("Not found").waitFor();
  });
});
