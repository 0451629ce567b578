// One action on many records: which it applies to, what the user enters for it, and what the service does with the rest.
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { type Instance, ListedInstance } from "../../shared/api/instances.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { accountWithIdle, MANY } from "./idle-instances.ts";
import { button, callsOf, dialog, getInstance, instancesOf, sentTo } from "./instance-page.ts";

let big: TestAccount;
let real: Instance;
let other: Instance;

beforeAll(async () => {
  big = await accountWithIdle();
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
