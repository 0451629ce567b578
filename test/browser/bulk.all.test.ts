// One action on many records: which it applies to, what the API is sent, and what is said at the end.
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { Instance, ListedInstance } from "../../shared/api/instances.ts";
import { setQuota } from "../../shared/operations/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, callsOf, dialog, getInstance, instancesOf, sentTo } from "./instance-page.ts";

const MANY = 30;
/** Of the rate limit. */
const WAIT_SECONDS = 50;
let big: TestAccount;
let real: Instance;

beforeAll(async () => {
  big = await account({ seeded: true });
  await setQuota(big.id, "instance", MANY + 2);
  const server = await seedServer(big.id, { name: "erp-1" });
  for (let i = 0; i < MANY; i++)
    await seedInstance(big.id, { server_id: server.id, name: `Idle ${i}`, state: "stopped", labels: { env: "test" } });
  real = await big.instance({ name: "Shop one on" });
  await big.instance({ name: "Shop two on" });
});

test("a bulk action says what it leaves out, starts the rest in sequence through the rate limit, and ends with what failed and why", async ({
  open,
}) => {
  // An earlier try of this test may have left work.
  for (const { operation_id } of await instancesOf(big)) if (operation_id !== null) await big.until(operation_id);
  const page = await open("/instances", { as: big, clock: true });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, `Select all ${MANY + 2}`).click();
  await page.getByText(`${MANY + 2} selected`).waitFor();
  await button(page, "Actions").click();
  await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
  const asked = dialog(page, "Stop 2 instances?");
  await asked.getByText(/The instances are stopped one after another, each in an operation of its own\.$/).waitFor();
  await asked.getByText(/^Left out \(30\)/).waitFor();
  await asked.getByText(/Idle 29.*: Can't be stopped while stopped\. The instance must be running\./).waitFor();
  expect((await callsOf(asked)).curl).toContain("/actions");
  await expectAccessible(page);
  await button(asked, "Cancel").click();

  const sent = sentTo(page, "POST", /\/actions$/);
  const rejections = [
    { status: 429, code: "RATE_LIMIT_EXCEEDED", message: "Too many requests" },
    { status: 409, code: "INVALID_STATE", message: "The machine is being serviced" },
  ];
  await page.route("**/actions", async (route) => {
    const rejection = rejections.shift();
    if (rejection === undefined) return route.fallback();
    const { status, ...error } = rejection;
    return route.fulfill({ status, headers: { "retry-after": String(WAIT_SECONDS) }, json: { success: false, error } });
  });
  await page.getByLabel("Find instances").fill("on");
  await page.getByRole("heading", { name: "Instances (2)" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, "Actions").click();
  await page.getByRole("menuitem", { name: "Restart" }).click();
  await button(dialog(page, "Restart 2 instances?"), "Restart 2 instances").click();
  const result = page.getByRole("region", { name: "Notifications" });
  await result.getByText(/Continues in/).waitFor();
  expect(sent).toHaveLength(1);
  await page.clock.fastForward(WAIT_SECONDS * 1000);
  await result.getByText("Restarted: 1 of 2 instances").waitFor();
  await result.getByText("The machine is being serviced.").waitFor();
  expect(sent).toHaveLength(3);
  await page.getByRole("heading", { name: "Instances (2)" }).waitFor(); // nothing is selected any more
  await expectAccessible(page);
  await result.getByRole("button", { name: "Try these again" }).click();
  await result.getByText("Restarted: 1 of 1 instance").waitFor();
  expect(sent).toHaveLength(4);
});

test("what the user selects while everything is being selected counts, and a click beside a dialog keeps what was typed", async ({
  open,
}) => {
  const page = await open("/instances", { as: big });
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/\/instances\?.*per_page=100/, async (route) => {
    await promise;
    await route.fallback();
  });
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await button(page, `Select all ${MANY + 2}`).click();
  await page.getByRole("checkbox", { name: "Select Shop two on" }).click();
  const arrived = page.waitForResponse(/\/instances\?.*per_page=100/);
  resolve();
  await (await arrived).finished();
  await page.getByRole("checkbox", { name: "Select Shop one on" }).click();
  await page.getByText("18 selected").waitFor();
  await button(page, "Actions").click();
  await page.getByRole("menuitem", { name: "Change labels" }).click();
  const asked = dialog(page, "Change labels of 18 instances");
  await asked.getByLabel("Labels to add").fill("env: production");
  await page.mouse.click(5, 5);
  expect(await asked.getByLabel("Labels to add").inputValue()).toBe("env: production");
});

test.for([
  { device: "phone", phone: true, width: 320 },
  { device: "tablet", phone: false, width: 768 },
])(
  "a bulk action works on a $device: nothing is cut off, and its result can be read to the end",
  async ({ phone, width }, { open }) => {
    const page = await open("/instances?status=stopped", { as: big, phone });
    await page.setViewportSize({ width, height: 700 });
    await page.getByRole("checkbox", { name: "Select Idle 29" }).click();
    await button(page, `Select all ${MANY}`).click();
    await page.getByText(`${MANY} selected`).waitFor();
    await button(page, "Actions").click();
    await page.getByRole("menuitem", { name: "Start", exact: true }).click();
    const asked = dialog(page, `Start ${MANY} instances?`);
    await asked.waitFor();
    await expectAccessible(page);
    const error = { code: "INVALID_STATE", message: "The machine is being serviced" };
    await page.route("**/actions", (route) => route.fulfill({ status: 409, json: { success: false, error } }));
    await button(asked, `Start ${MANY} instances`).click();
    const result = page.getByRole("region", { name: "Notifications" });
    await result.getByText(`Started: 0 of ${MANY} instances`).waitFor();
    await expectAccessible(page);
    await result.getByRole("button", { name: "Try these again" }).click({ trial: true });
    expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  },
);

test("labels of many records change without losing others, even those that somebody else changes meanwhile", async ({ open }) => {
  const page = await open("/instances?find=one", { as: big });
  await page.getByRole("checkbox", { name: "Select Shop one on" }).click();
  await button(page, "Actions").click();
  await page.getByRole("menuitem", { name: "Change labels" }).click();
  const asked = dialog(page, "Change labels of 1 instance");
  await asked.getByLabel("Labels to add").fill("Env: x");
  await button(asked, "Change 1 instance").click();
  await asked.getByText(/Env is not a valid label key/).waitFor();
  await asked.getByLabel("Labels to add").fill("env: production");
  let raced = false;
  await page.route(`**/instances/${real.id}`, async (route) => {
    if (route.request().method() === "PUT" && !raced) {
      raced = true;
      await big.api.put(`/instances/${real.id}`, { labels: { team: "sales" } });
    }
    await route.fallback();
  });
  await button(asked, "Change 1 instance").click();
  await page.getByText("Labels changed: 1 of 1 instance").first().waitFor();
  expect((await getInstance(big, real.id)).labels).toEqual({ env: "production", team: "sales" });
  const { api } = await big.token();
  expect((await api.get("/instances?label=env:test&per_page=100")).as(z.array(ListedInstance))).toHaveLength(MANY);
});
