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
  /** By the labels of the buttons and of the items of the open menu, which a page enables as the API would accept the action. */
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
    const mine = await account({ seeded: true });
    await setQuota(mine.id, "instance", INSTANCE_STATUSES.length + 1);
    const server = await seedServer(mine.id, { name: "erp-1" });
    const page = await open("/instances", { as: mine });
    for (const state of INSTANCE_STATUSES) {
      const { id } = await seedInstance(mine.id, { server_id: server.id, state, name: `Shop ${state}` });
      await moveTo(page, `/instances/${id}`);
      await title(page, `Shop ${state}`);
      await page.getByRole("link", { name: "erp-1" }).waitFor();
      const { allowed_actions } = await getInstance(mine, id);
      const accepted = allowed_actions.filter((action) => action !== "restore" && action !== "deploy"); // in its own tab
      await expectOffered(page, accepted, state);
      await page.keyboard.press("Escape"); // the menu
    }
    const failed = await seedInstance(mine.id, { server_id: server.id, state: "failed", status_reason: "It does not respond" });
    await moveTo(page, `/instances/${failed.id}`);
    await button(page, "Try starting again").waitFor();
  });

  test("an ERP that failed on a server that is offline is not offered to be created again, which would delete it", async ({
    open,
  }) => {
    const mine = await account({ seeded: true });
    const server = await seedServer(mine.id, { name: "erp-1", state: "unreachable" });
    await seedServer(mine.id, { name: "erp-2" });
    const { id } = await seedInstance(mine.id, {
      server_id: server.id,
      state: "failed",
      status_reason: "It hangs",
      name: "Shop",
    });
    const page = await open(`/instances/${id}`, { as: mine });
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
    const mine = await account({ seeded: true });
    const server = await seedServer(mine.id, { name: "erp-1", state: "unreachable" });
    const { id } = await seedInstance(mine.id, { server_id: server.id, name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
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
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
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
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const stop = async () => mine.until((await mine.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation).id);
    await stop();
    const page = await open(`/instances/${id}`, { as: mine });
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
    await mine.until((await lost).id);
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
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
    await button(page, "Stop").click();
    await mine.until((await mine.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation).id);
    await button(dialog(page, "Stop Shop"), "Stop").click();
    // The dialog's forecast, if it comes late, says the same.
    const error = dialog(page, "Stop Shop").getByRole("alert");
    await error.getByText("The action stop is not allowed while the instance is stopped").waitFor();
    await error.getByText(/^Request ID: /).waitFor();
    await expect.poll(() => pathOf(page)).toBe(`/instances/${id}`);
  });

  test("an instance can be backed up with a note, and the backup appears", async ({ open }) => {
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
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
    const mine = await account({ seeded: true });
    const { id, url } = await mine.instance({ name: "Shop" });
    const [older, newer] = [await mine.backup(id, { note: "Older" }), await mine.backup(id, { note: "Newer" })];
    const page = await open(`/instances/${id}`, { as: mine });
    expect(await page.getByRole("link", { name: "Open Shop" }).getAttribute("href")).toBe(url);
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(new URL(request.url()).pathname));
    await button(page, "Restore").click();
    const asked = dialog(page, "Restore Shop");
    const choice = asked.getByRole("button", { name: /^Backup / });
    await choice.getByText("Newer").waitFor();
    expect(await asked.getByRole("link", { name: "Restore to a new instance instead" }).getAttribute("href")).toContain(newer.id);
    await choice.click();
    await page.getByRole("option", { name: /Older/ }).click();
    await expectAccessible(page);
    await asked.getByLabel("Type Shop to confirm").fill("Shop");
    await button(asked, "Restore").click();
    await page.getByText("Backup restored: Shop").first().waitFor();
    expect(sent.filter((path) => path.endsWith("/restore")).at(-1)).toContain(older.id);
  });
});

describe("editing", () => {
  test("a notification appears once the page shows what it says, even if fetching that takes seconds", async ({ open }) => {
    const mine = await account({ seeded: true });
    const { id } = await seedInstance(mine.id, { name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
    await title(page, "Shop");
    await more(page, "Edit details");
    const asked = dialog(page, "Edit Shop");
    await asked.getByLabel("Name").fill("Store");
    await page.route(`**/api/v1/instances/${id}`, async (route) => {
      if (route.request().method() === "GET") await new Promise((resolve) => setTimeout(resolve, 4_000));
      await route.fallback();
    });
    await button(asked, "Save").click();
    await page.getByText("Instance updated: Store").first().waitFor();
    expect(await page.getByRole("heading", { level: 1 }).first().textContent()).toBe("Store");
  });

  test("the API call of a dialog does what the dialog would do, whatever is filled in, and has no credential", async ({
    open,
  }) => {
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
    const sent = sentTo(page, "PUT", /./);
    await more(page, "Edit details");
    const asked = dialog(page, "Edit Shop");
    const name = `'"; $(touch x) \\ O'Brien`;
    await asked.getByLabel("Name").fill(name);
    const { curl, typescript } = await callsOf(asked);
    await expectAccessible(page);
    for (const line of [curl, typescript]) expect(line).not.toMatch(/ey[\w-]+\./);
    const { value } = await mine.token();
    await promisify(execFile)("bash", ["-c", curl], { env: { ...process.env, TOKEN: value } });
    expect((await getInstance(mine, id)).name).toBe(name);
    await asked.getByLabel("Name").fill("Outlet");
    await asked.getByText(`await client.instances.update({ params: { id: "${id}" }, body: { name: "Outlet" } });`).waitFor();
    expect(typescript).toContain(JSON.stringify(name));
    expect(sent).toEqual([]);
    await page.goto("/settings/api-keys/create");
    await button(page, "Show API call").click();
    await page.getByText("Only the dashboard can do this.").waitFor();
  });

  test("name and email must be valid, and change immediately", async ({ open }) => {
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
    await more(page, "Edit details");
    const asked = dialog(page, "Edit Shop");
    await asked.getByLabel("Name").fill("");
    await asked.getByLabel("Admin email").fill("nobody");
    await button(asked, "Save").click();
    await asked.getByText("This is required.", { exact: true }).waitFor();
    await asked.getByText("Must be an email address.", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await getInstance(mine, id)).toMatchObject({ name: "Shop" });
    await asked.getByLabel("Name").fill("Outlet");
    await asked.getByLabel("Admin email").fill("boss@example.com");
    await button(asked, "Save").click();
    await title(page, "Outlet");
    await openTab(page, "Settings");
    await fact(page, "Admin email", "boss@example.com");
    expect(await getInstance(mine, id)).toMatchObject({ name: "Outlet", admin_email: "boss@example.com" });
  });

  test("changing the domain needs a free one, and the old one serves until the operation ends", async ({ open }) => {
    const mine = await account({ seeded: true });
    const { id, domain } = await mine.instance({ name: "Shop" });
    const other = await seedInstance(mine.id);
    const page = await open(`/instances/${id}`, { as: mine });
    const sent = sentTo(page, "PUT", /\/instances\//);
    await more(page, "Change domain");
    const asked = dialog(page, "Change the domain of Shop");
    await asked.getByText(`${domain} keeps working until the switch`).waitFor();
    await button(asked, "Change domain").click();
    await asked.getByText("This is required.", { exact: true }).waitFor();
    await asked.getByLabel("New domain").fill(domain);
    await button(asked, "Change domain").click();
    await asked.getByText("This is already this instance's domain.").waitFor();
    await asked.getByLabel("New domain").fill("nonsense");
    await button(asked, "Change domain").click();
    await asked.getByText(/^Must be a lowercase domain name/).waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);
    await asked.getByLabel("New domain").fill(other.domain);
    await button(asked, "Change domain").click();
    await asked.getByText("This domain is already taken.").first().waitFor();
    const next = uniqueDomain("outlet");
    await asked.getByLabel("New domain").fill(next);
    await asked.getByText(next, { exact: true }).waitFor();
    await button(asked, "Change domain").click();
    await page.getByText("Domain changed: Shop").first().waitFor();
    await fact(page, "URL", next);
    expect(await getInstance(mine, id)).toMatchObject({ domain: next, status: "running" });
  });

  test("an instance is deleted once its name is typed, and its backups stay", async ({ open }) => {
    const mine = await account({ seeded: true });
    const { id } = await mine.instance({ name: "Shop" });
    const page = await open(`/instances/${id}`, { as: mine });
    await more(page, "Delete");
    const asked = dialog(page, "Delete instance");
    await asked.getByText("has no completed backup").waitFor();
    await button(asked, "Cancel").click();
    const backup = await mine.backup(id);
    await more(page, "Delete");
    await asked.getByText("Removes the ERP with its database and files from the server").waitFor();
    await asked.getByLabel("Type Shop to confirm").fill("shop");
    expect(await button(asked, "Delete instance").isDisabled()).toBe(true);
    await expectAccessible(page);
    await asked.getByLabel("Type Shop to confirm").fill("Shop");
    await button(asked, "Delete instance").click();
    await title(page, "Instances");
    await page.getByText("Instance deleted: Shop").first().waitFor();
    await page.getByText("No instances yet.").waitFor();
    expect((await mine.api.get(`/instances/${id}`)).status).toBe(404);
    expect((await mine.api.get(`/backups/${backup.id}`)).status).toBe(200);
    await page.goto(`/instances/${id}`);
    await page.getByText("Not found").waitFor();
  });
});
