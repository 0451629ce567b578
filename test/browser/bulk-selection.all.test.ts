// Selecting many records for one action: all of them or a range, while a list changes, and no more than one action takes.
import { text } from "node:stream/consumers";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { accountWithIdle, MANY } from "./idle-instances.ts";
import { button, dialog } from "./instance-page.ts";

const Listed = z.looseObject({ data: z.array(z.looseObject({})), meta: z.looseObject({}) });
let big: TestAccount;

beforeAll(async () => {
  big = await accountWithIdle();
});

test("what the user selects while everything is being selected counts, and a click beside a dialog keeps what was typed", async ({
  open,
}) => {
  const page = await open("/instances?find=idle", { as: big });
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/instances\?.*per_page=100/, async (route) => {
    await promise;
    await route.fallback();
  });
  await page.getByRole("heading", { name: `Instances (${MANY})` }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, `Select all ${MANY}`).click();
  await page.getByRole("checkbox", { name: "Select Idle 29" }).click();
  const arrived = page.waitForResponse(/\/instances\?.*per_page=100/);
  resolve();
  await (await arrived).finished();
  await page.getByRole("checkbox", { name: "Select Idle 28" }).click();
  await page.getByText("18 selected").waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Change labels" }).click();
  const form = dialog(page, "Change labels of 18 instances");
  await form.getByLabel("Labels to add").fill("env: production");
  await page.mouse.click(5, 5);
  expect(await form.getByLabel("Labels to add").inputValue()).toBe("env: production");
});

test("backups have checkboxes, a range of which is selected with the shift key", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Archive" });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await seedBackup(instance)).id);
  const page = await open("/backups", { as: owner });
  const boxes = page.getByRole("checkbox", { name: /^Select Archive, / });
  await expect.poll(() => boxes.count()).toBe(4);
  await boxes.nth(0).click();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await button(page, "Actions on selected").click();
  await page.getByRole("menuitem", { name: "Lock", exact: true }).click();
  await button(dialog(page, "Lock 3 backups"), "Lock 3 backups").click();
  await page.getByText("Bulk action finished: 3 of 3 done", { exact: true }).waitFor();
  const { api } = await owner.token();
  const locked = await Promise.all(
    ids.map(async (id) => (await api.get(`/backups/${id}`)).as(z.looseObject({ locked: z.boolean() })).locked),
  );
  expect(locked.filter((each) => each)).toHaveLength(3);
});

test("the backups of one instance are selected and saved as a file on its page, too", async ({ open }) => {
  const owner = await account({ seeded: true });
  const instance = await seedInstance(owner.id, { name: "Archive" });
  for (let i = 0; i < 2; i++) await seedBackup(instance);
  await seedBackup(await seedInstance(owner.id, { server_id: instance.server_id, name: "Other" }));
  const page = await open(`/instances/${instance.id}?tab=backups`, { as: owner, locale: "de" });
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Sicherungen als CSV herunterladen").click()]);
  const [, first, second, ...rest] = (await text(await file.createReadStream())).split("\r\n");
  expect([first, second]).toEqual([expect.stringContaining(";Abgeschlossen;"), expect.stringContaining(";Abgeschlossen;")]);
  expect(rest).toEqual([""]);
  await page.getByRole("checkbox", { name: "Alle auf dieser Seite auswählen: Sicherungen" }).click();
  await button(page, "Aktionen für Auswahl").click();
  await page.getByRole("menuitem", { name: "Sperren", exact: true }).click();
  await page.getByRole("dialog").getByText("Betroffen (2)").waitFor();
  await expectAccessible(page);
});

test("no more records are selected than one action takes, and the page says so", async ({ open }) => {
  const page = await open("/config.json", { as: big, fresh: true });
  let fetched = 0;
  await page.route(/\/instances\?/, async (route) => {
    const url = new URL(route.request().url());
    const isPage = url.searchParams.get("per_page") === "100";
    url.searchParams.delete("cursor");
    const response = await route.fetch({ url: url.href });
    const { data, meta, ...rest } = Listed.parse(await response.json());
    const [record] = data;
    const many = Array.from({ length: 100 }, (_, n) => ({ ...record, id: `ins_${fetched}_${n}` }));
    if (isPage) fetched++;
    const json = { ...rest, data: isPage ? many : data, meta: { ...meta, total: 1_200, next_cursor: `c${fetched}` } };
    await route.fulfill({ response, json });
  });
  await page.goto("/instances");
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Select the first 1,000").click();
  await page.getByText("1,000 selected, the most at once").waitFor();
  expect(fetched).toBe(10);
});
