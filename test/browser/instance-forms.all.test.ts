// What the form of a new instance suggests, marks and keeps.
import { describe, expect } from "vitest";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";
import { button, dialog, fact, instancesOf, pathOf, storePassword, title } from "./instance-page.ts";

describe("the list of instances", () => {
  test("an empty list of instances links to creating one", async ({ open }) => {
    const page = await open("/instances", { as: await account() });
    await page.getByText("No instances yet.").waitFor();
    await page.getByRole("link", { name: "Create instance" }).last().click();
    await title(page, "Create instance");
    await page.getByText("No active servers").waitFor();
    await page.getByRole("link", { name: "View servers" }).click();
    await title(page, "Servers");
  });
});

describe("creating an instance", () => {
  test("the form suggests a database name until the user types one", async ({ open }) => {
    const owner = await account({ seeded: true });
    await seedServer(owner.id);
    const page = await open("/instances/create", { as: owner });
    const [name, database] = [page.getByLabel("Name", { exact: true }), page.getByLabel("Database name")];
    await name.fill("2. Müller & Söhne");
    await expect.poll(() => database.inputValue()).toBe("muller_sohne");
    await database.fill("mine");
    await name.fill("Wiki");
    expect(await database.inputValue()).toBe("mine");
  });

  test("the form marks deprecated ERP versions", async ({ open }) => {
    const owner = await account({ seeded: true });
    await seedServer(owner.id);
    const page = await open("/instances/create", { as: owner });
    await button(page, /^Version/).click();
    await page.getByRole("option", { name: /17\.0.*deprecated/ }).waitFor();
    expect(await page.getByRole("option", { name: /19\.0.*deprecated/ }).count()).toBe(0);
  });

  test("a domain is typed in any script, and shown as people read it beside what the network writes", async ({ open }) => {
    const owner = await account({ seeded: true });
    const server = await seedServer(owner.id, { name: "erp-1" });
    const parentDomain = uniqueDomain();
    const [unicode, ascii] = [`müller.${parentDomain}`, `xn--mller-kva.${parentDomain}`];
    const page = await open(`/instances/create?server=${server.id}`, { as: owner });
    await page.getByLabel("Name", { exact: true }).fill("Müller");
    await page.getByLabel("Domain").fill(unicode);
    await button(page, "Create instance").click();
    await storePassword(page, "Müller");
    await title(page, "Müller");
    await fact(page, "URL", unicode);
    await fact(page, "URL", ascii);
    expect(await page.getByRole("link", { name: unicode }).getAttribute("href")).toBe(`https://${ascii}`);
    for (const path of ["/instances", `/servers/${server.id}`]) {
      await page.goto(path);
      const row = page.getByRole("row").filter({ hasText: "Müller" });
      await row.getByText(unicode).waitFor();
      await row.getByText(ascii).waitFor();
    }
  });

  test("the password stays in view when the user goes back or closes the tab", async ({ open }) => {
    const owner = await account({ seeded: true });
    const server = await seedServer(owner.id);
    const page = await open("/instances", { as: owner });
    await page.getByRole("link", { name: "Create instance" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Shop");
    await page.getByLabel("Domain").fill(uniqueDomain());
    await button(page, "Create instance").click();
    const passwordDialog = dialog(page, "Shop is being installed");
    await passwordDialog.getByText(owner.user.email).waitFor();
    await page.goBack();
    await passwordDialog.getByText("Save it first, then tick this box.").waitFor();
    await expect.poll(() => pathOf(page)).toBe("/instances/create");
    const dialogEvent = page.waitForEvent("dialog");
    const closing = page.close({ runBeforeUnload: true });
    const question = await dialogEvent;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    await closing;
    await passwordDialog.getByRole("checkbox").check();
    await page.goBack();
    await title(page, "Instances");
    expect((await instancesOf(owner))[0]?.server_id).toBe(server.id);
  });
});
