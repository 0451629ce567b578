// API keys that expire: what the form takes as their last day, and how their end is shown.
import { expect } from "vitest";
import { Token } from "../../shared/api/tokens.ts";
import { account } from "../harness/account.ts";
import { seedServer } from "../harness/seed.ts";
import { rowOf } from "./api-keys.ts";
import { test } from "./browser.ts";

test("an expired API key is marked as expired", async ({ open }) => {
  const owner = await account();
  await owner.token(["servers:read"], new Date(Date.now() - 60_000).toISOString());
  const page = await open("/settings/api-keys", { as: owner });
  await page.getByText(/^Expired/).waitFor();
});

test("the expiry of an API key is shown precisely, with seconds and time zone on hover", async ({ open }) => {
  const owner = await account();
  await owner.token(["servers:read"], new Date(Date.now() + 14 * 86_400_000).toISOString());
  const page = await open("/settings/api-keys", { as: owner });
  const moment = page.getByText("in 14 days");
  await moment.waitFor();
  expect(await moment.getAttribute("title")).toMatch(/\d\d:\d\d:\d\d (UTC|GMT)/);
});

test("home names the API keys that expire soon, to those who can rotate them", async ({ open }) => {
  const owner = await account({ seeded: true });
  await seedServer(owner.id);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const [soon] = [await owner.token(["servers:read"], inDays(3)), await owner.token(["servers:read"], inDays(20))];
  const { name } = (await (await owner.session()).get(`/tokens/${soon.id}`)).as(Token);
  const page = await open("/", { as: owner });
  await page.getByText(`API key ${name} expires`).waitFor();
  expect(await page.getByText(/^API key .* expires/).count()).toBe(1);
  await page.getByRole("link", { name: "Show API keys" }).click();
  await rowOf(page, name).waitFor();
  const operator = await open("/", { as: { user: await owner.anotherUser({ role: "operator" }) } });
  await operator.getByText("Nothing needs you.").waitFor();
});
