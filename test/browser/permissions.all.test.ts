// What the dashboard shows to those who may not do everything: nothing that would be rejected, and what is missing.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect } from "vitest";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";
import { moveTo, test } from "./browser.ts";
import { button, title } from "./instance-page.ts";
import { furnish, moveAndSee, PAGES, type Things } from "./pages.ts";

let owner: TestAccount;
let things: Things;
beforeAll(async () => {
  owner = await account();
  things = await furnish(owner);
});

const MISSING = /^Permission missing/;

const missing = async (page: Page, permission: string): Promise<void> => {
  await title(page, MISSING);
  await page.getByText(permission).waitFor();
  await page.getByText("An owner or admin of this account can give it to you.").waitFor();
};

/** Pages that change something, which a viewer cannot open. */
const WRITES: Readonly<Record<string, string>> = {
  "/servers/create": "(servers:write)",
  "/instances/create": "(instances:write)",
  "/instances/:id/clone": "(instances:write)",
  "/backups/upload": "(backups:write)",
  "/settings/webhooks/create": "(settings:write)",
  "/settings/api-keys/create": "This needs the role “Owner” or “Admin”.",
};

describe("a viewer", () => {
  let viewer: { user: TestUser };
  beforeAll(async () => {
    viewer = { user: await owner.anotherUser({ role: "viewer" }) };
  });

  test("sees every page that only shows something, without an error, and on the others what is missing", async ({ open }) => {
    const page = await open("/settings/account", { as: viewer });
    await title(page, /account/i);
    await page.getByText("Session ends").waitFor();
    await page.getByRole("button", { name: "Viewer" }).click();
    await page.getByText("Can see everything, and change nothing.", { exact: false }).waitFor();
    const rejected: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403 && response.url().includes(BASE_PATH)) rejected.push(response.url());
    });
    for (const destination of PAGES) {
      const need = WRITES[destination.route];
      await moveAndSee(page, need === undefined ? destination : { ...destination, heading: MISSING }, things);
      if (need !== undefined) await missing(page, need);
    }
    expect(rejected).toEqual([]);
  });

  test("finds no button, menu or form that changes anything", async ({ open }) => {
    const page = await open(`/instances/${things.instance}`, { as: viewer });
    await page.getByRole("link", { name: /^Open/ }).waitFor();
    await button(page, "Actions").click();
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Tell me about this"]);
    for (const name of ["Back up now", "Restore", "Start", "Stop", "Restart", /policy/])
      await expect.poll(() => button(page, name).count()).toBe(0);
    await moveTo(page, "/servers");
    await title(page, /^Servers/);
    await page.getByRole("link", { name: "shop-1" }).waitFor();
    expect(await page.getByRole("link", { name: "Create server" }).count()).toBe(0);
    expect(await button(page, /^Actions/).count()).toBe(0);
    // The page says what is missing.
    await button(page, "Some actions are not shown").click();
    await page.getByText("(servers:write)").waitFor();
    await expectAccessible(page);
    await moveTo(page, "/settings/alerts");
    await page.getByText("(settings:write)").waitFor();
    expect(await button(page, "Save").count()).toBe(0);
    await expectAccessible(page);
    await moveTo(page, "/settings/api-keys");
    await title(page, /^API keys/);
    expect(await button(page, /^(Revoke|Rotate)/).count()).toBe(0);
  });

  test("is offered nothing by the search that would be rejected, and a link to an action says what is missing", async ({
    open,
  }) => {
    const page = await open("/", { as: viewer });
    const search = page.getByRole("combobox", { name: "Search" });
    await page.getByRole("link", { name: "People" }).waitFor();
    await search.fill("restart Shop");
    await page.getByRole("option").first().waitFor();
    expect((await page.getByRole("option").allTextContents()).join()).not.toContain("Restart Shop");
    await search.fill("ser");
    await page.getByRole("option", { name: "Servers" }).waitFor();
    expect(await page.getByRole("option", { name: "Create server" }).count()).toBe(0);
    await moveTo(page, `/instances/${things.instance}?do=restart`);
    await page.getByText("(instances:actions)").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

test("somebody with one permission sees the pages that it opens, and learns from links to the others what they lack", async ({
  open,
}) => {
  const user = await owner.anotherUser({ role: "custom", permissions: ["servers:read"] });
  const page = await open("/servers", { as: { user } });
  await page.getByRole("link", { name: "shop-1" }).waitFor();
  const side = page.getByRole("navigation", { name: "Main navigation" }).getByRole("link");
  await expect.poll(() => side.allTextContents()).toEqual(["Home", "Servers", "API keys", "SSH keys", "Account"]);
  await moveTo(page, `/instances/${things.instance}`);
  await missing(page, "(instances:read)");
  await moveTo(page, "/settings/people");
  await missing(page, "(settings:read)");
  expect(await page.getByRole("link", { name: "Show people" }).count()).toBe(0);
});

test("somebody who may not delete backups is not offered to delete them with many instances", async ({ open }) => {
  const granted = ["servers:read", "instances:read", "instances:write"] as const;
  const page = await open("/instances", { as: { user: await owner.anotherUser({ role: "custom", permissions: [...granted] }) } });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Delete", exact: true }).click();
  await page.getByLabel(/To confirm, type the number/).waitFor();
  expect(await page.getByRole("checkbox", { name: "Delete their backups, too" }).count()).toBe(0);
});

test("a permission that is taken away is gone from the page at the next look, without a reload", async ({ open }) => {
  const user = await owner.anotherUser({ role: "operator" });
  const page = await open("/servers", { as: { user }, clock: true });
  await page.getByRole("link", { name: "Create server" }).waitFor();
  expect(await button(page, "Some actions are not shown").count()).toBe(0);
  await (await owner.session()).put(`/users/${user.id}`, { role: "viewer" });
  await page.clock.runFor(31_000);
  await page.getByRole("link", { name: "Create server" }).waitFor({ state: "detached" });
  await button(page, "Some actions are not shown").waitFor();
});
