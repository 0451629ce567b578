// Single sign-on in the browser: an owner sets it up by keyboard, people sign in with it, and a link of somebody else signs
// nobody in.
import { afterAll, expect } from "vitest";
import { Sso } from "../../shared/api/sso.ts";
import { examplePeople, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { dashboardOrigin } from "../harness/authenticator.ts";
import { ownCloud } from "../harness/cloud.ts";
import { dashboard } from "../harness/dashboard.ts";
import { come, setUpSso } from "../harness/sso.ts";
import { expectAccessible } from "./axe.ts";
import { type Faults, test } from "./browser.ts";
import { press, signIn, tabTo, typeInto } from "./keyboard.ts";

await ownCloud({ fallback: dashboard(), environment: { LOOPBACK_RECEIVERS: "true" } });
const domain = uniqueDomain();
const provider = await startIdentityProvider({ clientSecret: "secret-of-the-test", people: examplePeople(domain) });
afterAll(() => provider.stop());

/** The provider is another host, and has no icon. */
const leavesForProvider = ({ expected }: Faults): void => void expected.push(/127\.0\.0\.1:\d+\/(?:authorize|favicon)/);

test("by keyboard alone, an owner sets it up, and whoever is of the domain signs in", async ({ open, faults }) => {
  leavesForProvider(faults);
  const owner = await account();
  const ownerPage = await open(`${dashboardOrigin()}/login`, { fresh: true });
  await signIn(ownerPage, owner.user);
  await ownerPage.getByRole("heading", { name: "Home" }).waitFor();
  await ownerPage.goto(`${dashboardOrigin()}/settings/account`);
  await press(ownerPage, /^Single sign-on/);
  await typeInto(ownerPage, "Issuer", provider.issuer);
  await typeInto(ownerPage, "Client ID", provider.client_id);
  await typeInto(ownerPage, "Client secret", provider.client_secret);
  await typeInto(ownerPage, "Domains", domain);
  await expectAccessible(ownerPage);
  await press(ownerPage, "Save single sign-on");
  await ownerPage.getByText("Not verified").waitFor();

  const session = await owner.session();
  const { domains } = (await session.get("/settings/sso")).as(Sso);
  await ownerPage.getByText(domains[0]?.txt_record ?? "").waitFor();
  await press(ownerPage, `Verify ${domain}`);
  await ownerPage.getByText(`Couldn't verify ${domain}`).first().waitFor();
  await session.put(`/sandbox/dns/${domain}`, { txt: [domains[0]?.txt_record] });
  await press(ownerPage, `Verify ${domain}`);
  await ownerPage.getByText("Verified", { exact: true }).waitFor();
  await ownerPage.getByText(`Couldn't verify ${domain}`).waitFor({ state: "detached" });
  await expectAccessible(ownerPage);

  const person = await open(`${dashboardOrigin()}/login`, { fresh: true });
  await typeInto(person, "Email", `ann@${domain}`);
  await expectAccessible(person);
  await press(person, "Continue with single sign-on");
  await tabTo(person, person.getByRole("link", { name: "ann", exact: true }));
  await person.keyboard.press("Enter");
  await person.getByRole("heading", { name: "Home" }).waitFor();
  expect(new URL(person.url()).search).toBe("");

  await ownerPage.goto(`${dashboardOrigin()}/settings/people`);
  await ownerPage.getByText("Signs in with single sign-on").waitFor();
});

test("what goes wrong is said, and how to go on", async ({ open, faults }) => {
  leavesForProvider(faults);
  await setUpSso(await account(), provider, uniqueDomain()); // another account's is no matter
  const ownDomain = uniqueDomain();
  const page = await open(`${dashboardOrigin()}/login`, { fresh: true });
  await press(page, "Continue with single sign-on");
  await page.getByText("Enter your email.").waitFor();
  await typeInto(page, "Email", `somebody@${ownDomain}`);
  await press(page, "Continue with single sign-on");
  await page.getByText("There is no single sign-on for this email.").waitFor();

  const owner = await account();
  await setUpSso(owner, provider, ownDomain);
  // A link that somebody else has made, to sign the user in as themselves.
  const { callback } = await come(`bob@${ownDomain}`, "bob");
  await page.goto(`${dashboardOrigin()}/sso?${new URLSearchParams({ ...callback }).toString()}`);
  await page.getByText("Your identity provider didn't sign you in.").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Back to sign-in" }).click();

  await typeInto(page, "Email", `expired@${ownDomain}`);
  await press(page, "Continue with single sign-on");
  await page.getByRole("link", { name: "expired", exact: true }).click();
  await page.getByText("This sign-in isn't valid any more").waitFor();

  // At an IP address, the provider would not send people back.
  const elsewhere = await open("/login", { fresh: true });
  await typeInto(elsewhere, "Email", `bob@${ownDomain}`);
  await press(elsewhere, "Continue with single sign-on");
  await elsewhere.getByText("Single sign-on works where your identity provider sends you back to:").waitFor();
});

test("what another owner removes meanwhile is not set again unseen, and what was typed stays until the user has decided", async ({
  open,
}) => {
  const owner = await account();
  const session = await setUpSso(owner, provider, uniqueDomain());
  const page = await open(`${dashboardOrigin()}/login`, { fresh: true });
  await signIn(page, owner.user);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await page.goto(`${dashboardOrigin()}/settings/account`);
  await page.getByRole("button", { name: /^Single sign-on/ }).click();
  await page.getByLabel("Client ID").fill("another");
  expect((await session.delete("/settings/sso")).status).toBe(200);
  await page.getByRole("button", { name: "Save single sign-on" }).click();
  await page.getByText("Someone else deleted this meanwhile").waitFor();
  expect((await session.get("/settings/sso")).status).toBe(404);
  expect(await page.getByLabel("Issuer").inputValue()).toBe(provider.issuer);
  expect(await page.getByLabel("Client ID").inputValue()).toBe("another");
  await page.getByRole("button", { name: "Discard my changes" }).click();
  await expect.poll(() => page.getByLabel("Issuer").inputValue()).toBe("");
});
