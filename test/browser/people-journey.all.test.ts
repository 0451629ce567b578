// The journey of people by keyboard alone: invited, joined, a password that is forgotten, and sessions that end; and what shows
// that somebody was removed.
import { expect } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import * as tokens from "../../shared/api/tokens.ts";
import * as users from "../../shared/api/users.ts";
import { account, unique } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { newAddress } from "../harness/second-factors.ts";
import { seedServer } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { choose } from "./instance-page.ts";
import { press, signIn, typeInto } from "./keyboard.ts";

const PASSWORD = "a long enough password";
const NEXT_PASSWORD = "another long password";

test("somebody is invited, joins, forgets the password, sets another one, and ends a session", async ({ open }) => {
  const owner = await account();
  const email = `${unique("ada")}@example.com`;
  const ownerPage = await open("/settings/people", { as: owner });
  await press(ownerPage, "Invite");
  const dialog = ownerPage.getByRole("dialog", { name: "Invite" });
  // Each role says what it can do.
  for (const about of [
    "Can do everything, also",
    "Can do everything except",
    "Can create, change, restore",
    "Can see everything",
  ])
    await dialog.getByText(about, { exact: false }).waitFor();
  await expectAccessible(ownerPage);
  await typeInto(ownerPage, "Email", email);
  await press(ownerPage, "Send invitation");
  await ownerPage.getByText(`Invitation sent to ${email}`).first().waitFor();
  await ownerPage.getByRole("row").filter({ hasText: email }).getByText("Viewer").waitFor();

  const invitation = await newestLink(owner.id, "invitation", email);
  const page = await open(`/accept-invitation#token=${invitation}`, { fresh: true });
  const home = page.getByRole("heading", { name: "Home" });
  await expectAccessible(page);
  await typeInto(page, "Your name", "A".repeat(101));
  await typeInto(page, "New password", "123456789012");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("name must", { exact: false }).waitFor();
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("none of the most common passwords", { exact: false }).waitFor();
  await page.getByLabel("New password").fill("");
  await typeInto(page, "New password", PASSWORD);
  await page.keyboard.press("Enter");
  await home.waitFor();
  const all = (await owner.api.get("/users")).as(users.list().data);
  const ada = all.find((user) => user.email === email);
  expect(ada).toMatchObject({ name: "Ada Lovelace", role: "viewer" });

  await page.evaluate("localStorage.clear()");
  await page.goto("/login");
  await press(page, "Forgot password?", "link");
  await page.getByText("We send you a link to set a new password.").waitFor();
  await expectAccessible(page);
  await typeInto(page, "Email", email);
  await page.keyboard.press("Enter");
  await page.getByText("If there is a user with this email, a link is on its way.", { exact: false }).waitFor();
  await page.goto(`/reset-password#token=${await newestLink(owner.id, "password_reset", ada?.id ?? "")}`);
  await expectAccessible(page);
  await typeInto(page, "New password", NEXT_PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByText("Your password is set. You can sign in now.").waitFor();
  await press(page, "Back to sign-in", "link");
  await signIn(page, { email, password: NEXT_PASSWORD });
  await home.waitFor();

  const other = await owner.session({ email, password: NEXT_PASSWORD });
  await page.goto("/settings/account");
  const sessions = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  await sessions.filter({ hasText: "This session" }).getByText("Chrome on Linux").waitFor();
  await press(page, /^End \d/);
  await page.getByText("1 session ended").first().waitFor();
  await expect.poll(async () => (await other.get("/auth/me")).status).toBe(401);
});

test("an invitation is sent again, which ends the link before, and withdrawn", async ({ open }) => {
  const owner = await account();
  const email = `${unique("ada")}@example.com`;
  await (await owner.session()).post("/users/invitations", { email, role: "operator" });
  const accept = (token: string) =>
    anonymous.post("/auth/invitations/accept", { token, name: "Ada", password: PASSWORD }, { from: newAddress() });
  const first = await newestLink(owner.id, "invitation", email);
  const page = await open("/settings/people", { as: owner });
  const row = page.getByRole("row").filter({ hasText: email });
  await row.getByText("Operator").waitFor();
  await choose(page, email, "Send again");
  await page.getByText(`Invitation sent to ${email}`).first().waitFor();
  const second = await newestLink(owner.id, "invitation", email);
  expect((await accept(first)).status).toBe(401);
  await choose(page, email, "Withdraw");
  await page.getByRole("dialog", { name: "Withdraw invitation" }).waitFor();
  await expectAccessible(page);
  await press(page, "Withdraw");
  await page.getByText(`Invitation withdrawn: ${email}`).first().waitFor();
  await row.waitFor({ state: "detached" });
  expect((await accept(second)).status).toBe(401);
});

test("a link that was used says so, and a link for a user who exists says what to do", async ({ open }) => {
  const owner = await account();
  const session = await owner.session();
  const email = `${unique("late")}@example.com`;
  await session.post("/users/invitations", { email, role: "viewer" });
  const first = await newestLink(owner.id, "invitation", email);
  await session.post("/users/invitations", { email, role: "viewer" });
  const second = await newestLink(owner.id, "invitation", email);
  const page = await open(`/accept-invitation#token=${first}`, { fresh: true });
  const join = async (): Promise<void> => {
    await typeInto(page, "Your name", "Late");
    await typeInto(page, "New password", PASSWORD);
    await page.keyboard.press("Enter");
  };
  await join();
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.evaluate("localStorage.clear()");
  for (const [token, words] of [
    [first, "This link isn't valid"],
    [second, "A user with this email already exists."],
  ] as const) {
    await page.goto("/login");
    await page.goto(`/accept-invitation#token=${token}`);
    await join();
    await page.getByText(words, { exact: false }).waitFor();
    await expectAccessible(page);
  }
});

test("a link that is not valid does not sign out whoever opens it", async ({ open }) => {
  const owner = await account();
  const page = await open("/reset-password#token=AaZrUoN9eqWCv2mR0g", { as: owner });
  await typeInto(page, "New password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByText("This link isn't valid", { exact: false }).waitFor();
  await page.goto("/settings/people");
  await page.getByRole("heading", { name: /^People/ }).waitFor();
});

test("what somebody who was removed has created and started goes on, and shows so", async ({ open }) => {
  const owner = await account();
  const admin = await owner.anotherUser({ role: "admin" });
  const name = unique("theirs");
  const body = { name, permissions: ["servers:read"] };
  const adminSession = await owner.session(admin);
  (await adminSession.post("/tokens", body)).as(tokens.create().data);
  const select = { ids: [(await seedServer(owner.id)).id] };
  const labels = { action: "set_labels", select, parameters: { remove: ["unused"] } };
  const { id: operationId } = (await adminSession.post("/bulk", labels)).as(Operation);
  await owner.anotherUser();
  const page = await open("/settings/api-keys", { as: owner });
  // Each page of the API has one user, as if the account had more users than fit on one page.
  await page.route(/\/users\?/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("per_page", "1");
    return route.continue({ url: url.href });
  });
  const row = page.getByRole("row").filter({ hasText: name });
  await row.getByText(`by ${admin.name}`).waitFor();
  expect(await page.getByText("since removed").count()).toBe(0);
  expect((await (await owner.session()).delete(`/users/${admin.id}`)).status).toBe(200);
  await page.reload();
  await row.getByText("since removed").waitFor();
  await expect.poll(() => page.getByText("since removed").count()).toBe(1);
  for (const path of ["/operations", `/operations/${operationId}`]) {
    await page.goto(path);
    await page.getByText("since removed").waitFor();
  }
});
