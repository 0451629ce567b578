// One action on many records: which it applies to, what the service does with the rest, and what is said at the end.
import { text } from "node:stream/consumers";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { Instance, ListedInstance } from "../../shared/api/instances.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, callsOf, dialog, getInstance, instancesOf, sentTo } from "./instance-page.ts";

const MANY = 30;
const Listed = z.looseObject({ data: z.array(z.looseObject({})), meta: z.looseObject({}) });
let big: TestAccount;
let real: Instance;
let other: Instance;

beforeAll(async () => {
  big = await account({ seeded: true });
  await setQuota(big.id, "instance", MANY + 10);
  const server = await seedServer(big.id, { name: "erp-1" });
  for (let i = 0; i < MANY; i++) {
    const created_at = new Date(Date.UTC(2026, 10, 1, 12, i)).toISOString(); // a list says which is the newest
    await seedInstance(big.id, {
      server_id: server.id,
      name: `Idle ${i}`,
      state: "stopped",
      labels: { env: "test" },
      created_at,
    });
  }
  real = await big.instance({ name: "Shop one on" });
  other = await big.instance({ name: "Shop two on" });
});

test("a bulk action says what it leaves out, goes on while its page is closed, and ends with what failed and why", async ({
  open,
}) => {
  // An earlier try of this test may have left work.
  for (const { operation_id } of await instancesOf(big)) if (operation_id !== null) await big.until(operation_id);
  const page = await open("/instances", { as: big });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, `Select all ${MANY + 2}`).click();
  await page.getByText(`${MANY + 2} selected`).waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  const confirmation = dialog(page, "Stop 2 instances");
  await confirmation.getByText(/The service carries this out/).waitFor();
  await confirmation.getByText(/^Left out \(30\)/).waitFor();
  await confirmation.getByText(/Idle 29.*: It is stopped already\./).waitFor();
  expect((await callsOf(confirmation)).curl).toContain("/bulk");
  await expectAccessible(page);
  const bulkResponse = page.waitForResponse(/\/bulk$/);
  await button(confirmation, "Stop 2 instances").click();
  const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await (await bulkResponse).json());
  await page.getByRole("heading", { name: `Instances (${MANY + 2})` }).waitFor(); // nothing is selected any more
  await page.goto("about:blank");
  await big.until(data.id);
  expect((await getInstance(big, other.id)).status).toBe("stopped");
  const results = await open(`/operations/${data.id}`, { as: big });
  await results.getByRole("heading", { level: 1, name: "Stop instances" }).waitFor();
  await results.getByText("2 of 2 done.").waitFor();
  await results.getByRole("link", { name: "Shop one on" }).waitFor();
  await expectAccessible(results);
});

test("a deploy to many names its modules, and has a note", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource: net::ERR_FAILED/); // it is not sent
  const page = await open("/instances?find=two", { as: big });
  await page.getByRole("checkbox", { name: "Select Shop two on" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Deploy", exact: true }).click();
  const confirmation = dialog(page, "Deploy to 1 instance");
  await confirmation.getByRole("radio", { name: "Modules that you name" }).check();
  await confirmation.getByLabel("Names of the modules").fill("sale, acme!");
  const deploy = button(confirmation, "Deploy to 1 instance");
  await deploy.click();
  await confirmation.getByText("acme! must be the name of a module.").waitFor();
  await confirmation.getByLabel(/^Note/).fill("New prices");
  const planned = page.waitForRequest((request) => request.url().endsWith("/bulk?dry_run=true"));
  await confirmation.getByLabel("Names of the modules").fill("sale, acme");
  const { parameters: plan } = z.object({ parameters: z.looseObject({}) }).parse((await planned).postDataJSON());
  expect(plan).not.toHaveProperty("note"); // typing one changes nothing of what happens
  await expectAccessible(page);
  const sent = sentTo(page, "POST", /\/bulk$/);
  await page.route("**/bulk", (route) => route.abort());
  await deploy.click();
  const parameters = { modules: ["sale", "acme"], rehearse: true, backup_first: true, update_image: false, note: "New prices" };
  await expect.poll(() => sent).toEqual([{ action: "deploy", select: { ids: [other.id] }, parameters }]);
});

test("what another operation holds waits; the action is paused, resumed and canceled, and what did not begin can be tried again", async ({
  open,
  faults,
}) => {
  const { id: heldId } = await seedInstance(big.id, { name: "Held fast", operation_id: unusedId("operation") });
  const operation = (await (await big.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${operation.id}`, { as: big });
  await page.getByText(/Another operation is in progress/).waitFor();
  const main = page.locator("#main");
  faults.expected.push(/status of 503/);
  await page.route(
    "**/actions",
    (route) =>
      route.fulfill({ status: 503, json: { success: false, error: { code: "SERVICE_UNAVAILABLE", message: "Try again soon" } } }),
    { times: 1 },
  );
  await main.getByRole("button", { name: "Pause" }).click();
  await main.getByRole("alert").getByText("Try again soon").waitFor();
  await main.getByRole("button", { name: "Pause" }).click();
  await main.getByRole("button", { name: "Resume" }).waitFor();
  // What somebody else asks for counts, too.
  await (await big.session()).post(`/operations/${operation.id}/actions`, { action: "resume" });
  await main.getByRole("button", { name: "Pause" }).waitFor();
  await main.getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await main.getByRole("button", { name: "Try 1 again" }).click();
  const confirmation = dialog(page, "Stop 1 instance");
  await confirmation.getByText("Waits for other operations on Held fast, for up to 60 minutes").waitFor();
  await button(confirmation, "Stop 1 instance").click();
  await expect.poll(() => page.url()).not.toContain(operation.id);
  await main.getByRole("button", { name: "Cancel the rest" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement === document.body")).toBe(false);
});

test("what the user selects while everything is being selected counts, and a click beside a dialog keeps what was typed", async ({
  open,
}) => {
  const page = await open("/instances?find=idle", { as: big });
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/instances\?.*per_page=100/, async (route) => {
    await promise;
    await route.fallback();
  });
  await page.getByRole("heading", { name: `Instances (${MANY})` }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, `Select all ${MANY}`).click();
  await page.getByRole("checkbox", { name: "Select Idle 29" }).click();
  const arrived = page.waitForResponse(/\/instances\?.*per_page=100/);
  resolve();
  await (await arrived).finished();
  await page.getByRole("checkbox", { name: "Select Idle 28" }).click();
  await page.getByText("18 selected").waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Change labels" }).click();
  const form = dialog(page, "Change labels of 18 instances");
  await form.getByLabel("Labels to add").fill("env: production");
  await page.mouse.click(5, 5);
  expect(await form.getByLabel("Labels to add").inputValue()).toBe("env: production");
});

test.for([
  { device: "phone", phone: true, width: 320 },
  { device: "tablet", phone: false, width: 768 },
])("a bulk action works on a $device: nothing is cut off", async ({ phone, width }, { open }) => {
  const page = await open("/instances?status=stopped&find=idle", { as: big, phone });
  await page.setViewportSize({ width, height: 700 });
  await page.getByRole("checkbox", { name: "Select Idle 29" }).click();
  await button(page, `Select all ${MANY}`).click();
  await page.getByText(`${MANY} selected`).waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  const confirmation = dialog(page, `Delete ${MANY} instances`);
  await confirmation.waitFor();
  await expectAccessible(page);
  expect(await button(confirmation, `Delete ${MANY} instances`).isDisabled()).toBe(true);
  await confirmation.getByLabel(/To confirm, type the number/).fill(String(MANY));
  expect(await button(confirmation, `Delete ${MANY} instances`).isDisabled()).toBe(false);
  const confirm = `[...document.querySelectorAll("[role=dialog] button")].findLast((each) => /^Delete/.test(each.textContent))`;
  const red = `getComputedStyle(${confirm})`;
  await expect.poll(() => page.evaluate(`${red}.backgroundColor`)).toBe("rgb(196, 11, 11)");
  expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
});

test("labels of many records change without losing others", async ({ open }) => {
  await big.api.put(`/instances/${real.id}`, { labels: { team: "sales" } });
  const page = await open("/instances?find=one", { as: big });
  await page.getByRole("checkbox", { name: "Select Shop one on" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Change labels" }).click();
  const form = dialog(page, "Change labels of 1 instance");
  await form.getByLabel("Labels to add").fill("Env: x");
  await button(form, "Change 1 instance").click();
  await form.getByText(/Env is not a valid label key/).waitFor();
  const many = Array.from({ length: 15 }, (_, n) => `key-${n}: ${"x".repeat(63)}`);
  await form.getByLabel("Labels to add").fill(many.join("\n"));
  await form.getByText(/Its labels would be too long: keys and values together can have 1,024 bytes/).waitFor();
  await form.getByLabel("Labels to add").fill("env: production");
  await button(form, "Change 1 instance").click();
  await page.getByText("Bulk action finished: 1 of 1 done", { exact: true }).waitFor();
  expect((await getInstance(big, real.id)).labels).toEqual({ env: "production", team: "sales" });
  const { api } = await big.token();
  expect((await api.get("/instances?label=env:test&per_page=100")).as(z.array(ListedInstance))).toHaveLength(MANY);
});

test("unprotected instances get a backup policy together", async ({ open }) => {
  const page = await open("/instances?find=two", { as: big });
  await page.getByRole("checkbox", { name: "Select Shop two on" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Set backup policy" }).click();
  const form = dialog(page, "Set backup policy of 1 instance");
  await form.getByLabel("Time zone").fill("Europe/Berlin");
  await expectAccessible(page);
  await button(form, "Set backup policy").click();
  await page.getByText("Bulk action finished: 1 of 1 done", { exact: true }).waitFor();
  expect((await big.api.get(`/instances/${other.id}/backup-policy`)).body).toMatchObject({
    data: { timezone: "Europe/Berlin", schedule: "0 2 * * *" },
  });
});

test("a policy for many instances says which policies it replaces, and how many backups its rules remove", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id: server_id } = await seedServer(owner.id);
  const last_backup_at = new Date(Date.now() - 3_600_000).toISOString();
  for (const name of ["Cafe", "Deli"]) {
    const instance = await seedInstance(owner.id, { server_id, name, last_backup_at, last_backup_begun_at: last_backup_at });
    for (const due_at of ["2026-11-18T03:00:00.000Z", "2026-11-19T03:00:00.000Z"])
      await seedBackup(instance, { kind: "scheduled", due_at, attempt: 1 });
    await owner.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 3 * * *", keep: { daily: 7 } });
  }
  const page = await open("/instances", { as: owner });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Set backup policy" }).click();
  const form = dialog(page, "Set backup policy of 2 instances");
  await form.getByText(/^2 × Backs up the instance by the schedule 0 2 \* \* \*/).waitFor();
  await form.getByText(/^Replaces the present backup policy of (Cafe, Deli|Deli, Cafe)/).waitFor();
  for (const rule of ["Days", "Weeks", "Months"]) await form.getByLabel(rule, { exact: true }).fill("");
  await form.getByLabel("Newest", { exact: true }).fill("1");
  await form.getByText("4 × No rule keeps a scheduled backup; it is removed after the next run").waitFor();
  await expectAccessible(page);
});

/** The time after which a page asks for the overview again. */
const FOLLOWED_MS = 60_000;
const BULK = { type: "instance", parameters: {}, total: 1, waiting: 0, running: 1, succeeded: 0, failed: 0, cancelled: 0 };

test("what somebody else has deleted meanwhile is left out, and what is busy is not", async ({ open, faults }) => {
  faults.expected.push(/status of (404|422)/); // the busy one's operation does not exist
  const owner = await account({ seeded: true });
  const garage = await owner.instance({ name: "Garage" });
  await owner.instance({ name: "Bakery" });
  await seedInstance(owner.id, { name: "Busy", operation_id: unusedId("operation") });
  const page = await open("/instances", { as: owner });
  await page.getByRole("heading", { name: "Instances (3)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await owner.until((await owner.api.delete(`/instances/${garage.id}`)).as(z.looseObject({ id: z.string() })).id);
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  const confirmation = dialog(page, "Stop 3 instances");
  await confirmation.getByText("One no longer exists and is left out.").waitFor();
  await confirmation.getByText("Waits for other operations on Busy, for up to 60 minutes").waitFor();
  const bulkResponse = page.waitForResponse((response) => response.url().endsWith("/bulk") && response.status() === 202);
  await button(confirmation, "Stop 3 instances").click();
  const { data } = z
    .object({ data: z.object({ result: z.looseObject({ bulk: z.looseObject({ total: z.number() }) }) }) })
    .parse(await (await bulkResponse).json());
  expect(data.result.bulk.total).toBe(2);
});

test("a retry without what has been deleted since is another request, with a key of its own", async ({ open, faults }) => {
  faults.expected.push(/status of (422|503)/);
  const owner = await account({ seeded: true });
  const { server_id } = await seedInstance(owner.id, { name: "Shop 0" });
  for (const name of ["Shop 1", "Shop 2"]) await seedInstance(owner.id, { server_id, name });
  const page = await open("/instances", { as: owner });
  const sent: { count: number; key: string | undefined }[] = [];
  let missingCount = 1;
  await page.route(/\/bulk$/, async (route) => {
    const { select } = z.looseObject({ select: z.object({ ids: z.array(z.string()) }) }).parse(route.request().postDataJSON());
    const count = select.ids.length;
    sent.push({ count, key: route.request().headers()["idempotency-key"] });
    const errors = Array.from({ length: missingCount }, (_, n) => ({ field: `select.ids.${n}`, reason: "no such instance" }));
    const lost = { code: "SERVICE_UNAVAILABLE", message: "Try again soon" };
    const invalid = { code: "VALIDATION_ERROR", message: "Not valid", details: { ...errors[0], errors } };
    const [status, error] = count === 3 ? [422, invalid] : [503, lost];
    await route.fulfill({ status, json: { success: false, error } });
  });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Restart", exact: true }).click();
  const confirmation = dialog(page, "Restart 3 instances");
  for (const tries of [2, 4, 6]) {
    await button(confirmation, "Restart 3 instances").click();
    await expect.poll(() => sent.length).toBe(tries);
    await confirmation.getByText("Try again soon").waitFor();
    if (tries === 4) missingCount = 2;
  }
  expect(sent.map(({ count }) => count)).toEqual([3, 2, 3, 2, 3, 1]);
  expect(sent[3]?.key).toBe(sent[1]?.key); // a response that was lost begins nothing twice
  expect(sent[5]?.key).not.toBe(sent[1]?.key);
});

test("a bulk action in progress can be closed for the session, and covers no bar of a phone's list", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id: heldId } = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await owner.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open("/instances", { as: owner, phone: true });
  const progress = page.getByText("Stopping instances: 0 of 1", { exact: true });
  await progress.waitFor();
  await page.getByRole("checkbox", { name: "Select Held fast" }).click();
  const bar = page.locator(".phone-selection");
  await bar.getByText("1 selected").waitFor();
  await page.setViewportSize({ width: 390, height: 380 }); // so that the bar stands at the edge
  const [panel, edge] = ["toasts", "phone-selection"].map((name) => `document.querySelector(".${name}").getBoundingClientRect()`);
  await expect.poll(() => page.evaluate(`innerHeight - ${edge}.bottom`)).toBe(0);
  await expect.poll(() => page.evaluate(`${panel}.bottom <= ${edge}.top`)).toBe(true);
  await page.getByRole("region", { name: "Notifications" }).getByRole("button", { name: "Dismiss" }).click();
  await progress.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("checkbox", { name: "Select Held fast" }).waitFor();
  await page.goto(`/operations/${id}`);
  await progress.waitFor();
  const watched = page.waitForResponse(/\/operations\?per_page=50$/);
  await page.goto("/instances");
  await (await watched).finished();
  await page.getByRole("checkbox", { name: "Select Held fast" }).waitFor();
  expect(await progress.count()).toBe(0);
});

test("a dialog shows every warning, however many there are, and that nothing of the selection is left", async ({
  open,
  faults,
}) => {
  faults.expected.push(/status of 422/);
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Garage" });
  const page = await open("/instances", { as: owner });
  const stop = async () => {
    await page.getByRole("checkbox", { name: "Select Garage" }).click();
    await button(page, "Actions on selected").click();
    await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  };
  const warnings = Array.from({ length: 12 }, (_, n) => `Warning ${n + 1}: ${"as long as a sentence, ".repeat(20)}`);
  await page.route("**/bulk?dry_run=true", async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = z.looseObject({ data: z.looseObject({}) }).parse(await response.json());
    const effects = Array.from({ length: 13 }, (_, n) => ({
      action: "stop",
      resource: { type: "instance", id },
      detail: `Effect ${n + 1}`,
    }));
    const preview = { effects, warnings, warning_reasons: [] };
    await route.fulfill({ response, json: { ...rest, data: { ...data, ...preview } } });
  });
  await stop();
  const confirmation = dialog(page, "Stop 1 instance");
  const box = confirmation.getByRole("region", { name: "Warnings" });
  await box.getByText(/^Warning 12: /).waitFor();
  await confirmation.getByText("Effect 8", { exact: true }).waitFor();
  await confirmation.getByText("And 5 other effects").click();
  await confirmation.getByText("Effect 13", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.locator('[role="region"][tabindex="0"]').focus();
  await page.keyboard.press("End");
  await expect.poll(() => page.evaluate("document.activeElement.scrollTop")).toBeGreaterThan(0);
  await page.unrouteAll();
  await page.keyboard.press("Escape");
  await confirmation.waitFor({ state: "detached" });

  await page.reload();
  const planned = page.waitForResponse("**/bulk?dry_run=true");
  await stop();
  await (await planned).finished();
  await confirmation.getByText(/Users can't sign in until you start them again/).waitFor();
  expect(await confirmation.getByText("What happens").count()).toBe(0); // said once
  await page.reload();
  await page.getByRole("checkbox", { name: "Select Garage" }).waitFor();
  await page.route(/\/instances\?/, () => undefined); // the list does not know yet
  await owner.until((await owner.api.delete(`/instances/${id}`)).as(z.looseObject({ id: z.string() })).id);
  await stop();
  await confirmation.getByText("Nothing is left of what you selected.").waitFor();
});

test("a running bulk action is shown after a reload, behind however many newer operations", async ({ open, faults }) => {
  const owner = await account({ seeded: true });
  const { id: heldId } = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  await (await owner.session()).post("/bulk", { action: "stop", select: { ids: [heldId] } });
  const page = await open("/config.json", { as: owner, clock: true });
  let begunMeanwhile = {};
  const newId = unusedId("operation");
  await page.route(/\/operations\?per_page=50$/, async (route) => {
    const response = await route.fetch();
    const { data, meta, ...rest } = Listed.parse(await response.json());
    const newer = {
      ...data[0],
      id: newId,
      status: "succeeded",
      finished_at: new Date().toISOString(),
      result: null,
      ...begunMeanwhile,
    };
    await route.fulfill({ response, json: { ...rest, data: [newer], meta: { ...meta, next_cursor: "more" } } });
  });
  await page.goto("/settings/account");
  await page.getByText("Stopping instances: 0 of 1", { exact: true }).waitFor();
  // What others begin is seen while the overview fails, too.
  faults.expected.push(/^Failed to load resource: net::ERR_FAILED/);
  await page.route("**/overview", (route) => route.abort());
  begunMeanwhile = { status: "running", finished_at: null, result: { bulk: { ...BULK, action: "start" } } };
  await page.clock.fastForward(FOLLOWED_MS);
  await page.getByText("Starting instances: 0 of 1", { exact: true }).waitFor();
});

test("the operations say what a bulk action did and how many failed, and link to nothing that it has deleted", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const shop = await owner.instance({ name: "Shop" });
  const stopped = await seedInstance(owner.id, { name: "Resting", state: "stopped" });
  const lockedBackup = await owner.backup(shop.id);
  await owner.api.put(`/backups/${lockedBackup.id}`, { locked: true });
  const begin = async (body: object): Promise<void> => {
    const { id } = (await (await owner.session()).post("/bulk", body)).as(z.looseObject({ id: z.string() }));
    await owner.until(id);
  };
  await begin({ action: "stop", select: { ids: [stopped.id] } });
  await begin({ action: "delete", select: { ids: [shop.id] }, parameters: { with_backups: true } });
  const page = await open("/operations", { as: owner });
  const row = page.getByRole("row").filter({ hasText: "Stop instances" });
  await row.getByText("0 of 1 done, 1 failed.").waitFor();
  await row.getByText("1 instance", { exact: true }).waitFor();
  await expectAccessible(page);
  const single = page.getByRole("row").filter({ hasText: "Delete instance" }).filter({ hasText: "Shop" });
  await single.getByText("Shop", { exact: true }).first().waitFor();
  expect(await single.getByRole("link", { name: "Shop", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Delete instances" }).click();
  expect(await page.getByRole("link", { name: "Shop", exact: true }).getAttribute("href")).toBe(`/backups?instance=${shop.id}`);
  await button(page, "Try 1 again").click();
  const confirmation = dialog(page, "Delete: none of 1 instance");
  await confirmation
    .getByText("Shop: Already deleted. To delete the backups that are left, follow the link in the results.")
    .waitFor();
  expect(await button(confirmation, "Delete").isDisabled()).toBe(true);
});

test("backups have checkboxes, a range of which is selected with the shift key", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Archive" });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await seedBackup(instance)).id);
  const page = await open("/backups", { as: owner });
  const boxes = page.getByRole("checkbox", { name: /^Select Archive, / });
  await expect.poll(() => boxes.count()).toBe(4);
  await boxes.nth(0).click();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Lock", exact: true }).click();
  await button(dialog(page, "Lock 3 backups"), "Lock 3 backups").click();
  await page.getByText("Bulk action finished: 3 of 3 done", { exact: true }).waitFor();
  const { api } = await owner.token();
  const locked = await Promise.all(
    ids.map(async (id) => (await api.get(`/backups/${id}`)).as(z.looseObject({ locked: z.boolean() })).locked),
  );
  expect(locked.filter((each) => each)).toHaveLength(3);
});

test("the backups of one instance are selected and saved as a file on its page, too", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Archive" });
  for (let i = 0; i < 2; i++) await seedBackup(instance);
  await seedBackup(await seedInstance(owner.id, { server_id: instance.server_id, name: "Other" }));
  const page = await open(`/instances/${instance.id}?tab=backups`, { as: owner, locale: "de" });
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Sicherungen als CSV herunterladen").click()]);
  const [, first, second, ...rest] = (await text(await file.createReadStream())).split("\r\n");
  expect([first, second]).toEqual([expect.stringContaining(";Abgeschlossen;"), expect.stringContaining(";Abgeschlossen;")]);
  expect(rest).toEqual([""]);
  await page.getByRole("checkbox", { name: "Alle auf dieser Seite auswählen: Sicherungen" }).click();
  await button(page, "Aktionen für Auswahl").click();
  await page.getByRole("menuitem", { name: "Sperren", exact: true }).click();
  await page.getByRole("dialog").getByText("Betroffen (2)").waitFor();
  await expectAccessible(page);
});

test("no more records are selected than one action takes, and the page says so", async ({ open }) => {
  const page = await open("/config.json", { as: big, fresh: true });
  let fetched = 0;
  await page.route(/\/instances\?/, async (route) => {
    const url = new URL(route.request().url());
    const isPage = url.searchParams.get("per_page") === "100";
    url.searchParams.delete("cursor");
    const response = await route.fetch({ url: url.href });
    const { data, meta, ...rest } = Listed.parse(await response.json());
    const [record] = data;
    const many = Array.from({ length: 100 }, (_, n) => ({ ...record, id: `ins_${fetched}_${n}` }));
    if (isPage) fetched++;
    const json = { ...rest, data: isPage ? many : data, meta: { ...meta, total: 1_200, next_cursor: `c${fetched}` } };
    await route.fulfill({ response, json });
  });
  await page.goto("/instances");
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Select the first 1,000").click();
  await page.getByText("1,000 selected, the most at once").waitFor();
  expect(fetched).toBe(10);
});

test("what is left of a bulk deletion is deleted only after its number was typed again, and by nobody who may not", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const heldInstance = await seedInstance(owner.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await owner.session()).post("/bulk", { action: "delete", select: { ids: [heldInstance.id] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${id}`, { as: owner });
  const viewer = await open(`/operations/${id}`, { as: { user: await owner.anotherUser({ role: "viewer" }) } });
  await viewer.getByText(/Another operation is in progress/).waitFor();
  expect(await button(viewer, "Cancel the rest").count()).toBe(0);
  await page.locator("#main").getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await button(page, "Try 1 again").click();
  const confirmation = dialog(page, "Delete 1 instance");
  expect(await button(confirmation, "Delete 1 instance").isDisabled()).toBe(true);
  await confirmation.getByLabel(/To confirm, type the number/).fill("1");
  await button(confirmation, "Delete 1 instance").click();
  await expect.poll(() => page.url()).not.toContain(id);
  await page.locator("#main").getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await viewer.reload();
  await viewer.getByText("0 of 1 done, 1 canceled.").waitFor();
  expect(await button(viewer, "Try 1 again").count()).toBe(0);
});

/** However many instances the customer has; the number is typed in a field that the Tab key reaches. */
const CLICKS_MAX = 6;

test("a customer's instances are deleted with their backups in a few clicks, after their number was typed", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instances: Instance[] = [];
  for (let n = 1; n <= 4; n++) instances.push(await owner.instance({ name: `Bakery ${n}` }));
  await owner.instance({ name: "Garage" });
  const backups = [await owner.backup(instances[0]?.id ?? ""), await owner.backup(instances[1]?.id ?? "")];
  const page = await open("/instances", { as: owner });
  await page.evaluate(`addEventListener("click", ({ isTrusted }) => isTrusted && (window.clicks = (window.clicks ?? 0) + 1))`);
  await page.getByLabel("Find instances").click();
  await page.keyboard.type("bakery");
  await page.getByRole("heading", { name: "Instances (4)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  const confirmation = dialog(page, "Delete 4 instances");
  await confirmation.getByText("4 × Removes the ERP with its database and files from the server").waitFor();
  await page.keyboard.type("4"); // the field has the focus
  await confirmation.getByRole("checkbox", { name: "Delete their backups, too" }).click();
  await confirmation.getByText("2 × Deletes a backup").waitFor();
  await confirmation.getByText(/^(Bakery \d, ){3}Bakery \d will have no completed backup left/).waitFor();
  const bulkResponse = page.waitForResponse(/\/bulk$/);
  await button(confirmation, "Delete 4 instances").click();
  const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await (await bulkResponse).json());
  expect(await page.evaluate("window.clicks")).toBeLessThanOrEqual(CLICKS_MAX);
  await owner.until(data.id);
  await page.getByText("Bulk action finished: 4 of 4 done", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Show results" }).click();
  await page.getByText("4 of 4 done.").waitFor();
  await page.getByText("Deletes their backups, too", { exact: true }).waitFor();
  expect((await instancesOf(owner)).map(({ name }) => name)).toEqual(["Garage"]);
  for (const { id } of backups) expect((await owner.api.get(`/backups/${id}`)).status).toBe(404);
});
