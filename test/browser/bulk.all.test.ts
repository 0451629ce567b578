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
  const asked = dialog(page, "Stop 2 instances");
  await asked.getByText(/The service carries this out/).waitFor();
  await asked.getByText(/^Left out \(30\)/).waitFor();
  await asked.getByText(/Idle 29.*: It is stopped already\./).waitFor();
  expect((await callsOf(asked)).curl).toContain("/bulk");
  await expectAccessible(page);
  const begun = page.waitForResponse(/\/bulk$/);
  await button(asked, "Stop 2 instances").click();
  const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await (await begun).json());
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
  const asked = dialog(page, "Deploy to 1 instance");
  await asked.getByRole("radio", { name: "Modules that you name" }).check();
  await asked.getByLabel("Names of the modules").fill("sale, acme!");
  const deploy = button(asked, "Deploy to 1 instance");
  await deploy.click();
  await asked.getByText("acme! must be the name of a module.").waitFor();
  await asked.getByLabel(/^Note/).fill("New prices");
  const planned = page.waitForRequest((request) => request.url().endsWith("/bulk?dry_run=true"));
  await asked.getByLabel("Names of the modules").fill("sale, acme");
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
  const { id: held } = await seedInstance(big.id, { name: "Held fast", operation_id: unusedId("operation") });
  const begun = (await (await big.session()).post("/bulk", { action: "stop", select: { ids: [held] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${begun.id}`, { as: big });
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
  await (await big.session()).post(`/operations/${begun.id}/actions`, { action: "resume" });
  await main.getByRole("button", { name: "Pause" }).waitFor();
  await main.getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await main.getByRole("button", { name: "Try 1 again" }).click();
  const asked = dialog(page, "Stop 1 instance");
  await asked.getByText("Waits for other operations on Held fast, for up to 60 minutes").waitFor();
  await button(asked, "Stop 1 instance").click();
  await expect.poll(() => page.url()).not.toContain(begun.id);
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
  const asked = dialog(page, "Change labels of 18 instances");
  await asked.getByLabel("Labels to add").fill("env: production");
  await page.mouse.click(5, 5);
  expect(await asked.getByLabel("Labels to add").inputValue()).toBe("env: production");
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
  const asked = dialog(page, `Delete ${MANY} instances`);
  await asked.waitFor();
  await expectAccessible(page);
  expect(await button(asked, `Delete ${MANY} instances`).isDisabled()).toBe(true);
  await asked.getByLabel(/To confirm, type the number/).fill(String(MANY));
  expect(await button(asked, `Delete ${MANY} instances`).isDisabled()).toBe(false);
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
  const asked = dialog(page, "Change labels of 1 instance");
  await asked.getByLabel("Labels to add").fill("Env: x");
  await button(asked, "Change 1 instance").click();
  await asked.getByText(/Env is not a valid label key/).waitFor();
  const many = Array.from({ length: 15 }, (_, n) => `key-${n}: ${"x".repeat(63)}`);
  await asked.getByLabel("Labels to add").fill(many.join("\n"));
  await asked.getByText(/Its labels would be too long: keys and values together can have 1,024 bytes/).waitFor();
  await asked.getByLabel("Labels to add").fill("env: production");
  await button(asked, "Change 1 instance").click();
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
  const asked = dialog(page, "Set backup policy of 1 instance");
  await asked.getByLabel("Time zone").fill("Europe/Berlin");
  await expectAccessible(page);
  await button(asked, "Set backup policy").click();
  await page.getByText("Bulk action finished: 1 of 1 done", { exact: true }).waitFor();
  expect((await big.api.get(`/instances/${other.id}/backup-policy`)).body).toMatchObject({
    data: { timezone: "Europe/Berlin", schedule: "0 2 * * *" },
  });
});

test("a policy for many instances says which policies it replaces, and how many backups its rules remove", async ({ open }) => {
  const mine = await account({ seeded: true });
  const { id: server_id } = await seedServer(mine.id);
  const last_backup_at = new Date(Date.now() - 3_600_000).toISOString();
  for (const name of ["Cafe", "Deli"]) {
    const instance = await seedInstance(mine.id, { server_id, name, last_backup_at, last_backup_begun_at: last_backup_at });
    for (const due_at of ["2026-11-18T03:00:00.000Z", "2026-11-19T03:00:00.000Z"])
      await seedBackup(instance, { kind: "scheduled", due_at, attempt: 1 });
    await mine.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 3 * * *", keep: { daily: 7 } });
  }
  const page = await open("/instances", { as: mine });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Set backup policy" }).click();
  const asked = dialog(page, "Set backup policy of 2 instances");
  await asked.getByText(/^2 × Backs up the instance by the schedule 0 2 \* \* \*/).waitFor();
  await asked.getByText(/^Replaces the present backup policy of (Cafe, Deli|Deli, Cafe)/).waitFor();
  for (const rule of ["Days", "Weeks", "Months"]) await asked.getByLabel(rule, { exact: true }).fill("");
  await asked.getByLabel("Newest", { exact: true }).fill("1");
  await asked.getByText("4 × No rule keeps a scheduled backup; it is removed after the next run").waitFor();
  await expectAccessible(page);
});

/** After which a page asks for the overview again. */
const FOLLOWED_MS = 60_000;
const BULK = { type: "instance", parameters: {}, total: 1, waiting: 0, running: 1, succeeded: 0, failed: 0, cancelled: 0 };

test("what somebody else has deleted meanwhile is left out, and what is busy is not", async ({ open, faults }) => {
  faults.expected.push(/status of (404|422)/); // the busy one's operation does not exist
  const mine = await account({ seeded: true });
  const gone = await mine.instance({ name: "Garage" });
  await mine.instance({ name: "Bakery" });
  await seedInstance(mine.id, { name: "Busy", operation_id: unusedId("operation") });
  const page = await open("/instances", { as: mine });
  await page.getByRole("heading", { name: "Instances (3)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await mine.until((await mine.api.delete(`/instances/${gone.id}`)).as(z.looseObject({ id: z.string() })).id);
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  const asked = dialog(page, "Stop 3 instances");
  await asked.getByText("One no longer exists and is left out.").waitFor();
  await asked.getByText("Waits for other operations on Busy, for up to 60 minutes").waitFor();
  const begun = page.waitForResponse((response) => response.url().endsWith("/bulk") && response.status() === 202);
  await button(asked, "Stop 3 instances").click();
  const { data } = z
    .object({ data: z.object({ result: z.looseObject({ bulk: z.looseObject({ total: z.number() }) }) }) })
    .parse(await (await begun).json());
  expect(data.result.bulk.total).toBe(2);
});

test("a retry without what has been deleted since is another request, with a key of its own", async ({ open, faults }) => {
  faults.expected.push(/status of (422|503)/);
  const mine = await account({ seeded: true });
  const { server_id } = await seedInstance(mine.id, { name: "Shop 0" });
  for (const name of ["Shop 1", "Shop 2"]) await seedInstance(mine.id, { server_id, name });
  const page = await open("/instances", { as: mine });
  const sent: { count: number; key: string | undefined }[] = [];
  let gone = 1;
  await page.route(/\/bulk$/, async (route) => {
    const { select } = z.looseObject({ select: z.object({ ids: z.array(z.string()) }) }).parse(route.request().postDataJSON());
    const count = select.ids.length;
    sent.push({ count, key: route.request().headers()["idempotency-key"] });
    const errors = Array.from({ length: gone }, (_, n) => ({ field: `select.ids.${n}`, reason: "no such instance" }));
    const lost = { code: "SERVICE_UNAVAILABLE", message: "Try again soon" };
    const invalid = { code: "VALIDATION_ERROR", message: "Not valid", details: { ...errors[0], errors } };
    const [status, error] = count === 3 ? [422, invalid] : [503, lost];
    await route.fulfill({ status, json: { success: false, error } });
  });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Restart", exact: true }).click();
  const asked = dialog(page, "Restart 3 instances");
  for (const tries of [2, 4, 6]) {
    await button(asked, "Restart 3 instances").click();
    await expect.poll(() => sent.length).toBe(tries);
    await asked.getByText("Try again soon").waitFor();
    if (tries === 4) gone = 2;
  }
  expect(sent.map(({ count }) => count)).toEqual([3, 2, 3, 2, 3, 1]);
  expect(sent[3]?.key).toBe(sent[1]?.key); // a response that was lost begins nothing twice
  expect(sent[5]?.key).not.toBe(sent[1]?.key);
});

test("a bulk action in progress can be closed for the session, and covers no bar of a phone's list", async ({ open }) => {
  const mine = await account({ seeded: true });
  const { id: held } = await seedInstance(mine.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await mine.session()).post("/bulk", { action: "stop", select: { ids: [held] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open("/instances", { as: mine, phone: true });
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
  const mine = await account({ seeded: true });
  const { id } = await mine.instance({ name: "Garage" });
  const page = await open("/instances", { as: mine });
  const stop = async () => {
    await page.getByRole("checkbox", { name: "Select Garage" }).click();
    await button(page, "Actions on selected").click();
    await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  };
  const warnings = Array.from({ length: 12 }, (_, n) => `Warning ${n + 1}: ${"as long as a sentence, ".repeat(20)}`);
  await page.route("**/bulk?dry_run=true", async (route) => {
    const response = await route.fetch();
    const { data, ...others } = z.looseObject({ data: z.looseObject({}) }).parse(await response.json());
    const effects = Array.from({ length: 13 }, (_, n) => ({
      action: "stop",
      resource: { type: "instance", id },
      detail: `Effect ${n + 1}`,
    }));
    const news = { effects, warnings, warning_reasons: [] };
    await route.fulfill({ response, json: { ...others, data: { ...data, ...news } } });
  });
  await stop();
  const asked = dialog(page, "Stop 1 instance");
  const box = asked.getByRole("region", { name: "Warnings" });
  await box.getByText(/^Warning 12: /).waitFor();
  await asked.getByText("Effect 8", { exact: true }).waitFor();
  await asked.getByText("And 5 other effects").click();
  await asked.getByText("Effect 13", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.locator('[role="region"][tabindex="0"]').focus();
  await page.keyboard.press("End");
  await expect.poll(() => page.evaluate("document.activeElement.scrollTop")).toBeGreaterThan(0);
  await page.unrouteAll();
  await page.keyboard.press("Escape");
  await asked.waitFor({ state: "detached" });

  await page.reload();
  const planned = page.waitForResponse("**/bulk?dry_run=true");
  await stop();
  await (await planned).finished();
  await asked.getByText(/Users can't sign in until you start them again/).waitFor();
  expect(await asked.getByText("What happens").count()).toBe(0); // said once
  await page.reload();
  await page.getByRole("checkbox", { name: "Select Garage" }).waitFor();
  await page.route(/\/instances\?/, () => undefined); // the list does not know yet
  await mine.until((await mine.api.delete(`/instances/${id}`)).as(z.looseObject({ id: z.string() })).id);
  await stop();
  await asked.getByText("Nothing is left of what you selected.").waitFor();
});

test("a running bulk action is shown after a reload, behind however many newer operations", async ({ open, faults }) => {
  const mine = await account({ seeded: true });
  const { id: held } = await seedInstance(mine.id, { name: "Held fast", operation_id: unusedId("operation") });
  await (await mine.session()).post("/bulk", { action: "stop", select: { ids: [held] } });
  const page = await open("/config.json", { as: mine, clock: true });
  let begunMeanwhile = {};
  const newId = unusedId("operation");
  await page.route(/\/operations\?per_page=50$/, async (route) => {
    const response = await route.fetch();
    const { data, meta, ...others } = Listed.parse(await response.json());
    const newer = {
      ...data[0],
      id: newId,
      status: "succeeded",
      finished_at: new Date().toISOString(),
      result: null,
      ...begunMeanwhile,
    };
    await route.fulfill({ response, json: { ...others, data: [newer], meta: { ...meta, next_cursor: "more" } } });
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
  const mine = await account({ seeded: true });
  const shop = await mine.instance({ name: "Shop" });
  const stopped = await seedInstance(mine.id, { name: "Resting", state: "stopped" });
  const kept = await mine.backup(shop.id);
  await mine.api.put(`/backups/${kept.id}`, { locked: true });
  const begin = async (body: object): Promise<void> => {
    const { id } = (await (await mine.session()).post("/bulk", body)).as(z.looseObject({ id: z.string() }));
    await mine.until(id);
  };
  await begin({ action: "stop", select: { ids: [stopped.id] } });
  await begin({ action: "delete", select: { ids: [shop.id] }, parameters: { with_backups: true } });
  const page = await open("/operations", { as: mine });
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
  const asked = dialog(page, "Delete: none of 1 instance");
  await asked.getByText("Shop: Already deleted. To delete the backups that are left, follow the link in the results.").waitFor();
  expect(await button(asked, "Delete").isDisabled()).toBe(true);
});

test("backups have checkboxes, a range of which is selected with the shift key", async ({ open }) => {
  const mine = await account({ seeded: true });
  const instance = await seedInstance(mine.id, { name: "Archive" });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await seedBackup(instance)).id);
  const page = await open("/backups", { as: mine });
  const boxes = page.getByRole("checkbox", { name: /^Select Archive, / });
  await expect.poll(() => boxes.count()).toBe(4);
  await boxes.nth(0).click();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Lock", exact: true }).click();
  await button(dialog(page, "Lock 3 backups"), "Lock 3 backups").click();
  await page.getByText("Bulk action finished: 3 of 3 done", { exact: true }).waitFor();
  const { api } = await mine.token();
  const locked = await Promise.all(
    ids.map(async (id) => (await api.get(`/backups/${id}`)).as(z.looseObject({ locked: z.boolean() })).locked),
  );
  expect(locked.filter((each) => each)).toHaveLength(3);
});

test("the backups of one instance are selected and saved as a file on its page, too", async ({ open }) => {
  const mine = await account({ seeded: true });
  const instance = await seedInstance(mine.id, { name: "Archive" });
  for (let i = 0; i < 2; i++) await seedBackup(instance);
  await seedBackup(await seedInstance(mine.id, { server_id: instance.server_id, name: "Other" }));
  const page = await open(`/instances/${instance.id}?tab=backups`, { as: mine, locale: "de" });
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Sicherungen als CSV herunterladen").click()]);
  const [, first, second, ...others] = (await text(await file.createReadStream())).split("\r\n");
  expect([first, second]).toEqual([expect.stringContaining(";Abgeschlossen;"), expect.stringContaining(";Abgeschlossen;")]);
  expect(others).toEqual([""]);
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
    const { data, meta, ...others } = Listed.parse(await response.json());
    const [record] = data;
    const many = Array.from({ length: 100 }, (_, n) => ({ ...record, id: `ins_${fetched}_${n}` }));
    if (isPage) fetched++;
    const json = { ...others, data: isPage ? many : data, meta: { ...meta, total: 1_200, next_cursor: `c${fetched}` } };
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
  const mine = await account({ seeded: true });
  const held = await seedInstance(mine.id, { name: "Held fast", operation_id: unusedId("operation") });
  const { id } = (await (await mine.session()).post("/bulk", { action: "delete", select: { ids: [held.id] } })).as(
    z.looseObject({ id: z.string() }),
  );
  const page = await open(`/operations/${id}`, { as: mine });
  const viewer = await open(`/operations/${id}`, { as: { user: await mine.anotherUser({ role: "viewer" }) } });
  await viewer.getByText(/Another operation is in progress/).waitFor();
  expect(await button(viewer, "Cancel the rest").count()).toBe(0);
  await page.locator("#main").getByRole("button", { name: "Cancel the rest" }).click();
  await page.getByText("0 of 1 done, 1 canceled.").waitFor();
  await button(page, "Try 1 again").click();
  const asked = dialog(page, "Delete 1 instance");
  expect(await button(asked, "Delete 1 instance").isDisabled()).toBe(true);
  await asked.getByLabel(/To confirm, type the number/).fill("1");
  await button(asked, "Delete 1 instance").click();
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
  const mine = await account({ seeded: true });
  const made: Instance[] = [];
  for (let n = 1; n <= 4; n++) made.push(await mine.instance({ name: `Bakery ${n}` }));
  await mine.instance({ name: "Garage" });
  const backups = [await mine.backup(made[0]?.id ?? ""), await mine.backup(made[1]?.id ?? "")];
  const page = await open("/instances", { as: mine });
  await page.evaluate(`addEventListener("click", ({ isTrusted }) => isTrusted && (window.clicks = (window.clicks ?? 0) + 1))`);
  await page.getByLabel("Find instances").click();
  await page.keyboard.type("bakery");
  await page.getByRole("heading", { name: "Instances (4)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  const asked = dialog(page, "Delete 4 instances");
  await asked.getByText("4 × Removes the ERP with its database and files from the server").waitFor();
  await page.keyboard.type("4"); // the field has the focus
  await asked.getByRole("checkbox", { name: "Delete their backups, too" }).click();
  await asked.getByText("2 × Deletes a backup").waitFor();
  await asked.getByText(/^(Bakery \d, ){3}Bakery \d will have no completed backup left/).waitFor();
  const begun = page.waitForResponse(/\/bulk$/);
  await button(asked, "Delete 4 instances").click();
  const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(await (await begun).json());
  expect(await page.evaluate("window.clicks")).toBeLessThanOrEqual(CLICKS_MAX);
  await mine.until(data.id);
  await page.getByText("Bulk action finished: 4 of 4 done", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Show results" }).click();
  await page.getByText("4 of 4 done.").waitFor();
  await page.getByText("Deletes their backups, too", { exact: true }).waitFor();
  expect((await instancesOf(mine)).map(({ name }) => name)).toEqual(["Garage"]);
  for (const { id } of backups) expect((await mine.api.get(`/backups/${id}`)).status).toBe(404);
});
