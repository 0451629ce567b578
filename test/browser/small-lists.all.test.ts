// The lists of keys, webhooks and people are filtered by what they show, in the page's address, and downloaded in its words.
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, newPublicKey } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, title } from "./instance-page.ts";

/** One more than a page of the API has. */
const KEYS = 101;
const TRIES = 3;

async function filter(page: Page, by: RegExp, option: string): Promise<void> {
  await button(page, by).click();
  await page.getByRole("option", { name: option }).click();
}

const searchOf = (page: Page): string => new URL(page.url()).search;

async function csvOf(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, `Download ${name} as CSV`).click()]);
  return text(await file.createReadStream());
}

test("API keys are found by their last characters, filtered by permission and expiry, and downloaded in words", async ({
  open,
}) => {
  const owner = await account();
  const session = await owner.session();
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const [name, permissions, expires_at] of [
    ["Nightly", ["instances:read", "backups:read", "backups:write"], inDays(10)],
    ["Watcher", ["servers:read"], inDays(200)],
    ["Deploys", ["servers:read", "instances:write"], inDays(300)],
  ] as const)
    expect((await session.post("/tokens", { name, permissions, expires_at })).status).toBe(201);
  const page = await open("/settings/api-keys", { as: owner });
  await page.getByRole("row").filter({ hasText: "Watcher" }).waitFor();
  await button(page, "More filters").click();
  await filter(page, /^Filter by expiry/, "Expires within 30 days");
  await title(page, "API keys (1)");
  expect(searchOf(page)).toBe("?expires=soon");
  const [header, row] = (await csvOf(page, "API keys")).split("\r\n");
  expect(header).toMatch(/,Permissions,Last used,Expires,Created$/);
  expect(row).toMatch(/^Nightly,[^,]+,Backups only,/);
  await expectAccessible(page);
  await page.goto("/settings/api-keys?permission=servers:read&sort=name&find=e");
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(expect.arrayContaining(["Deploys", "Watcher"]));
  const names = await page.getByRole("rowheader").allTextContents();
  expect(names).not.toContain("Nightly");
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)));
  expect((await csvOf(page, "API keys")).split("\r\n")[1]).toMatch(/,"View servers, /);
});

test("a list of more than one page of the API is downloaded whole, and asked for by one query", async ({ open, faults }) => {
  faults.expected.push(/^Failed to load resource/);
  const owner = await account();
  await setQuota(owner.id, "ssh_key", KEYS);
  for (let n = 0; n < KEYS; n++) await owner.sshKey();
  const page = await open("/settings/ssh-keys", { as: owner, clock: true });
  await title(page, `SSH keys (${KEYS})`);
  expect((await csvOf(page, "SSH keys")).trimEnd().split("\r\n")).toHaveLength(1 + KEYS);

  // Its tries are those of every query, and nothing else says afterwards that the service is out of reach.
  const banner = page.getByText("Can't reach the service");
  let requestCount = 0;
  await page.route("**/ssh-keys?*", (route) => {
    requestCount++;
    return route.abort();
  });
  await button(page, "Refresh SSH keys").click();
  await expect
    .poll(async () => {
      await page.clock.runFor(500);
      return banner.count();
    })
    .toBe(1);
  expect(requestCount).toBe(TRIES);
  await page.unroute("**/ssh-keys?*");
  await button(page, "Refresh SSH keys").click();
  await banner.waitFor({ state: "detached" });
});

test("SSH keys are filtered by type and name, webhooks by status, people by role", async ({ open }) => {
  const owner = await account();
  for (const name of ["Laptop", "Desk"]) await owner.api.post("/ssh-keys", { name, public_key: newPublicKey() });
  await owner.webhook();
  const viewer = await owner.anotherUser({ role: "viewer" });
  const page = await open("/settings/ssh-keys?find=lap", { as: owner });
  await title(page, "SSH keys (1)");
  await page.goto("/settings/ssh-keys?type=ssh-rsa");
  await page.getByText("No matches for this filter.").waitFor();
  await page.goto("/settings/webhooks?status=failing");
  await page.getByText("No matches for this filter.").waitFor();
  await page.getByRole("button", { name: "Clear filter" }).click();
  await title(page, "Webhooks (1)");
  await page.goto("/settings/people?role=viewer&older=never");
  await title(page, "People (1)");
  await page.getByRole("row").filter({ hasText: viewer.email }).waitFor();
  await filter(page, /^Filter by second factors/, "With a second factor");
  await page.getByText("No matches for this filter.").waitFor();
  expect(searchOf(page)).toBe("?role=viewer&older=never&factors=with");
});
