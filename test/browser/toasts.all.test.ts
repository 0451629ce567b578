// A notification never contradicts what the page shows: the row says the same within half a second, among 320 instances.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import type { TestAccount } from "../harness/account.ts";
import { bigAccount } from "./big-account.ts";
import { test } from "./browser.ts";
import { button, choose, dialog } from "./instance-page.ts";

const CONTRADICTS_MS_MAX = 500;

let owner: TestAccount;
/** The domain is in the row of the instance, whatever its name. */
let domain: string;
beforeAll(async () => {
  ({ owner } = await bigAccount());
  await setQuota(owner.id, "server", 20);
  await setQuota(owner.id, "instance", 400);
  const server = await owner.server({ name: "shop-1" });
  domain = (await owner.instance({ name: "Shop", server_id: server.id })).domain;
  await owner.server({ name: "spare-1" });
});

const Seen = z.object({ toast: z.number(), row: z.number() });

/**
 * Watches when a notification and the row of a record first say this, by the page's own clock; null means that there is no such
 * row any more.
 */
async function watch(page: Page, toast: string, row: { of: string; says: string | null }): Promise<() => Promise<number>> {
  await page.evaluate(`(() => {
    const seen = (window.seen = {});
    const [toast, { of, says }] = ${JSON.stringify([toast, row])};
    const look = () => {
      const shown = [...document.querySelectorAll("#main tr")].map(({ textContent }) => textContent).find((each) => each.includes(of));
      const isRight = says === null ? shown === undefined : shown?.includes(says);
      if (isRight) seen.row ??= performance.now();
      else delete seen.row;
      if (document.querySelector(".toasts").textContent.includes(toast)) seen.toast ??= performance.now();
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  })()`);
  expect(await page.evaluate("seen")).toEqual({});
  return async () => {
    await expect.poll(async () => Seen.safeParse(await page.evaluate("seen")).success).toBe(true);
    const times = Seen.parse(await page.evaluate("seen"));
    return times.row - times.toast;
  };
}

interface Case {
  name: string;
  path: string;
  toast: string;
  row: () => { of: string; says: string | null };
  act: (page: Page) => Promise<void>;
}

const CASES: readonly Case[] = [
  {
    name: "an instance that was stopped",
    path: "/instances",
    toast: "Instance stopped: Shop",
    row: () => ({ of: "Shop", says: "Stopped" }),
    act: async (page) => {
      await choose(page, "Shop", "Stop");
      await button(dialog(page, "Stop Shop"), "Stop").click();
    },
  },
  {
    name: "instances that a bulk action started",
    path: "/instances",
    toast: "Bulk action finished: 1 of 1 done",
    row: () => ({ of: "Shop", says: "Running" }),
    act: async (page) => {
      await page.getByRole("checkbox", { name: "Select Shop" }).click();
      await button(page, "Actions on selected").click();
      await page.getByRole("menuitem", { name: "Start", exact: true }).click();
      await button(dialog(page, "Start 1 instance"), "Start 1 instance").click();
    },
  },
  {
    name: "a backup that was completed",
    path: "/backups",
    toast: "Backup completed: Shop",
    row: () => ({ of: "Shop", says: "Completed" }),
    act: async (page) => {
      await button(page, "Back up now").click();
      const form = dialog(page, "Back up an instance");
      await button(form, /^Instance/).click();
      await page.getByRole("option", { name: /^Shop/ }).click();
      await button(form, "Back up now").click();
    },
  },
  {
    name: "an instance with another name",
    path: "/instances",
    toast: "Instance updated: Store",
    row: () => ({ of: domain, says: "Store" }),
    act: async (page) => {
      await choose(page, "Shop", "Edit details");
      const form = dialog(page, "Edit Shop");
      await form.getByLabel("Name", { exact: true }).fill("Store");
      await button(form, "Save").click();
    },
  },
  {
    name: "a server that is gone",
    path: "/servers",
    toast: "Server deleted: spare-1",
    row: () => ({ of: "spare-1", says: null }),
    act: async (page) => {
      await choose(page, "spare-1", "Delete");
      const confirmation = dialog(page, "Delete server spare-1");
      await confirmation.getByLabel("Type spare-1 to confirm").fill("spare-1");
      await button(confirmation, "Delete server").click();
    },
  },
];

test("what a notification says, its row says, too, or says it half a second later", async ({ open }) => {
  const page = await open("/instances", { as: owner, fresh: true });
  for (const { name, path, toast, row, act } of CASES) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    const late = await watch(page, toast, row());
    await act(page);
    expect(await late(), name).toBeLessThanOrEqual(CONTRADICTS_MS_MAX);
  }
});
