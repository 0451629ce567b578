// The code of an instance in the dashboard: set, checked, deployed, looked at while it runs and after it failed, and rolled back.
import { expect } from "vitest";
import * as z from "zod";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { because, inEnglish } from "../../shared/domain/reasons.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { seedCode, seedDeploy, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose, dialog, fact, notification, openTab, sentTo, title } from "./instance-page.ts";

let last = 0;
const repositoryName = () => `page-${Date.now().toString(36)}-${++last}`;

const put = (owner: TestAccount, name: string, version: string) =>
  owner.api.put(`/sandbox/repositories/${name}`, { ref: "main", modules: { acme: version } });
const codeOf = async (owner: TestAccount, id: string) => (await owner.api.get(`/instances/${id}/code`)).as(Code);
const deploysOf = async (owner: TestAccount, id: string) => (await owner.api.get(`/instances/${id}/deploys`)).as(Deploy.array());
const dataOf = async (owner: TestAccount, id: string) =>
  JSON.parse((await owner.api.get(`/sandbox/instances/${id}/data`)).text).data as unknown;

/** One that has ended, and no service knows. */
const operationOf = (instanceId: string, fields: Partial<Operation>): Operation => ({
  id: unusedId("operation"),
  type: "instance.deploy",
  status: "succeeded",
  progress: 100,
  step: null,
  step_code: null,
  resource: { type: "instance", id: instanceId, name: "Shop" },
  instance_id: instanceId,
  result: null,
  error: null,
  request_id: "made-up",
  created_by: { type: "operator", id: "operator", name: "Operator" },
  created_at: new Date().toISOString(),
  started_at: new Date().toISOString(),
  finished_at: new Date().toISOString(),
  ...fields,
});

test("code is set, checked, deployed, and taken back with its data", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const name = repositoryName();
  await put(owner, name, "1.0");
  const page = await open(`/instances/${id}`, { as: owner });
  await openTab(page, "Code");
  await page.getByText("This instance has only the modules of its image.").waitFor();

  await button(page, "Edit code").click();
  const form = dialog(page, "Edit the code of Shop");
  await form.getByRole("button", { name: "Add repository" }).click();
  await form.getByLabel("URL").fill("https://10.0.0.1/acme");
  await form.getByLabel("Modules to install").fill("acme");
  await form.getByRole("button", { name: "Add variable" }).click();
  await form.getByLabel("Name", { exact: true }).fill("CARRIER_KEY");
  await form.getByLabel("Value").fill("very-secret");
  await form.getByRole("checkbox", { name: "Secret" }).check();
  const save = form.getByRole("button", { name: "Save code" });
  await save.click();
  await form.getByText(/ust not lead to a private address/).waitFor();
  await expect.poll(() => form.getByLabel("URL").getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => form.getByLabel("URL").and(page.locator(":focus")).count()).toBe(1);
  await form.getByLabel("URL").fill(`https://git.example/${name}`);
  const saved = notification(page, "Code saved: Shop");
  await save.click();
  await saved;
  await page.getByText("CARRIER_KEY (secret)").waitFor();
  expect(await page.content()).not.toContain("very-secret");
  expect(await codeOf(owner, id)).toMatchObject({
    repositories: [{ url: `https://git.example/${name}`, ref: "main" }],
    install_modules: ["acme"],
    environment: [{ name: "CARRIER_KEY" }],
  });
  await expectAccessible(page);

  await button(page, "Check for new commits").click();
  await page.getByText("No problems found.").waitFor();
  await page.getByText("Not deployed yet").waitFor();

  await button(page, "Deploy…").click();
  const planned = dialog(page, "Deploy the code of Shop");
  await planned.getByText("Installs these modules, unless they are installed: acme").waitFor();
  await planned.getByText(/^Updates these modules, as far as they are installed, .*: acme$/).waitFor();
  await planned.getByRole("radio", { name: "Modules that you name" }).check();
  const deploy = planned.getByRole("button", { name: "Deploy", exact: true });
  await deploy.click();
  await planned.getByText("Must contain at least one.").waitFor();
  await planned.getByLabel("Names of the modules").fill("sale, acme!");
  await deploy.click();
  await planned.getByText("acme! must be the name of a module.").waitFor();
  await planned.getByLabel("Names of the modules").fill("sale, acme");
  await planned.getByText("Updates these modules: sale, acme").waitFor();
  await planned.getByLabel("Names of the modules").fill("acme"); // the other one is not installed
  await planned.getByLabel(/^Note/).fill("First");
  await expectAccessible(page);
  const deployed = sentTo(page, "POST", /\/deploys$/);
  await deploy.click();
  const choices = { rehearse: true, backup_first: true, update_image: false };
  await expect.poll(() => deployed).toEqual([{ ...choices, modules: ["acme"], note: "First" }]);
  await title(page, /^Deploy of/);
  await page.getByText("Completed", { exact: true }).waitFor();
  await page.getByText(/^Passed, /).waitFor();
  await page.getByText("Modules acme").waitFor();
  await expectAccessible(page);
  expect(await dataOf(owner, id)).toEqual({ modules: { acme: "1.0" } });

  await owner.api.put(`/sandbox/instances/${id}/data`, { orders: 1 });
  await put(owner, name, "2.0");
  await owner.until((await owner.api.post(`/instances/${id}/deploys`, {})).as(Deploy).operation_id);
  await owner.api.put(`/sandbox/instances/${id}/data`, { orders: 2 });
  await button(page, "Roll back to this…").click();
  const back = dialog(page, /^Roll back .* to the deploy of/);
  await back.getByText(/has these modules in a higher version than that code: acme/).waitFor();
  await back.getByRole("checkbox", { name: "Bring the data back, too" }).check();
  await back.getByText(/^Loses .* of changes/).waitFor();
  await back.getByRole("button", { name: "More options" }).click();
  expect(await back.getByRole("checkbox", { name: /^Rehearse first/ }).count()).toBe(0);
  await back.getByRole("checkbox", { name: /^Back up first/ }).uncheck();
  await back.getByText(/^Without a backup first/).waitFor();
  await back.getByLabel(/^Note/).fill("Back");
  await expectAccessible(page);
  const sent = sentTo(page, "POST", /\/deploys$/);
  await back.getByRole("button", { name: "Roll back" }).click();
  const first = (await deploysOf(owner, id)).find(({ note }) => note === "First");
  await expect
    .poll(() => sent)
    .toEqual([{ ...choices, rollback_to: first?.id, restore_database: true, backup_first: false, note: "Back" }]);
  await page.getByText("A rollback:").waitFor();
  await page.getByText("Completed", { exact: true }).waitFor();
  expect(await dataOf(owner, id)).toEqual({ orders: 1, modules: { acme: "1.0" } });
  await page.goto(`/deploys/${first?.id}`);
  await page.getByRole("link", { name: "Show backup" }).waitFor();
  await page.getByText(/^Finished/).waitFor();
  expect(await page.getByText(/backup from/).count()).toBe(0); // said once
  await page.goto(`/operations/${first?.operation_id}`);
  await page.getByText(/^Pre-deploy backup from/).waitFor();
});

test("a new variable that is secret needs a secret, and its field says so until something is typed there", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const page = await open(`/instances/${id}?tab=code`, { as: owner });
  await button(page, "Edit code").click();
  const form = dialog(page, "Edit the code of Shop");
  await form.getByRole("button", { name: "Add variable" }).click();
  await form.getByLabel("Name", { exact: true }).fill("CARRIER_KEY");
  await form.getByRole("checkbox", { name: "Secret" }).check();
  await form.getByRole("button", { name: "Save code" }).click();
  await form.getByText("This is required.").waitFor();
  const secret = form.getByLabel("Value");
  await expect.poll(() => secret.getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => secret.and(page.locator(":focus")).count()).toBe(1);
  await secret.fill("very-secret");
  await expect.poll(() => secret.getAttribute("aria-invalid")).toBeNull();
});

test("a deploy says nothing of its downtime and image that is not known", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Shop" });
  const operationId = unusedId("operation");
  const id = await seedDeploy(instance, operationId);
  const move = (status: string) => updateOne(keys.deploy(owner.id, id), { set: { status } }, {});
  const page = await open("/config.json", { as: owner });
  let reason = because("undo_failed", { why: because("undo_timed_out") });
  await page.route(`**/operations/${operationId}`, async (route) => {
    const error = { code: "HOST_JOB_FAILED" as const, message: inEnglish(reason), reason };
    const data = operationOf(instance.id, { id: operationId, status: "failed", error });
    await route.fulfill({ json: { success: true, data } });
  });
  await page.goto(`/deploys/${id}`);
  await fact(page, "Downtime", "None");
  await fact(page, "Image", "Unchanged");
  await move("failed");
  await page.reload();
  await fact(page, "Downtime", "Not known");
  await fact(page, "Image", "Not known");
  reason = because("rehearsal_slow", { minutes: 60 }); // whatever became of the instance since then
  await updateOne(keys.record("instance", owner.id, instance.id), { set: { state: "failed" } }, {});
  await page.reload();
  await fact(page, "Downtime", "None");
  await fact(page, "Image", "Unchanged");
  await move("running");
  await page.reload();
  await fact(page, "Instance", "Shop");
  expect(await page.locator("dt", { hasText: /^(Downtime|Image|Rehearsal|Backup before|Python packages)$/ }).count()).toBe(0);
});

test("a repository that could not be looked up says why, and an image is the newest only once that is known", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  await seedCode({ account_id: owner.id, id });
  const url = "https://git.example/acme";
  const reason = because("code_no_access", { url });
  const entry = { url, ref: "main", path: null, checked_at: new Date().toISOString(), reason };
  await updateOne(keys.code(owner.id, id), { set: { unread: [entry] } }, {});
  const page = await open("/config.json", { as: owner });
  let update_available: boolean | null = null;
  await page.route(`**/instances/${id}/code`, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = z.looseObject({ data: z.looseObject({}) }).parse(await response.json());
    const created_at = "2026-11-01T00:00:00.000Z";
    const image = {
      follow: "pinned",
      version: "19.0",
      id: "sha256:1",
      created_at,
      newest_created_at: created_at,
      update_available,
    };
    await route.fulfill({ response, json: { ...rest, data: { ...data, image } } });
  });
  await page.goto(`/instances/${id}?tab=code`);
  await page.getByText(inEnglish(reason)).waitFor();
  expect(await page.getByText("Not checked yet").count()).toBe(0);
  await page.locator("dd", { hasText: /^Created/ }).waitFor();
  expect(await page.getByText("the newest of its version").count()).toBe(0);
  update_available = false;
  await page.reload();
  await page.getByText("the newest of its version").waitFor();
});

test("a deploy says why it was not rehearsed, in the user's language, and gives no advice that comes too late", async ({
  open,
  faults,
}) => {
  faults.expected.push(/status of 404/); // its operation does not exist
  const owner = await account({ seeded: true });
  const id = await seedDeploy(await seedInstance(owner.id, { name: "Shop" }));
  const error = inEnglish(because("rehearsal_memory", { needed: 900, free: 512 }));
  const rehearsal = { status: "skipped", duration_seconds: null, error };
  await updateOne(keys.deploy(owner.id, id), { set: { rehearsal } }, {});
  const page = await open(`/deploys/${id}`, { as: owner });
  await page.getByText("A rehearsal needs 900 MB of memory, but the server has 512 MB free", { exact: true }).waitFor();
  const german = await open(`/deploys/${id}`, { as: owner, locale: "de" });
  await german.getByText("Eine Probe braucht 900 MB Arbeitsspeicher, aber der Server hat 512 MB frei", { exact: true }).waitFor();
});

test("new keys of hosts are trusted after a check that found one, if the user says so", async ({ open, faults }) => {
  faults.expected.push(/status of 404/); // of the operations that are made up
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const url = "ssh://git@git.example/acme";
  const reason = because("code_new_host_key", { url });
  const problem = { code: "CODE_UNREACHABLE" as const, url, module: null, message: inEnglish(reason), reason };
  await seedCode({ account_id: owner.id, id });
  const page = await open(`/instances/${id}?tab=code`, { as: owner });
  await page.route("**/code/check", async (route) => {
    const trusts = route.request().postData()?.includes("trust_new_host_keys") === true;
    const result = { code: { commits: [], problems: trusts ? [] : [problem] } };
    const data = operationOf(id, { type: "instance.check_code", result });
    await route.fulfill({ status: 202, json: { success: true, data } });
  });
  const sent = sentTo(page, "POST", /\/code\/check$/);
  await button(page, "Check for new commits").click();
  await page.getByText(/check the code and choose “Trust new host keys”/).waitFor();
  await expectAccessible(page);
  await button(page, "Trust new host keys").click();
  await page.getByText("No problems found.").waitFor();
  expect(sent).toEqual([{}, { trust_new_host_keys: true }]);
});

test("a deploy that fails shows its step, its reason and the end of the log, and the check what is wrong", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  const set = (ref: string) =>
    owner.api.put(`/instances/${id}/code`, {
      repositories: [{ url: "https://git.example/acme", ref }],
      install_modules: ["acme"],
    });
  await set("fail-rehearsal");
  const request = { note: "Prices", modules: ["acme"], backup_first: false };
  const { id: deployId, operation_id } = (await owner.api.post(`/instances/${id}/deploys`, request)).as(Deploy);
  await owner.until(operation_id, "failed");
  const page = await open(`/deploys/${deployId}`, { as: owner });
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Instances" }).waitFor();
  await expect
    .poll(() =>
      page
        .locator('[aria-current="page"]')
        .filter({ hasText: /^Instances$/ })
        .count(),
    )
    .toBe(1);
  await page.getByText("Rehearsing the deploy on a copy of the data").first().waitFor();
  await page
    .getByText(/^The update failed on a copy of the data.* Modules: acme \(https:\/\/git\.example\/acme\)/)
    .first()
    .waitFor();
  await page.getByRole("region", { name: "End of the failed step's log" }).getByText("Traceback").waitFor();
  await expectAccessible(page);
  expect(await button(page, "Roll back to this…").count()).toBe(0);
  await page.goto("/operations?status=failed");
  await choose(page, "Deploy, Shop", "Retry");
  const again = dialog(page, "Deploy the code of Shop");
  await expect.poll(() => again.getByLabel(/^Note/).inputValue()).toBe("Prices");
  expect(await again.getByLabel("Names of the modules").inputValue()).toBe("acme");
  const chosen = (name: RegExp) => again.getByRole("checkbox", { name }).isChecked();
  expect(await Promise.all([/^Rehearse first/, /^Back up first/].map(chosen))).toEqual([true, false]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // A rollback is no deploy of the newest commits: the list of deploys has what it went back to.
  const rolledBack = page.waitForRequest(new RegExp(`/deploys/${deployId}$`));
  await page.route(`**/deploys/${deployId}`, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = z.looseObject({ data: z.looseObject({}) }).parse(await response.json());
    await route.fulfill({ response, json: { ...rest, data: { ...data, trigger: "rollback" } } });
  });
  await page.reload();
  await choose(page, "Deploy, Shop", "Retry");
  await rolledBack;
  await title(page, "Shop");
  await expect.poll(() => new URL(page.url()).search).toBe("?tab=code");
  expect(await page.getByRole("dialog").count()).toBe(0);

  await set("broken-manifest");
  await button(page, "Check for new commits").click();
  await page.getByText("1 problem found").waitFor();
  await page.getByText(/The manifest of the module acme/).waitFor();
});

test("a deploy key is shown to copy with the key of its host, and a hook's URL once", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await owner.instance({ name: "Shop" });
  await owner.api.put(`/instances/${id}/code`, {
    repositories: [{ url: "ssh://git@git.example/acme", ref: "main", credential: "deploy_key" }],
  });
  const page = await open(`/instances/${id}?tab=code`, { as: owner });
  await page.getByText(/^ssh-ed25519 /).waitFor();
  await page.getByRole("button", { name: "Copy deploy key" }).waitFor();
  await button(page, "Check for new commits").click();
  await page.getByText("Key of the host").waitFor();

  await button(page, "Create hook").click();
  await dialog(page, "Create the deploy hook").getByRole("button", { name: "Create hook" }).click();
  const hookDialog = dialog(page, "Deploy hook");
  const url = (await hookDialog.getByRole("status", { name: "The deploy hook's URL" }).textContent()) ?? "";
  expect(new URL(url).pathname).toMatch(/^\/api\/v1\/hooks\/deploys\/[\w-]{28}$/);
  await hookDialog.getByRole("checkbox").check();
  await hookDialog.getByRole("button", { name: "Done" }).click();
  await page.getByText(`Ends with ${url.slice(-4)}`).waitFor();
  expect(await page.content()).not.toContain(url);
  await button(page, "Remove hook").click();
  await dialog(page, "Remove the deploy hook").getByRole("button", { name: "Remove hook" }).click();
  await page.getByText("There is no hook.").waitFor();
  expect((await codeOf(owner, id)).hook).toBeNull();
});
