// Instances: finding and creating them.
import { describe, expect } from "vitest";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";
import { button, fact, instancesOf, notification, sentTo, storePassword, title } from "./instance-page.ts";

describe("the list of instances", () => {
  test("the list of instances shows each one's URL and server, and filters by status", async ({ open }) => {
    const owner = await account({ seeded: true });
    const server = await seedServer(owner.id, { name: "erp-1" });
    await seedInstance(owner.id, { server_id: server.id, name: "Shop", domain: "shop.example.com" });
    await seedInstance(owner.id, { server_id: server.id, name: "Archive", state: "stopped" });
    const page = await open("/instances", { as: owner });
    const shop = page.getByRole("row").filter({ hasText: "Shop" });
    expect(await shop.getByRole("link", { name: /shop\.example\.com/ }).getAttribute("href")).toBe("https://shop.example.com");
    await shop.getByRole("link", { name: "erp-1" }).waitFor();
    await button(page, /^Filter by status/).click();
    await page.getByRole("option", { name: "Stopped" }).click();
    await shop.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Archive" }).click();
    await title(page, "Archive");
  });
});

describe("creating an instance", () => {
  test("creating an instance shows the password once, then the running instance", async ({ open }) => {
    const owner = await account({ seeded: true });
    const server = await owner.server();
    const domain = uniqueDomain();
    const page = await open(`/instances/create?server=${server.id}`, { as: owner });
    const sent = sentTo(page, "POST", /\/instances$/);
    await page.getByLabel("Name", { exact: true }).fill("Shop");
    await page.getByLabel("Domain").fill(domain.toUpperCase());
    const created = notification(page, "Instance created: Shop");
    await button(page, "Create instance").click();
    const password = await storePassword(page, "Shop");
    expect(password).toMatch(/^[\w-]{12,}$/);
    await title(page, "Shop");
    await created;
    await fact(page, "Status", "Running");
    expect(sent).toMatchObject([
      { name: "Shop", server_id: server.id, database_name: "shop", admin_email: owner.user.email, domain, edition: "community" },
    ]);
    expect(await instancesOf(owner)).toMatchObject([{ name: "Shop", domain, status: "running" }]);
    expect(await page.content()).not.toContain(password);
    expect(await page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")).not.toContain(password);
    await page.goto(`/instances/create`);
    await title(page, "Create instance");
    await page.goBack();
    await title(page, "Shop");
    expect(await page.content()).not.toContain(password);
  });
});
