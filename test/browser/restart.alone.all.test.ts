// The service is stopped and started again while pages are open: they say so in one banner, and recover by themselves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { account } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { dashboard } from "../harness/dashboard.ts";
import { freePort } from "../harness/free-port.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { moveTo, test } from "./browser.ts";
import { title } from "./instance-page.ts";

const dataDir = mkdtempSync(join(tmpdir(), "restart-"));
const port = await freePort();
/** The same service each time: its data, its secrets and its address. */
const start = (): Promise<TestCloud> => ownCloud({ dataDir, port, fallback: dashboard() });
const first = await start();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test("pages that were open, and pages that could not load, recover once the service runs again", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/, /dynamically imported module/, /NotLoaded: A file could not be loaded/);
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  const { id } = await seedInstance(owner.id, { name: "Shop", server_id: server.id });
  const look = { as: owner, fresh: true } as const;
  // One shows what it had, one moves on to what it has no data of, and one to a page that it has no code of either.
  const [home, list, settings] = [await open("/", look), await open("/instances", look), await open("/settings/account", look)];
  await title(home, "Home");
  await list.getByRole("link", { name: "Shop" }).first().click();
  await title(list, "Shop");
  await moveTo(list, "/instances");
  await title(list, "Instances");
  await title(settings, "Account");

  await first.stop();
  const down = "Can't reach the service";
  await home.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
  await moveTo(list, `/servers/${server.id}`);
  await moveTo(list, `/instances/${id}?operations-page=2`);
  await moveTo(settings, "/backups");
  for (const page of [home, list]) {
    await page.getByText(down).waitFor();
    expect(await page.getByText(down).count()).toBe(1);
  }
  await settings.getByRole("alert").first().waitFor();

  await start();
  for (const page of [home, list]) await page.getByText(down).waitFor({ state: "detached" });
  await title(home, "Home");
  await title(list, "Shop");
  await title(settings, "Backups");
});
