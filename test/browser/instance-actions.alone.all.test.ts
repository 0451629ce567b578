// The actions of an instance in each status: running, backing up, changing and deleting it.
import type { Page } from "playwright-core";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import { describe, expect } from "vitest";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, callsOf, dialog, fact, getInstance, more, openTab, pathOf, sentTo, title } from "./instance-page.ts";

describe("actions", () => {
  /**
   * Returns the actions that are enabled, by the labels of the buttons and of the items of the open menu, which a page enables as
   * the API would accept the action.
   */
  async function offered(page: Page): Promise<string[]> {
    const enabled: string[] = [];
    for (const [action, name] of [
      ["start", "Start"],
      ["stop", "Stop"],
      ["restart", "Restart"],
      ["backup", "Back up now"],
    ] as const)
      if ((await button(page, name).getAttribute("aria-disabled")) === null && (await button(page, name).isEnabled()))
        enabled.push(action);
    for (const [action, name] of [
      ["update", "Change domain"],
      ["delete", "Delete"],
    ] as const)
      if ((await page.getByRole("menuitem", { name }).getAttribute("aria-disabled")) !== "true") enabled.push(action);
    return enabled.toSorted();
  }

  async function expectOffered(page: Page, actions: readonly string[], message?: string): Promise<void> {
    await button(page, "Actions").click();
    await expect.poll(() => offered(page), { ...(message !== undefined && { message }) }).toEqual(actions.toSorted());
  }

  test("the enabled actions are those that the API accepts, whatever status the instance has", async ({ open }) => {
    const owner = await account({ seeded: true });
    await setQuota(owner.id, "instance", INSTANCE_STATUSES.length + 1);
    const server = await seedServer(owner.id, { name: "erp-1" });
    const page = await open("/instances", { as: owner });
    for (const state of INSTANCE_STATUSES) {
      const { id } = await seedInstance(owner.id, { server_id: server.id, state, name: `Shop ${state}` });
      await moveTo(page, `/instances/${id}`);
      await title(page, `Shop ${state}`);
      await page.getByRole("link", { name: "erp-1" }).waitFor();
      const { allowed_actions } = await getInstance(owner, id);
      const accepted = allowed_actions.filter((action) => action !== "restore" && action !== "deploy"); // in its own tab
      await expectOffered(page, accepted, state);
      await page.keyboard.press("Escape"); // the menu
    }
    const failed = await seedInstance(owner.id, { server_id: server.id, state: "failed", status_reason: "It does not respond" });
    await moveTo(page, `/instances/${failed.id}`);
    await button(page, "Try starting again").waitFor();
  });

  test("an ERP that failed on a server that is offline is not offered to be created again, which would delete it", async ({
    open,
  }) => {
    const owner = await account({ seeded: true });
    const server = await seedServer(owner.id, { name: "erp-1", state: "unreachable" });
    await seedServer(owner.id, { name: "erp-2" });
    const { id } = await seedInstance(owner.id, {
      server_id: server.id,
      state: "failed",
      status_reason: "It hangs",
      name: "Shop",
    });
    const page = await open(`/instances/${id}`, { as: owner });
    await page.getByText("It hangs").first().waitFor();
    await page.getByRole("link", { name: "erp-1" }).waitFor();
    expect(await page.getByText("Create again").count()).toBe(0);
    expect(await button(page, "Delete instance").count()).toBe(0);
    await moveTo(page, `/instances/create?like=${id}`);
    await title(page, "Shop"); // no form, which would say that it is deleted
  });

  test("deleting an instance on a server that is not active removes only the record, and the dialog says so", async ({
    open,
  }) => {
    const owner = await account({ seeded: true });
    const server = await seedServer(owner.id, { name: "erp-1", state: "unreachable" });
    const { id } = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await page.getByRole("link", { name: "erp-1" }).waitFor();
    const reason = page.getByText("Its server erp-1 is offline. It must be active.").filter({ visible: true });
    await button(page, "Stop").hover();
    await reason.waitFor();
    await expectOffered(page, ["delete"]);
    await page.getByRole("menuitem", { name: "Change domain" }).hover();
    await reason.waitFor();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await dialog(page, "Delete instance")
      .getByText("Removes the record at once, because the server is not active, and the ERP when")
      .waitFor();
  });

  test("an instance can be stopped, started and restarted, each with a notification at the end", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    const sent = sentTo(page, "POST", /\/actions$/);
    await button(page, "Stop").click();
    await button(dialog(page, "Stop Shop"), "Cancel").click();
    await more(page, "Show API call to start");
    await dialog(page, "Start Shop").getByText('body: { action: "start" }').waitFor();
    await page.keyboard.press("Escape");
    await button(page, "Stop").click();
    await expectAccessible(page);
    await button(dialog(page, "Stop Shop"), "Stop").click();
    await page.getByText("Instance stopped: Shop").first().waitFor();
    await fact(page, "Status", "Stopped");
    await button(page, "Start").click();
    await page.getByText("Instance started: Shop").first().waitFor();
    await fact(page, "Status", "Running");
    await button(page, "Restart").click();
    await button(dialog(page, "Restart Shop"), "Restart").click();
    await page.getByText("Instance restarted: Shop").first().waitFor();
    expect(sent).toEqual([{ action: "stop" }, { action: "start" }, { action: "restart" }]);
  });

  test("a start after one whose response was lost, and a stop, starts the instance again", async ({ open, faults }) => {
    faults.expected.push(/^Failed to load resource/);
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const stop = async () => owner.until((await owner.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation).id);
    await stop();
    const page = await open(`/instances/${id}`, { as: owner });
    const { promise: lost, resolve } = Promise.withResolvers<Operation>();
    await page.route(
      "**/actions",
      async (route) => {
        const response = await route.fetch();
        await route.abort();
        resolve(z.object({ data: Operation }).parse(await response.json()).data);
      },
      { times: 1 },
    );
    await button(page, "Start").click();
    await owner.until((await lost).id);
    await stop();
    await page.getByText("Can't reach the service").first().waitFor();
    let fetched = false;
    page.on("requestfinished", (request) => (fetched ||= new URL(request.url()).pathname.endsWith(`/instances/${id}`)));
    const comeBack = () => page.evaluate(`window.dispatchEvent(new Event("visibilitychange"))`);
    // Each time asks anew for what the page shows, and the rate limit is for all.
    await expect.poll(() => comeBack().then(() => fetched), { interval: 2_000 }).toBe(true);
    await button(page, "Start").click();
    await fact(page, "Status", "Running");
  });

  test("an error that only the API finds is shown with its request ID", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await button(page, "Stop").click();
    await owner.until((await owner.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation).id);
    await button(dialog(page, "Stop Shop"), "Stop").click();
    // The dialog's forecast, if it comes late, says the same.
    const error = dialog(page, "Stop Shop").getByRole("alert");
    await error.getByText("The action stop is not allowed while the instance is stopped").waitFor();
    await error.getByText(/^Request ID: /).waitFor();
    await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
  });

  test("an instance can be backed up with a note, and the backup appears", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await button(page, "Back up now").click();
    await dialog(page, "Back up Shop").getByLabel("Note").fill("Before the inventory");
    await button(dialog(page, "Back up Shop"), "Back up now").click();
    await page.getByText("Backup completed: Shop").first().waitFor();
    await openTab(page, "Backups");
    const row = page.getByRole("table", { name: "Backups" }).getByRole("row").filter({ hasText: "Before the inventory" });
    await row.getByText("Completed").waitFor();
    await row.getByRole("button", { name: /^Actions on the backup/ }).click();
    await page.getByRole("menuitem", { name: "Restore", exact: true }).click();
    await dialog(page, "Restore Shop").waitFor();
    await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
  });

  test("the header restores the newest backup, unless the user chooses another one, and opens the ERP", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id, url } = await owner.instance({ name: "Shop" });
    const [older, newer] = [await owner.backup(id, { note: "Older" }), await owner.backup(id, { note: "Newer" })];
    const page = await open(`/instances/${id}`, { as: owner });
    expect(await page.getByRole("link", { name: "Open Shop" }).getAttribute("href")).toBe(url);
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(new URL(request.url()).pathname));
    await button(page, "Restore").click();
    const confirmation = dialog(page, "Restore Shop");
    const choice = confirmation.getByRole("button", { name: /^Backup / });
    await choice.getByText("Newer").waitFor();
    expect(await confirmation.getByRole("link", { name: "Restore to a new instance instead" }).getAttribute("href")).toContain(
      newer.id,
    );
    await choice.click();
    await page.getByRole("option", { name: /Older/ }).click();
    await expectAccessible(page);
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    await button(confirmation, "Restore").click();
    await page.getByText("Backup restored: Shop").first().waitFor();
    expect(sent.filter((path) => path.endsWith("/restore")).at(-1)).toContain(older.id);
  });
});

describe("editing", () => {
  test("a notification appears once the page shows what it says, even if fetching that takes seconds", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await seedInstance(owner.id, { name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await title(page, "Shop");
    await more(page, "Edit details");
    const form = dialog(page, "Edit Shop");
    await form.getByLabel("Name").fill("Store");
    await page.route(`**/api/v1/instances/${id}`, async (route) => {
      if (route.request().method() === "GET") await new Promise((resolve) => setTimeout(resolve, 4_000));
      await route.fallback();
    });
    await button(form, "Save").click();
    await page.getByText("Instance updated: Store").first().waitFor();
    expect(await page.getByRole("heading", { level: 1 }).first().textContent()).toBe("Store");
  });

  test("the API call of a dialog does what the dialog would do, whatever is filled in, and has no credential", async ({
    open,
  }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    const sent = sentTo(page, "PUT", /./);
    await more(page, "Edit details");
    const form = dialog(page, "Edit Shop");
    const name = `'"; $(touch x) \\ O'Brien`;
    await form.getByLabel("Name").fill(name);
    const { curl, typescript } = await callsOf(form);
    await expectAccessible(page);
    for (const line of [curl, typescript]) expect(line).not.toMatch(/ey[\w-]+\./);
    const { value } = await owner.token();
    await promisify(execFile)("bash", ["-c", curl], { env: { ...process.env, TOKEN: value } });
    expect((await getInstance(owner, id)).name).toBe(name);
    await form.getByLabel("Name").fill("Outlet");
    await form.getByText(`await client.instances.update({ params: { id: "${id}" }, body: { name: "Outlet" } });`).waitFor();
    expect(typescript).toContain(JSON.stringify(name));
    expect(sent).toEqual([]);
    await page.goto("/settings/api-keys/create");
    await button(page, "Show API call").click();
    await page.getByText("Only the dashboard can do this.").waitFor();
  });

  test("name and email must be valid, and change immediately", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await more(page, "Edit details");
    const form = dialog(page, "Edit Shop");
    await form.getByLabel("Name").fill("");
    await form.getByLabel("Admin email").fill("nobody");
    await button(form, "Save").click();
    await form.getByText("This is required.", { exact: true }).waitFor();
    await form.getByText("Must be an email address.", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await getInstance(owner, id)).toMatchObject({ name: "Shop" });
    await form.getByLabel("Name").fill("Outlet");
    await form.getByLabel("Admin email").fill("boss@example.com");
    await button(form, "Save").click();
    await title(page, "Outlet");
    await openTab(page, "Settings");
    await fact(page, "Admin email", "boss@example.com");
    expect(await getInstance(owner, id)).toMatchObject({ name: "Outlet", admin_email: "boss@example.com" });
  });

  test("changing the domain needs a free one, and the old one serves until the operation ends", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id, domain } = await owner.instance({ name: "Shop" });
    const other = await seedInstance(owner.id);
    const page = await open(`/instances/${id}`, { as: owner });
    const sent = sentTo(page, "PUT", /\/instances\//);
    await more(page, "Change domain");
    const form = dialog(page, "Change the domain of Shop");
    await form.getByText(`${domain} keeps working until the switch`).waitFor();
    await button(form, "Change domain").click();
    await form.getByText("This is required.", { exact: true }).waitFor();
    await form.getByLabel("New domain").fill(domain);
    await button(form, "Change domain").click();
    await form.getByText("This is already this instance's domain.").waitFor();
    await form.getByLabel("New domain").fill("nonsense");
    await button(form, "Change domain").click();
    await form.getByText(/^Must be a lowercase domain name/).waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);
    await form.getByLabel("New domain").fill(other.domain);
    await button(form, "Change domain").click();
    await form.getByText("This domain is already taken.").first().waitFor();
    const next = uniqueDomain("outlet");
    await form.getByLabel("New domain").fill(next);
    await form.getByText(next, { exact: true }).waitFor();
    await button(form, "Change domain").click();
    await page.getByText("Domain changed: Shop").first().waitFor();
    await fact(page, "URL", next);
    expect(await getInstance(owner, id)).toMatchObject({ domain: next, status: "running" });
  });

  test("an instance is deleted once its name is typed, and its backups stay", async ({ open }) => {
    const owner = await account({ seeded: true });
    const { id } = await owner.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: owner });
    await more(page, "Delete");
    const confirmation = dialog(page, "Delete instance");
    await confirmation.getByText("has no completed backup").waitFor();
    await button(confirmation, "Cancel").click();
    const backup = await owner.backup(id);
    await more(page, "Delete");
    await confirmation.getByText("Removes the ERP with its database and files from the server").waitFor();
    await confirmation.getByLabel("Type Shop to confirm").fill("shop");
    expect(await button(confirmation, "Delete instance").isDisabled()).toBe(true);
    await expectAccessible(page);
    await confirmation.getByLabel("Type Shop to confirm").fill("Shop");
    await button(confirmation, "Delete instance").click();
    await title(page, "Instances");
    await page.getByText("Instance deleted: Shop").first().waitFor();
    await page.getByText("No instances yet.").waitFor();
    expect((await owner.api.get(`/instances/${id}`)).status).toBe(404);
    expect((await owner.api.get(`/backups/${backup.id}`)).status).toBe(200);
    await page.goto(`/instances/${id}`);
    await page.getByText("Not found").waitFor();
  });
});
