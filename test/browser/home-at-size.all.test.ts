// The home page of an account with more of everything than one page of the API has.
import { expect } from "vitest";
import { ListedInstance } from "../../shared/api/instances.ts";
import { ListedServer } from "../../shared/api/servers.ts";
import { PER_PAGE_MAX } from "../../shared/domain/limits.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { countLowDisk } from "../../shared/operations/monitoring/disk-use.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { account, unusedId } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";

/** More than one page. */
const MANY = PER_PAGE_MAX + 1;

test("a server that is offline or whose disk is full needs the user, however many newer ones there are", async ({ open }) => {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "server", MANY + 2);
  await seedServer(owner.id, { name: "erp-offline", state: "unreachable", created_at: "2026-01-01T00:00:00.000Z" });
  const full = await seedServer(owner.id, { name: "erp-full", created_at: "2026-01-02T00:00:00.000Z" });
  for (let n = 0; n < MANY; n++) await seedServer(owner.id);
  const page = await open("/", { as: owner });
  const needs = page.getByRole("list", { name: "Needs you" });
  await needs.getByText("Server offline: erp-offline").waitFor();
  const usual = { disk_size_bytes: 100_000_000_000, memory_free_bytes: 1_000_000_000, certificates: [], uses: [] };
  const recorded = await recordReport(full, { ...usual, disk_free_bytes: 4_000_000_000 });
  if (recorded !== undefined) await countLowDisk(full, recorded);
  await page.reload();
  await needs.getByRole("link", { name: "Show metrics: erp-full" }).waitFor();
  await needs.getByText("Server offline: erp-offline").waitFor();
});

test("a disk that still counts as low, but has enough space again, is looked for on three pages", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  for (const disk_free_bytes of [14_000_000_000, 16_000_000_000]) {
    const report = { disk_size_bytes: 100_000_000_000, disk_free_bytes, memory_free_bytes: 1_000_000_000, certificates: [] };
    const recorded = await recordReport(server, { ...report, uses: [] });
    if (recorded !== undefined) await countLowDisk(server, recorded);
  }
  const listed = (await owner.api.get("/servers")).as(ListedServer.array());
  const page = await open("/config.json", { as: owner });
  let pages = 0;
  await page.route(/\/servers\?/, async (route) => {
    pages++;
    const data = Array.from({ length: PER_PAGE_MAX }, () => ({ ...listed[0], id: unusedId("server") }));
    await route.fulfill({
      json: { success: true, data, meta: { page: 1, per_page: PER_PAGE_MAX, total: 1_000, next_cursor: "more" } },
    });
  });
  await page.goto("/");
  await page.getByText("Nothing needs you.").waitFor();
  expect(pages).toBe(3);
});

test("the backups of the last nights say so if more backups are overdue than they show", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id: server_id } = await seedServer(owner.id);
  await seedBackup(await seedInstance(owner.id, { server_id, name: "Shop", protection_status: "overdue" }));
  const listed = (await owner.api.get("/instances")).as(ListedInstance.array());
  const [page, german] = [await open("/config.json", { as: owner }), await open("/config.json", { as: owner, locale: "de" })];
  for (const each of [page, german])
    await each.route(/\/instances\?.*protection=overdue/, async (route) => {
      const data = Array.from({ length: PER_PAGE_MAX }, () => ({ ...listed[0], id: unusedId("instance") }));
      await route.fulfill({
        json: { success: true, data, meta: { page: 1, per_page: PER_PAGE_MAX, total: 2_000, next_cursor: "more" } },
      });
    });
  await page.goto("/");
  await page.getByText("Every instance that was backed up, those with trouble first. Overdue").waitFor();
  await page.getByText("Overdue backups are shown for only 1,000 instances.").waitFor();
  const shop = page.getByRole("table", { name: "Backups of the last 7 days" }).getByRole("row", { name: /^Shop/ });
  expect(await shop.first().getByTitle("not known", { exact: true }).count()).toBe(0);
  await german.goto("/");
  await german.getByText("Überfällige Sicherungen werden nur für 1.000 Instanzen angezeigt.").waitFor();
});

test("the backups of the last nights name every instance whose backup is overdue", async ({ open }) => {
  const owner = await account({ seeded: true });
  await setQuota(owner.id, "instance", MANY);
  const { id: server_id } = await seedServer(owner.id);
  for (let n = 1; n < MANY; n++) await seedInstance(owner.id, { server_id, protection_status: "overdue" });
  await seedBackup(await seedInstance(owner.id, { server_id, protection_status: "overdue" }));
  const page = await open("/", { as: owner });
  await page.getByRole("button", { name: `Show all ${MANY} instances` }).waitFor();
});
