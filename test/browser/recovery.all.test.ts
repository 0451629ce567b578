// While the service cannot be reached, one banner says so, and every page recovers by itself.
import { expect } from "vitest";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { account } from "../harness/account.ts";
import { moveTo, test } from "./browser.ts";
import { furnish, PAGES, pathOf } from "./pages.ts";

const API = `**${BASE_PATH}/**`;

test("without a connection every page has the same one banner, and goes on by itself afterwards", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  const things = await furnish(owner);
  const page = await open("/", { as: owner, fresh: true });
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  const banner = page.getByText("Can't reach the service");
  for (const destination of PAGES.filter(({ route }) => !["/", "*"].includes(route))) {
    await page.route(API, (route) => route.abort());
    await page.reload();
    await moveTo(page, pathOf(destination, things));
    await banner.waitFor();
    expect(await banner.count(), destination.route).toBe(1);
    await page.unroute(API);
    await banner.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: destination.heading }).first().waitFor();
  }
});

test("a page that got an error of the service is loaded once the service is back", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  const { server } = await furnish(owner);
  const page = await open("/config.json", { as: owner, fresh: true });
  await page.route(API, (route) =>
    route.fulfill({ status: 503, json: { success: false, error: { code: "SERVICE_UNAVAILABLE", message: "Try again soon" } } }),
  );
  await page.goto(`/servers/${server}`);
  await page.getByText("Something went wrong on our side").first().waitFor();
  await page.unroute(API);
  await page.getByRole("heading", { level: 1, name: "shop-1" }).first().waitFor();
});
