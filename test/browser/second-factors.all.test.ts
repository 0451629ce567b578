// Second factors in the browser: set up, asked for at sign-in and before what does harm, and required; with Chromium's virtual
// authenticator, and by keyboard alone.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, type TestUser, unique } from "../harness/account.ts";
import { dashboardOrigin } from "../harness/authenticator.ts";
import { addPasskey, appOf, challengeFor, newAddress, newCodes, prove, sessionIn, setUpApp } from "../harness/second-factors.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { choose } from "./instance-page.ts";
import { chooseByKeys, press, signIn, typeInto } from "./keyboard.ts";

/**
 * A device with passkeys, whose owner it knows. Whether they touch it, which also picks what the browser suggests, is for the
 * test.
 */
async function addAuthenticator(page: Page): Promise<(isTouched: boolean) => Promise<void>> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("WebAuthn.enable");
  const { authenticatorId } = await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return async (enabled) => {
    await devTools.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  };
}

/** Counts how often the page has asked the browser for a passkey: who touches it later is not seen by what waits already. */
const COUNT_ASKED = `{
  const get = navigator.credentials.get.bind(navigator.credentials);
  window.askedForPasskey = 0;
  navigator.credentials.get = (options) => { window.askedForPasskey++; return get(options); };
}`;
const hasAsked = (page: Page): Promise<void> => expect.poll(() => page.evaluate("window.askedForPasskey")).toBe(1);

/** Signs in with the password, and adds a passkey by keyboard. */
async function addPasskeyIn(page: Page, user: Pick<TestUser, "email" | "password">) {
  const touch = await addAuthenticator(page);
  await signIn(page, user);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.goto(`${dashboardOrigin()}/settings/account`);
  await press(page, /^Second factors/);
  await press(page, "Add a passkey");
  await typeInto(page, "Name", "Laptop");
  await page.keyboard.press("Enter");
  await page.getByText("Passkey added: Laptop").first().waitFor();
  return touch;
}

/** A session's proof is of 20 minutes ago. */
async function age(userId: string, client: { get: TestAccount["api"]["get"] }): Promise<void> {
  const sessions = (await client.get("/auth/sessions")).as(auth.listSessions().data);
  const second_factor_at = new Date(Date.now() - 20 * 60_000).toISOString();
  for (const { id } of sessions) await updateOne(keys.session(userId, id), { set: { second_factor_at } }, {});
}

test("by keyboard alone: a passkey and recovery codes are set up, and the passkey signs in and confirms", async ({ open }) => {
  const owner = await account();
  const page = await open(`${dashboardOrigin()}/login`, { fresh: true });
  const touch = await addPasskeyIn(page, owner.user);
  await page.getByText("You have no recovery codes.").waitFor();
  await press(page, "Make recovery codes");
  await page.getByRole("dialog", { name: "Recovery codes" }).waitFor();
  await press(page, "Make recovery codes");
  const codeList = page.getByRole("status", { name: "list of recovery codes" });
  await codeList.waitFor();
  const codes = (await codeList.innerText()).trim().split("\n");
  expect(codes).toHaveLength(10);
  await expectAccessible(page);
  await page.getByRole("checkbox").focus();
  await page.keyboard.press("Space");
  await press(page, "Done");
  await page.getByText("10 recovery codes left.").waitFor();

  // The user signs in with the password, then with the passkey.
  const session = sessionIn(
    await prove({ challenge: (await challengeFor(owner.user)).challenge, method: "recovery_code", code: codes[0] }, newAddress()),
  );
  await page.evaluate("localStorage.clear()");
  await touch(false);
  await page.goto(`${dashboardOrigin()}/login`);
  await signIn(page, owner.user);
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await expectAccessible(page);
  await touch(true);
  await press(page, "Use a passkey");
  await page.getByRole("heading", { name: "Home" }).waitFor();

  // What does harm asks for a fresh proof, and then goes on by itself.
  await age(owner.user.id, session);
  const other = await owner.anotherUser({ role: "viewer" });
  await page.goto(`${dashboardOrigin()}/settings/people`);
  await chooseByKeys(page, other.name, "Remove");
  await page.getByRole("dialog", { name: /^Remove .+ from account$/ }).waitFor();
  await press(page, "Remove");
  await page.getByRole("dialog", { name: "Confirm that it's you" }).waitFor();
  await expectAccessible(page);
  await press(page, "Use a passkey");
  await page.getByText(`Removed from account: ${other.name}`).first().waitFor();

  // Activity says who, as what, and how they had signed in.
  await page.goto(`${dashboardOrigin()}/activity`);
  const removal = page.getByRole("row").filter({ hasText: "Removed user" });
  await removal.getByText("Owner with passkey from", { exact: false }).waitFor();
});

test("a passkey alone signs in, from a button or from the browser's suggestions", async ({ open }) => {
  const owner = await account();
  const page = await open(`${dashboardOrigin()}/login`, { fresh: true });
  const touch = await addPasskeyIn(page, owner.user);
  const home = page.getByRole("heading", { name: "Home" });
  await touch(false);
  await page.evaluate("localStorage.clear()");
  await page.addInitScript(COUNT_ASKED);
  await page.goto(`${dashboardOrigin()}/login`);
  await expectAccessible(page);
  await hasAsked(page); // for a suggestion, which nobody picks
  await touch(true);
  await press(page, "Sign in with a passkey");
  await home.waitFor();
  // It picks what the browser suggests at once.
  await page.evaluate("localStorage.clear()");
  await page.goto(`${dashboardOrigin()}/login`);
  await home.waitFor();
});

test("a passkey that the user asks for is not lost to a suggestion that the browser gets late", async ({ open }) => {
  const owner = await account();
  const page = await open(`${dashboardOrigin()}/login`, { fresh: true });
  const touch = await addPasskeyIn(page, owner.user);
  await touch(false);
  await page.evaluate("localStorage.clear()");
  const suggested = Promise.withResolvers<void>();
  let requestCount = 0;
  await page.route("**/auth/login/passkey/options", async (route) => {
    if (++requestCount === 1) await suggested.promise;
    await route.continue();
  });
  await page.addInitScript(COUNT_ASKED);
  await page.goto(`${dashboardOrigin()}/login`);
  await expect.poll(() => requestCount).toBe(1);
  await press(page, "Sign in with a passkey");
  await hasAsked(page);
  const late = page.waitForResponse("**/auth/login/passkey/options");
  suggested.resolve();
  await (await late).finished();
  await page.waitForTimeout(500); // in which it would ask
  expect(await page.evaluate("window.askedForPasskey")).toBe(1);
  await expect.poll(() => page.getByRole("button", { name: "Sign in with a passkey" }).getAttribute("aria-busy")).toBe("true");
});

test("at an IP address, where browsers offer no passkeys, the sign-in page says where they do", async ({ open }) => {
  const page = await open("/login", { fresh: true });
  await page.getByText(`Browsers offer no passkeys at an IP address. Open the dashboard at ${dashboardOrigin()}.`).waitFor();
  expect(await page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(0);
  await expectAccessible(page);
});

test("an authenticator app is set up with its key, and its codes and recovery codes sign in", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/account", { as: owner });
  await press(page, /^Second factors/);
  await page.getByText(`Open the dashboard at ${dashboardOrigin()}`).waitFor(); // at an IP address there are no passkeys
  await press(page, "Set up an authenticator app");
  const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" });
  await dialog.getByRole("img", { name: "QR code of the key" }).waitFor();
  await expectAccessible(page);
  const app = appOf((await dialog.locator("code").innerText()).trim());
  await dialog.getByRole("textbox", { name: "Code" }).fill("000000");
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await dialog.getByText("This code or passkey is not valid", { exact: false }).waitFor(); // and the session goes on
  await dialog.getByRole("textbox", { name: "Code" }).fill(app.code());
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("Authenticator app set up").first().waitFor();
  const [recovery = "", spare = ""] = await newCodes(
    sessionIn(await prove({ challenge: (await challengeFor(owner.user)).challenge, method: "totp", code: app.code(1) })),
  );

  await addPasskey(
    sessionIn(await prove({ challenge: (await challengeFor(owner.user)).challenge, method: "recovery_code", code: spare })),
  );

  await page.evaluate("localStorage.clear()");
  await page.goto("/login");
  await signIn(page, owner.user);
  await page.getByText(`Open the dashboard at ${dashboardOrigin()}`).waitFor();
  expect(await page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
  const sent = page.waitForRequest("**/auth/login/second-factor");
  await typeInto(page, "Code from your authenticator app", "000 000"); // as apps show it
  await page.keyboard.press("Enter");
  expect((await sent).postDataJSON()).toMatchObject({ method: "totp", code: "000000" });
  await page.getByText("This code or passkey isn't valid", { exact: false }).waitFor();
  await expectAccessible(page);
  await press(page, "Use a recovery code");
  await typeInto(page, "Recovery code", recovery);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Home" }).waitFor();
});

test("whoever must have one is led to set it up, and then goes on", async ({ open }) => {
  const owner = await account();
  const session = await owner.session();
  await session.put("/settings", { require_second_factor: "all" });
  const page = await open("/servers", { as: owner, locale: "de-DE" });
  await page.getByText("Ihr Konto verlangt einen.", { exact: false }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Authenticator-App einrichten" }).click();
  const dialog = page.getByRole("dialog", { name: "Authenticator-App einrichten" });
  const app = appOf((await dialog.locator("code").innerText()).trim());
  await dialog.getByLabel("Einmalcode").fill(app.code());
  await dialog.getByRole("button", { name: "Bestätigen" }).click();
  await page.getByRole("heading", { name: "Server (0)" }).waitFor(); // without the number, it is there for a moment only
});

test("requests that need a proof at the same time ask for it once", async ({ open }) => {
  const owner = await account();
  const session = await owner.session();
  const emails = [1, 2].map(() => `${unique("invited")}@example.com`);
  for (const email of emails) expect((await session.post("/users/invitations", { email, role: "viewer" })).status).toBe(201);
  const page = await open("/settings/people", { as: owner });
  await setUpApp(session);
  const [code = ""] = await newCodes(session);
  let sent = 0;
  let accepted = 0;
  page.on("response", (response) => void (response.url().endsWith("/resend") && response.ok() && accepted++));
  const both = Promise.withResolvers<void>();
  await page.route("**/resend", async (route) => {
    if (++sent === emails.length) both.resolve();
    await both.promise;
    await route.continue();
  });
  for (const email of emails) await choose(page, email, "Send again");
  const dialog = page.getByRole("dialog", { name: "Confirm that it's you" });
  await dialog.getByRole("button", { name: "Use a recovery code" }).click();
  await dialog.getByRole("textbox").fill(code);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  // Only the newer one of two notifications at the same time is in view.
  await expect.poll(() => accepted).toBe(emails.length);
  await page
    .getByText(/^Invitation sent to /)
    .first()
    .waitFor();
  await dialog.waitFor({ state: "detached" });
});

test("an owner removes somebody's second factors", async ({ open }) => {
  const owner = await account();
  const other = await owner.anotherUser({ role: "operator" });
  await setUpApp(await owner.session(other));
  const page = await open("/settings/people", { as: owner });
  const row = page.getByRole("row").filter({ hasText: other.email });
  await row.getByText("authenticator app").waitFor();
  await choose(page, other.name, "Remove second factors");
  const dialog = page.getByRole("dialog", { name: "Remove second factors" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Remove second factors" }).click();
  await page.getByText(`Second factors removed: ${other.name}`).first().waitFor();
  const { second_factors } = (await owner.api.get(`/users/${other.id}`)).as(AccountUser);
  expect(second_factors).toBeNull(); // for an API token
  await row.getByText("authenticator app").waitFor({ state: "detached" });
});

test("an owner says who must have a second factor", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/account", { as: owner });
  await page.getByText("Owners and admins", { exact: true }).click();
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("Settings saved", { exact: true }).waitFor();
  const settings = await (await owner.token()).api.get("/settings");
  expect(settings.body).toMatchObject({ data: { require_second_factor: "admins" } });
});
