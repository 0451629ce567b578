// Webhooks in the dashboard: creating one, seeing its secret once, testing it, its deliveries, and deleting it.
import { expect } from "vitest";
import * as z from "zod";
import { Webhook } from "../../shared/api/webhooks.ts";
import { account } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose } from "./instance-page.ts";

test("a webhook is created with a secret that is shown once, tested, changed, and deleted", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/webhooks", { as: owner });
  await page.getByRole("link", { name: "Create webhook" }).click();
  await page.getByLabel("Name").fill("Tickets");
  await page.getByLabel("URL").fill("https://10.0.0.1/");
  const create = page.getByRole("button", { name: "Create webhook" });
  await create.click();
  await page.getByText("Must not lead to a private address.", { exact: true }).waitFor();
  await page.getByLabel("URL").fill("https://flaky.example/hooks");
  await create.click();

  const dialog = page.getByRole("dialog", { name: "Webhook created: Tickets" });
  const secret = (await dialog.getByRole("status", { name: "signing secret" }).textContent()) ?? "";
  expect(secret).toMatch(/^whsec_/);
  await expectAccessible(page);
  await dialog.getByRole("checkbox", { name: /saved the signing secret/ }).check();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { level: 1, name: "Tickets" }).waitFor();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByText("The test failed").waitFor(); // flaky.example fails first
  const row = page.getByRole("row").filter({ hasText: "webhook.test" });
  await row.getByText("HTTP 500").waitFor();
  await choose(page, "webhook.test", "Redeliver");
  await page.getByText("Delivery is sent again").first().waitFor();
  await row.getByText(/^(Pending|Delivered)$/).waitFor(); // it may be sent before the page asks
  await button(page, "More filters").click();
  await button(page, /^Filter by event/).click();
  await page.getByRole("combobox", { name: "Filter by event" }).fill("server.off");
  await page.getByRole("option", { name: "server.offline" }).click();
  await page.getByText("No matches for this filter.").waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe("?type=server.offline");
  await button(page, "Clear filter").click();
  await row.waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Events").fill("backup.*\nserver.offline");
  await button(page, "Save").click();
  await page.getByText("Webhook saved: Tickets").waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Enable" }).waitFor();
  const stored = async () => (await owner.api.get("/webhooks")).as(z.array(Webhook));
  expect(await stored()).toMatchObject([{ name: "Tickets", events: ["backup.*", "server.offline"], enabled: false }]);

  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("No webhooks yet.").waitFor();
  expect(await stored()).toEqual([]);
});

test("each webhook of the list has its actions in a menu", async ({ open }) => {
  const owner = await account();
  const session = await owner.session();
  const hook = (name: string) => session.post("/webhooks", { name, url: "https://flaky.example/hooks", events: ["backup.*"] });
  for (const name of ["Tickets", "Chat"]) expect((await hook(name)).status).toBe(201);
  const page = await open("/settings/webhooks", { as: owner });
  await page.getByRole("button", { name: "Actions on Tickets" }).click();
  await page.getByRole("menuitem", { name: "Edit", exact: true }).click();
  const edited = page.getByRole("dialog", { name: "Edit webhook Tickets" });
  await edited.getByLabel("Name").fill("Issues");
  await edited.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "Issues" }).waitFor();
  await page.getByRole("button", { name: "Actions on Chat" }).click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog", { name: "Delete webhook Chat" }).getByRole("button", { name: "Delete webhook" }).click();
  await page.getByRole("link", { name: "Chat", exact: true }).waitFor({ state: "detached" });
  expect((await owner.api.get("/webhooks")).as(z.array(Webhook))).toMatchObject([{ name: "Issues", events: ["backup.*"] }]);
});

test("a webhook's page has no empty rows, and on a phone its menu waits with what it has begun", async ({ open }) => {
  const owner = await account();
  const path = `/settings/webhooks/${await owner.webhook()}`;
  const page = await open(path, { as: owner });
  await page.getByText("Created", { exact: true }).waitFor();
  const besideEmptyRows = `[...document.querySelectorAll("#main [class*=awsui_child]")]
    .filter((each) => each.innerHTML === "")
    .map((each) => each.parentElement.textContent)`;
  await expect.poll(() => page.evaluate(besideEmptyRows)).toEqual([]);

  const phone = await open(path, { as: owner, phone: true });
  const actions = phone.getByRole("button", { name: "Actions", exact: true });
  const pending = Promise.withResolvers<void>();
  await phone.route("**/test", async (route) => {
    await pending.promise;
    await route.continue();
  });
  await actions.click();
  await phone.getByRole("menuitem", { name: "Send test" }).click();
  await expect.poll(() => actions.isDisabled()).toBe(true);
  pending.resolve();
  await expect.poll(() => actions.isDisabled()).toBe(false);
});

test("a deletion leads to the list, even if the page learns first that what it shows is gone", async ({ open }) => {
  const owner = await account();
  const page = await open(`/settings/webhooks/${await owner.webhook()}`, { as: owner });
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const notFound = page.getByText("Not found", { exact: true });
  await page.route("**/deliveries?*", async (route) => {
    await notFound.waitFor();
    await route.continue();
  });
  await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("No webhooks yet.").waitFor();
  await page
    .getByText(/^Webhook deleted/)
    .first()
    .waitFor();
});
