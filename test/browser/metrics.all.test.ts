// The charts of servers and instances.
import { type Figures, INSTANCE_SERIES, MINUTE, type Sample, SERVER_SERIES } from "../../shared/domain/figures.ts";
import { storeSamples } from "../../shared/records/figures.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { expect } from "vitest";
import { account } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";

const all = (series: readonly { name: string }[], value: number): Figures => series.map(() => value);

test("charts show the figures of a server and of an instance, by keyboard too, for a time that the user chooses", async ({
  open,
}) => {
  const mine = await account({ seeded: true });
  const server = await seedServer(mine.id);
  const instance = await seedInstance(mine.id, { server_id: server.id });
  const now = Math.floor(Date.now() / 1000);
  const samples = Array.from({ length: 60 }, (_, index): Sample => ({
    at: now - (60 - index) * MINUTE,
    server: all(SERVER_SERIES, 10 + index),
    instances: new Map([[instance.id, all(INSTANCE_SERIES, 20 + index)]]),
  }));
  await storeSamples({ account_id: mine.id, id: server.id }, samples);

  const page = await open(`/servers/${server.id}?tab=metrics`, { as: mine });
  for (const title of ["Processors", "Memory", "Disk space", "Disk reads and writes", "Network", "Load"])
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  await page.getByText("All processors").first().waitFor();
  await expectAccessible(page);
  const asked = page.waitForRequest((request) => request.url().includes("/metrics?") && request.url().includes("step=3600"));
  await page.getByRole("button", { name: /Time to show/ }).click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await asked;
  await page.getByText("All processors, highest minute").first().waitFor();

  const other = await open(`/instances/${instance.id}?tab=metrics`, { as: mine });
  await other.getByRole("heading", { name: "Response times", exact: true }).waitFor();
  await other.getByText("95 of 100 requests").first().waitFor();
  const chart = other.getByRole("application").first();
  await chart.focus();
  await other.keyboard.press("ArrowRight");
  await expect.poll(() => other.getByText(/^2\d ms$/).count()).toBeGreaterThan(0);
});

test("the home page names the servers that are loaded most, on request", async ({ open }) => {
  const mine = await account({ seeded: true });
  const server = await seedServer(mine.id);
  const disk = { disk_size_bytes: 40e9, disk_free_bytes: 10e9 };
  await recordReport(server, { ...disk, memory_free_bytes: 1e9, certificates: undefined });
  const page = await open("/", { as: mine });
  await page.getByRole("button", { name: "Most loaded" }).click();
  await page.getByText("75% in use").first().waitFor();
  await page.getByRole("link", { name: server.name }).first().click();
  await page.getByRole("heading", { name: "Processors", exact: true }).waitFor();
});

test("a server that has sent nothing says so", async ({ open }) => {
  const mine = await account({ seeded: true });
  const { id } = await seedServer(mine.id);
  const page = await open(`/servers/${id}?tab=metrics`, { as: mine });
  await page
    .getByText(/^Nothing was measured in this time/)
    .first()
    .waitFor();
});
