// Instances that cannot be created as they were filled in, and one that fails.
import { describe, expect } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, fact, instancesOf, notification, openTab, sentTo, storePassword } from "./instance-page.ts";

describe("creating an instance", () => {
  test("an invalid instance form shows an error at every field and sends nothing", async ({ open }) => {
    const owner = await account({ seeded: true });
    await seedServer(owner.id);
    await seedServer(owner.id);
    const page = await open("/instances/create", { as: owner });
    const sent = sentTo(page, "POST", /\/instances$/);
    await page.getByLabel("Admin email").fill("nobody");
    await button(page, "Create instance").click();
    // name, server, domain, database name.
    await expect.poll(() => page.getByText("This is required.", { exact: true }).count()).toBe(4);
    await page.getByText("Must be an email address.", { exact: true }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
    await page.getByLabel("Domain").fill("not a domain");
    await page.getByLabel("Database name").fill("Shop-1");
    await button(page, "Create instance").click();
    await page.getByText("Must be a lowercase domain name such as shop.example.com.", { exact: true }).waitFor();
    await page.getByText(/^Must start with a lowercase letter/).waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);
  });

  test("a taken domain is shown at its field, and the form keeps its values", async ({ open }) => {
    const owner = await account({ seeded: true });
    const existing = await owner.instance();
    const page = await open("/instances/create", { as: owner });
    await page.getByLabel("Name", { exact: true }).fill("Second");
    await page.getByLabel("Domain").fill(existing.domain);
    await button(page, "Create instance").click();
    await page.getByText("This domain is already taken.", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Domain").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Second");
    await page.getByLabel("Domain").fill(uniqueDomain());
    const created = notification(page, "Instance created: Second");
    await button(page, "Create instance").click();
    await storePassword(page, "Second");
    await created;
  });

  test("an instance that fails shows the reason and the request ID", async ({ open }) => {
    const owner = await account({ seeded: true });
    await owner.server();
    const page = await open("/instances/create", { as: owner });
    await page.getByLabel("Name", { exact: true }).fill("Doomed");
    await page.getByLabel("Domain").fill("fail-install.example.com");
    await button(page, "Create instance").click();
    // The notification leaves the focus in the dialog, which Escape reaches.
    await page.getByText("Couldn't create instance: Doomed").first().waitFor();
    await storePassword(page, "Doomed");
    await fact(page, "Status", "Failed");
    await openTab(page, "History");
    const operations = page.getByRole("table", { name: "History" });
    await operations.getByText("The ERP could not be installed").waitFor();
    const [{ operation_id, id } = await Promise.reject(new Error("No instance was made"))] = await instancesOf(owner);
    expect(operation_id).toBeNull();
    const [failed] = (await owner.api.get(`/operations?resource_id=${id}`)).as(z.array(Operation));
    await operations.getByText(`Request ID: ${failed?.request_id}`).waitFor();
    await openTab(page, "Overview");
    await button(page, "Set up automatic backups").hover();
    await page.getByText("Odoo was never installed. Delete this instance").filter({ visible: true }).waitFor();
    expect(await page.getByRole("heading", { name: "DNS record" }).count()).toBe(0);

    await page.getByRole("link", { name: "Create again" }).click();
    await page.getByText("Doomed, whose creation failed, is deleted first").waitFor();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Doomed");
    await expect.poll(() => page.getByLabel("Domain").inputValue()).toBe("fail-install.example.com");
    await page.getByLabel("Domain").fill(uniqueDomain());
    const created = notification(page, "Instance created: Doomed");
    await button(page, "Create instance").click();
    await storePassword(page, "Doomed");
    await created;
    expect((await instancesOf(owner)).map(({ name, status }) => [name, status])).toEqual([["Doomed", "running"]]);
  });
});
