// Work that is under way: told at its end to whoever began it, and what it reads is kept from deletion.
import { expect } from "vitest";
import { Server } from "../../shared/api/servers.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { dashboard } from "../harness/dashboard.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { test } from "./browser.ts";

// A server takes some ten seconds, so that it is seen being made.
await ownCloud({ fallback: dashboard(), environment: { SANDBOX_TIME_SCALE: "8" } });

test("what one began is told at its end, also by a page that was loaded later", { timeout: 60_000 }, async ({ open }) => {
  const mine = await account();
  const { name } = (await (await mine.session()).post("/servers", await mine.serverBody())).as(Server);
  const page = await open("/servers", { as: mine });
  await page.getByText("Provisioning").first().waitFor();
  await page.getByText(`Server created: ${name}`).first().waitFor({ timeout: 30_000 });
  await page.getByRole("row", { name }).getByText("Active").waitFor();
  expect(await page.getByText("Provisioning").count()).toBe(0);
});

test("a backup is not offered for deletion while a clone is made of it", async ({ open }) => {
  const mine = await account();
  const instance = await seedInstance(mine.id, { name: "Shop" });
  const backup = await seedBackup(instance);
  const page = await open("/backups", { as: mine });
  await page.getByRole("row").filter({ hasText: "Shop" }).waitFor();
  const clone = { backup_id: backup.id, name: "Staging", domain: uniqueDomain() };
  expect((await mine.api.post(`/instances/${instance.id}/clone`, clone)).status).toBe(201);
  await page.reload();
  await page.getByRole("button", { name: /^Actions on the backup of Shop/ }).click();
  const deletion = page.getByRole("menuitem", { name: /^Delete/ });
  await expect.poll(() => deletion.getAttribute("aria-disabled")).toBe("true");
  await page.getByText("It is being restored or cloned from; wait until that ends.").first().waitFor();
});
