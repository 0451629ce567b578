// The people of an account: their roles, and removing them.
import { expect } from "vitest";
import * as users from "../../shared/api/users.ts";
import { account } from "../harness/account.ts";
import { test } from "./browser.ts";
import { choose } from "./instance-page.ts";

test("an owner changes somebody's role, and removes them", async ({ open }) => {
  const owner = await account();
  const other = await owner.anotherUser({ role: "viewer" });
  const readRoles = async () => (await owner.api.get("/users")).as(users.list().data).map(({ id, role }) => [id, role]);
  const page = await open("/settings/people", { as: owner });
  const row = page.getByRole("row").filter({ hasText: other.email });
  await row.getByText("Viewer").waitFor();
  await choose(page, other.name, "Change role");
  const dialog = page.getByRole("dialog", { name: `Change role of ${other.name}` });
  await dialog.getByText("Custom", { exact: true }).click();
  await dialog.getByText("View servers", { exact: true }).click();
  await dialog.getByRole("button", { name: "Change role" }).click();
  await page.getByText(`Role changed: ${other.name}`).first().waitFor();
  await row.getByText("Custom").waitFor();
  expect((await owner.api.get(`/users/${other.id}`)).as(users.get().data)).toMatchObject({
    role: "custom",
    permissions: ["servers:read"],
  });
  await choose(page, other.name, "Remove");
  const sure = page.getByRole("dialog", { name: /^Remove .+ from account$/ });
  await sure.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText(`Removed from account: ${other.name}`).first().waitFor();
  await row.waitFor({ state: "detached" });
  expect(await readRoles()).toEqual([[owner.user.id, "owner"]]);
});

test("whoever may not know when others signed in sees nothing of it, and has no filter by it", async ({ open }) => {
  const owner = await account();
  const viewer = await owner.anotherUser({ role: "viewer" });
  const page = await open("/settings/people?role=owner&older=never&factors=without", { as: { user: viewer } });
  const row = page.getByRole("row").filter({ hasText: owner.user.email });
  await row.getByRole("cell", { name: "–", exact: true }).waitFor();
  expect(await page.getByText("Never", { exact: true }).count()).toBe(0);
  await page
    .getByRole("button", { name: /^Filter by role/ })
    .first()
    .waitFor();
  expect(await page.getByRole("button", { name: /^Filter by (second factors|last sign-in)/ }).count()).toBe(0);
});
