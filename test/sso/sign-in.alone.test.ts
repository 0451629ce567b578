// Single sign-on from the settings to the session, with the identity provider of the test environment on one machine.
import { afterAll, beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { Sso } from "../../shared/api/sso.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { resetPassword } from "../../shared/operations/accounts/operator.ts";
import { examplePeople, type IdentityProvider, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { uniqueDomain } from "../harness/account.ts";
import { NOT_VALID, sessionOf, setUpSso, signInWith } from "../harness/sso.ts";

let provider: IdentityProvider;
let me: TestAccount;
let owner: Client;
const domain = uniqueDomain();
const emailOf = (person: string): string => `${person}@${domain}`;

beforeAll(async () => {
  await ownCloud({ environment: { LOOPBACK_RECEIVERS: "true" } });
  provider = await startIdentityProvider({ clientSecret: "secret-of-the-test", people: examplePeople(domain) });
  me = await account();
  owner = await setUpSso(me, provider, domain, { role_claim: "groups", roles: { admins: "admin" } });
});
afterAll(() => provider.stop());

test("whoever is new gets a user with the role of the claim, or the default role, and is the same user next time", async () => {
  const first = (await signInWith(emailOf("ann"), "ann")).as(auth.ssoFinish().data);
  expect(first.user).toMatchObject({ email: emailOf("ann"), name: "Ann Example" });
  expect((await owner.get(`/users/${first.user.id}`)).as(AccountUser)).toMatchObject({ role: "admin", sso: true });
  const again = (await signInWith(emailOf("ann"), "ann")).as(auth.ssoFinish().data);
  expect(again.user.id).toBe(first.user.id);

  const bob = sessionOf(await signInWith(emailOf("bob"), "bob"));
  expect((await bob.get("/auth/me")).as(auth.me().data)).toMatchObject({ role: "viewer", account: { id: me.id } });
});

test.each(["unverified-email", "wrong-nonce", "expired"])("%s signs nobody in", async (person) => {
  const response = await signInWith(emailOf(person), person);
  if (person === "unverified-email") expect([response.status, response.error?.code]).toEqual([403, "FORBIDDEN"]);
  else expect([response.status, response.error]).toEqual([401, NOT_VALID]);
  const users = (await owner.get("/users?per_page=100")).text;
  expect(users).not.toContain(emailOf(person));
});

test("counts as a second factor, for its own sessions only", async () => {
  const ownDomain = uniqueDomain();
  const ownAccount = await account();
  const people = examplePeople(ownDomain);
  const another = await startIdentityProvider({ clientSecret: "secret-of-the-test", people });
  const boss = await setUpSso(ownAccount, another, ownDomain);
  const email = `bob@${ownDomain}`;
  await signInWith(email, "bob");
  const password = "a long enough password";
  await resetPassword(email, password);
  await boss.put("/settings", { require_second_factor: "all" });
  const byPassword = await ownAccount.session({ email, password });
  const bySso = sessionOf(await signInWith(email, "bob"));
  expect((await bySso.get("/servers")).status).toBe(200);
  expect((await byPassword.get("/servers")).error?.code).toBe("SECOND_FACTOR_SETUP_REQUIRED");
  const sessions = (await bySso.get("/auth/sessions")).as(auth.listSessions().data);
  expect(sessions.map(({ current, second_factor_at }) => [current, second_factor_at !== null])).toContainEqual([true, true]);
  await another.stop();
});

test("the settings never show the client secret, and a PUT without it keeps it", async () => {
  const response = await owner.get("/settings/sso");
  expect(response.text).not.toContain("secret");
  const { domains, redirect_uri: _, updated_at: __, ...sso } = response.as(Sso);
  const body = { ...sso, domains: domains.map(({ name }) => ({ name })) };
  expect((await owner.put("/settings/sso", body)).as(Sso).domains).toEqual(domains);
  expect((await signInWith(emailOf("ann"), "ann")).status).toBe(200);
});
