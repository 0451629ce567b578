// Operations in progress: the page reports their end to the user who started them, and nobody can delete what they read.
import { expect } from "vitest";
import { Server } from "../../shared/api/servers.ts";
import { account, uniqueDomain, unusedId } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { dashboard } from "../harness/dashboard.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { test } from "./browser.ts";

const cloud = await ownCloud({ fallback: dashboard() });

test("the end of an operation is shown, even by a page that was loaded later", async ({ open }) => {
  const owner = await account();
  const release = holdWork(cloud);
  const { name } = (await (await owner.session()).post("/servers", await owner.serverBody())).as(Server);
  const page = await open("/servers", { as: owner });
  await page.getByText("Provisioning").first().waitFor();
  release();
  await page.getByText(`Server created: ${name}`).first().waitFor();
  await page.getByRole("row", { name }).getByText("Active").waitFor();
  await expect.poll(() => page.getByText("Provisioning").count()).toBe(0);
});

test("the end of an operation is shown even if it ended before the page first fetched its progress", async ({ open }) => {
  const owner = await account();
  const release = holdWork(cloud);
  const page = await open("/settings/ssh-keys", { as: owner });
  await page.getByRole("heading", { name: "SSH keys" }).first().waitFor();
  const { name, operation_id } = (await (await owner.session()).post("/servers", await owner.serverBody())).as(Server);
  await page.route(/\/operations[/?]/, async (route) => {
    release();
    await owner.until(operation_id);
    await route.continue();
  });
  await page.getByRole("link", { name: "Servers" }).first().click();
  await page.getByText(`Server created: ${name}`).first().waitFor();
});

test("a backup cannot be deleted while it is being cloned", async ({ open }) => {
  const owner = await account();
  const instance = await seedInstance(owner.id, { name: "Shop" });
  const backup = await seedBackup(instance);
  const page = await open("/backups", { as: owner });
  await page.getByRole("row").filter({ hasText: "Shop" }).waitFor();
  holdWork(cloud);
  const clone = { backup_id: backup.id, name: "Staging", domain: uniqueDomain() };
  expect((await owner.api.post(`/instances/${instance.id}/clone`, clone)).status).toBe(201);
  await page.reload();
  await page.getByRole("button", { name: /^Actions on the backup of Shop/ }).click();
  const deletion = page.getByRole("menuitem", { name: /^Delete/ });
  await expect.poll(() => deletion.getAttribute("aria-disabled")).toBe("true");
  await page.getByText("In use by a restore. Wait for it to finish.").first().waitFor();
});

test("if the progress is unavailable the page says so instead of showing a stuck bar", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  const { id } = await seedInstance(owner.id, { name: "Shop", state: "stopping", operation_id: unusedId("operation") });
  const page = await open("/", { as: owner });
  await page.route("**/api/v1/operations**", (route) => route.abort());
  await page.goto(`/instances/${id}`);
  await page.getByText("Can't get the progress right now. Trying again…").first().waitFor();
});
