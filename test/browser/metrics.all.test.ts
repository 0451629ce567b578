// The charts of servers and instances.
import { dayWhenFull } from "../../dashboard/src/metrics/forecast.ts";
import { splitAtGaps } from "../../dashboard/src/metrics/gaps.ts";
import { groupMarks, MARK_LINES_MAX } from "../../dashboard/src/metrics/mark-lines.ts";
import { Operation } from "../../shared/api/operations.ts";
import { MINUTE_SECONDS } from "../../shared/domain/durations.ts";
import { type MetricValues, INSTANCE_SERIES, type Sample, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { storeSamples } from "../../shared/records/metrics.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { expect } from "vitest";
import { account } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";

const DAY = 86_400;
const all = (series: readonly { name: string }[], value: number): MetricValues => series.map(() => value);

test("charts show the figures of a server and of an instance, by keyboard too, for a time that the user chooses", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  const instance = await seedInstance(owner.id, { server_id: server.id });
  const now = Math.floor(Date.now() / 1000);
  const samples = Array.from({ length: 60 }, (_, index): Sample => ({
    at: now - (60 - index) * MINUTE_SECONDS,
    server: all(SERVER_SERIES, 10 + index),
    instances: new Map([[instance.id, all(INSTANCE_SERIES, 20 + index)]]),
  }));
  await storeSamples({ account_id: owner.id, id: server.id }, samples);

  const page = await open(`/servers/${server.id}?tab=metrics`, { as: owner });
  for (const title of ["Processors", "Memory", "Disk space", "Disk reads and writes", "Network", "Load"])
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  await page.getByText("All processors").first().waitFor();
  await expectAccessible(page);
  const hourlyRequest = page.waitForRequest(
    (request) => request.url().includes("/metrics?") && request.url().includes("step=3600"),
  );
  await page.getByRole("button", { name: /Time to show/ }).click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await hourlyRequest;
  await page.getByText("All processors, highest minute").first().waitFor();

  const other = await open(`/instances/${instance.id}?tab=metrics`, { as: owner });
  await other.getByRole("heading", { name: "Response times", exact: true }).waitFor();
  await other.getByText("95 of 100 requests").first().waitFor();
  const chart = other.getByRole("application").first();
  await chart.focus();
  await other.keyboard.press("ArrowRight");
  await expect.poll(() => other.getByText(/^2\d ms$/).count()).toBeGreaterThan(0);
});

test("a chart names each line once, whether or not it has gaps, and a new server's disk has no forecast yet", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  await recordReport(server, { disk_size_bytes: 40e9, disk_free_bytes: 12e9, memory_free_bytes: 1e9, certificates: undefined });
  const now = Math.floor(Date.now() / 1000);
  const samples = [100, 99, 98, 10, 9, 8].map((minutes): Sample => ({
    at: now - minutes * MINUTE_SECONDS,
    server: all(SERVER_SERIES, minutes),
    instances: new Map(),
  }));
  await storeSamples({ account_id: owner.id, id: server.id }, samples);
  const page = await open(`/servers/${server.id}?tab=metrics`, { as: owner });
  await page.locator(".chart-legend").getByText("All processors").waitFor();
  expect(await page.locator(".chart-legend").getByText("All processors").count()).toBe(1);
  await expectAccessible(page);
  await page.getByRole("heading", { name: "Disk space in 90 days" }).scrollIntoViewIfNeeded();
  await page.getByText("When it will be full can be told once there are figures of 7 days.").waitFor();
});

test("what was done meanwhile is marked on the charts of an instance and of its server, and leads to the operation", async ({
  open,
}) => {
  const owner = await account();
  const server = await owner.server();
  const instance = await owner.instance({ name: "Shop", server_id: server.id });
  const elsewhere = await owner.instance({ name: "Other" });
  const restart = async (of: string) => {
    const { id } = (await owner.api.post(`/instances/${of}/actions`, { action: "restart" })).as(Operation);
    await owner.until(id);
    return id;
  };
  await restart(elsewhere.id);
  const id = await restart(instance.id);
  const reboot = (await owner.api.post(`/servers/${server.id}/actions`, { action: "reboot" })).as(Operation);
  await owner.until(reboot.id);
  const sample = {
    at: Math.floor(Date.now() / 1000),
    server: all(SERVER_SERIES, 10),
    instances: new Map([[instance.id, all(INSTANCE_SERIES, 20)]]),
  };
  await storeSamples({ account_id: owner.id, id: server.id }, [sample]);
  for (const [path, title] of [
    [`/instances/${instance.id}`, /Restart, \S/],
    [`/servers/${server.id}`, /Restart, Shop, \S/],
  ] as const) {
    const page = await open("/config.json", { as: owner });
    // What was done on other servers takes no room on this one's chart.
    const operationsRequest = page.waitForRequest(/\/operations\?.*type=instance\.restart|\/operations\?resource_id=ins/);
    await page.goto(`${path}?tab=metrics`);
    expect(new URL((await operationsRequest).url()).searchParams.get("server_id")).toBe(
      path.startsWith("/servers") ? server.id : null,
    );
    await page.getByRole("heading", { name: "What was done in this time" }).waitFor();
    expect(await page.getByRole("link", { name: title }).getAttribute("href")).toBe(`/operations/${id}`);
    // Beside the link, each chart has it in its legend.
    await expect.poll(() => page.getByText(title).count()).toBeGreaterThan(5);
    expect(await page.getByText(/Restart, Other/).count()).toBe(0);
    if (path.startsWith("/servers"))
      expect(await page.getByRole("link", { name: /^Reboot server, / }).getAttribute("href")).toBe(`/operations/${reboot.id}`);
  }
});

test("90 days of a server's disk say on which day it will be full", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  const GB = 1_000_000_000;
  const disk = { disk_size_bytes: 40 * GB, disk_free_bytes: 12 * GB };
  await recordReport(server, { ...disk, memory_free_bytes: GB, certificates: undefined });
  for (let day = 0; day < 7; day++) {
    const at = Math.floor(Date.now() / 1000) - (6 - day) * DAY;
    const used = SERVER_SERIES.map(({ name }) => (name === "disk_used_bytes" ? (22 + day) * GB : null));
    await storeSamples({ account_id: owner.id, id: server.id }, [{ at, server: used, instances: new Map() }]);
  }
  const page = await open(`/servers/${server.id}?tab=metrics`, { as: owner });
  const chart = page.getByRole("heading", { name: "Disk space in 90 days" });
  await chart.scrollIntoViewIfNeeded();
  await page.getByText(/^If it goes on like this, the disk is full on .+\.$/).waitFor();
  await page.getByText("Size of the disk").first().waitFor();
  await expectAccessible(page);
});

test("a disk is full on the day that its last week leads to, if it fills at all", () => {
  const from = "2026-11-01T00:00:00.000Z";
  const GB = 1_000_000_000;
  const full = (used: readonly (number | null)[], size = 40 * GB) =>
    dayOf(
      dayWhenFull(
        used.map((each) => each && each * GB),
        { from, size },
      ),
    );
  const dayOf = (day: Date | null | undefined) => day && day.toISOString().slice(0, 10);
  expect(full([22, 23, 24, 25, 26, 27, 28])).toBe("2026-11-19");
  expect(full([null, 22, 23, null, 25, 26, 27, 28, 29])).toBe("2026-11-20");
  expect(full([22, 23, 24, 25, 26, 27])).toBeUndefined(); // six days say nothing
  expect(full([28, 27, 26, 25, 24, 23, 22])).toBeNull();
  expect(full(Array(30).fill(22))).toBeNull();
  expect(full([22, 22.01, 22.02, 22.03, 22.04, 22.05, 22.06])).toBeNull(); // in 1,794 days
  expect(full([38, 39, 40, 41, 41, 41, 41])).toBe("2026-11-07");
});

test("however much was done, a chart has a line for all of it, where it was, and not more than 60 lines", () => {
  const time = { from: new Date("2026-11-01T00:00:00.000Z"), to: new Date("2026-11-01T10:00:00.000Z") }; // ten minutes a line
  const mark = (hours: number) => {
    const at = new Date(time.from.getTime() + hours * 3_600_000).toISOString();
    return { id: at, title: at, at };
  };
  const lines = (hours: readonly number[]) =>
    groupMarks(hours.map(mark), time).map((group) => group.map(({ at }) => at.slice(11, 16)));
  expect(lines([])).toEqual([]);
  expect(lines([9, 3, 1])).toEqual([["01:00"], ["03:00"], ["09:00"]]);
  expect(lines([2, 2.05, 2.1, 2.2])).toEqual([["02:00", "02:03", "02:06"], ["02:12"]]);
  expect(lines([-0.1, 10.2])).toEqual([["23:54"], ["10:12"]]); // begun as the figures were asked for
  const many = lines(Array.from({ length: 300 }, (_, index) => index / 30));
  expect(many).toHaveLength(MARK_LINES_MAX);
  expect(many.flat()).toHaveLength(300);
});

test("a line ends where nothing was measured, and not where it is measured seldom", () => {
  const parts = (minutes: readonly number[], step: number) =>
    splitAtGaps(
      minutes.map((minute) => ({ x: new Date(minute * 60_000), y: minute })),
      step,
    ).map((part) => part.map(({ y }) => y));
  expect(parts([0, 1, 2, 40, 41], 60)).toEqual([
    [0, 1, 2],
    [40, 41],
  ]);
  expect(parts([0, 10, 21, 31], 60)).toEqual([[0, 10, 21, 31]]);
  expect(parts([0, 10, 30], 600)).toEqual([[0, 10], [30]]);
  expect(parts([], 60)).toEqual([[]]);
});

test("the home page shows the servers that are loaded most in charts, by keyboard too, on request", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id);
  const disk = { disk_size_bytes: 40e9, disk_free_bytes: 10e9 };
  await recordReport(server, { ...disk, memory_free_bytes: 1e9, certificates: undefined });
  const page = await open("/", { as: owner });
  await page.getByRole("button", { name: "Most loaded" }).click();
  await page.getByText("75% in use").first().waitFor();
  await page.getByText("Nothing was reported lately.").waitFor(); // of instances
  const countInUse = () => page.getByText("75% in use").count();
  const listed = await countInUse();
  await page.getByRole("application").first().focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(countInUse).toBeGreaterThan(listed);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: server.name }).first().click();
  await page.getByRole("heading", { name: "Processors", exact: true }).waitFor();
});

test("a server that has sent nothing says so", async ({ open }) => {
  const owner = await account({ seeded: true });
  const { id } = await seedServer(owner.id);
  const page = await open(`/servers/${id}?tab=metrics`, { as: owner });
  await page
    .getByText(/^Nothing was measured in this time/)
    .first()
    .waitFor();
});
