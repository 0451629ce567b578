// The home page of an account with more of everything than one page of the API has.
import { PER_PAGE_MAX } from "../../shared/domain/limits.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { countLowDisk } from "../../shared/operations/monitoring/disk-use.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { account } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";

/** More than one page. */
const MANY = PER_PAGE_MAX + 1;

test("a server that is offline or whose disk is full needs the user, however many newer ones there are", async ({ open }) => {
  const mine = await account({ seeded: true });
  await setQuota(mine.id, "server", MANY + 2);
  await seedServer(mine.id, { name: "erp-offline", state: "unreachable", created_at: "2026-01-01T00:00:00.000Z" });
  const full = await seedServer(mine.id, { name: "erp-full", created_at: "2026-01-02T00:00:00.000Z" });
  for (let made = 0; made < MANY; made++) await seedServer(mine.id);
  const page = await open("/", { as: mine });
  const needs = page.getByRole("list", { name: "Needs you" });
  await needs.getByText("Server offline: erp-offline").waitFor();
  const usual = { disk_size_bytes: 100_000_000_000, memory_free_bytes: 1_000_000_000, certificates: [], uses: [] };
  const recorded = await recordReport(full, { ...usual, disk_free_bytes: 4_000_000_000 });
  if (recorded !== undefined) await countLowDisk(full, recorded);
  await page.reload();
  await needs.getByRole("link", { name: "Show metrics: erp-full" }).waitFor();
  await needs.getByText("Server offline: erp-offline").waitFor();
});

test("the backups of the last nights name every instance whose backup is overdue", async ({ open }) => {
  const mine = await account({ seeded: true });
  await setQuota(mine.id, "instance", MANY);
  const { id: server_id } = await seedServer(mine.id);
  for (let made = 1; made < MANY; made++) await seedInstance(mine.id, { server_id, protection_status: "overdue" });
  await seedBackup(await seedInstance(mine.id, { server_id, protection_status: "overdue" }));
  const page = await open("/", { as: mine });
  await page.getByRole("button", { name: `Show all ${MANY} instances` }).waitFor();
});
