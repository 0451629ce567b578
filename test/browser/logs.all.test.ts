// The tab of an instance with its ERP's log.
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { account, uniqueDomain } from "../harness/account.ts";
import { warmLogs } from "../harness/logs.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";

test("an instance's log is shown with levels, searched, and saved as a file", async ({ open }) => {
  const owner = await account({ seeded: true });
  await warmLogs(owner);
  const { id } = await owner.instance({ name: "Shop", domain: `fail-boot.${uniqueDomain()}` });
  const page = await open(`/instances/${id}?tab=logs`, { as: owner });
  const log = page.getByRole("region", { name: "Log" });
  await log.getByText("HTTP service (werkzeug) running").waitFor();
  await log.getByText(/Failed to load registry\nTraceback \(most recent call last\):\n.*KeyError: 'ir.model.data'/s).waitFor();
  await expectAccessible(page);

  // Messages are filtered at once, and the service looks through those that the page has not loaded.
  const searched = page.waitForRequest((request) => request.url().includes("search=ir.model.data"));
  await page.getByLabel("Search in the log").fill("ir.model.data");
  await expect.poll(() => log.locator("time").count()).toBe(1);
  await (await searched).response();
  await page.getByLabel("Search in the log").fill("nothing like it");
  await page.getByText("No message matches.").waitFor();
  await page.getByLabel("Search in the log").fill("");

  await page.getByRole("button", { name: "Lowest level" }).click();
  await page.getByRole("option", { name: "Errors only", exact: true }).click();
  await expect.poll(() => log.locator("time").count()).toBe(1);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toMatch(/^Shop-\d{4}-.*\.log$/);
  expect(await text(await saved.createReadStream())).toMatch(
    /^\S+Z ERROR odoo.modules.registry: Failed to load registry\nTraceback/,
  );
});

test("a log is followed, of the proxy too, and whatever its lines say is text", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account({ seeded: true });
  await warmLogs(owner);
  const { id } = await owner.instance({ name: "Shop" });
  const page = await open(`/instances/${id}?tab=logs`, { as: owner });
  const log = page.getByRole("region", { name: "Log" });
  await log.getByText("HTTP service (werkzeug) running").waitFor();
  await page.getByRole("button", { name: "Whose log" }).click();
  await page.getByRole("option", { name: "Requests" }).click();
  await page.getByText("The log is empty.").or(log.locator("time").first()).first().waitFor();

  const message = '<b id="injected">GET</b> /x \\x1b[31m</script><script>document.title = "injected"</script>';
  let requestCount = 0;
  await page.route(/\/logs\?.*after=/, async (route) => {
    const at = new Date().toISOString();
    const error = { code: "SERVICE_UNAVAILABLE", message: "The server is busy" };
    if (requestCount++ === 0)
      return route.fulfill({ status: 503, headers: { "retry-after": "1" }, json: { success: false, error } });
    const lines = requestCount === 2 ? [{ at, level: "error", logger: null, message }] : [];
    return route.fulfill({ json: { success: true, data: { lines, truncated: requestCount === 2, next: `${at}.1` } } });
  });
  await page.getByRole("button", { name: "Follow" }).click();
  // A look that fails is no end.
  await log.getByText(message).waitFor();
  await page.getByText("More was logged than could be read").waitFor();
  expect(await page.locator("#injected").count()).toBe(0);
  expect(await page.title()).not.toContain("injected");
});
