// What else decides whether a sign-in by an identity provider succeeds: limits, networks, roles, quotas.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as events from "../../shared/api/events.ts";
import { PasskeyOptions } from "../../shared/api/second-factors.ts";
import { Sso } from "../../shared/api/sso.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { LOGIN_FAILURES } from "../../shared/domain/limits.ts";
import { allInvitations } from "../../shared/records/invitations.ts";
import { createUser, setQuota } from "../../shared/operations/accounts/operator.ts";
import { examplePeople, type IdentityProvider, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { uniqueDomain } from "../harness/account.ts";
import type { TestCloud } from "../harness/facts.ts";
import { addPasskey, newAddress } from "../harness/second-factors.ts";
import { come, finish, newTab, sessionOf, setUpSso, signInWith, start } from "../harness/sso.ts";

let cloud: TestCloud;
/** A line of a function's log with the metric. */
const isBypass = (line: string): boolean => line.includes('"SsoBypassed":1');

beforeAll(async () => {
  cloud = await ownCloud({ environment: { LOOPBACK_RECEIVERS: "true" } });
});

test("a provider that is down locks no address out, and nobody who has proven who they are but may not come in", async () => {
  const [ownAccount, ownDomain] = [await account(), uniqueDomain()];
  const people = examplePeople(ownDomain);
  const down = await startIdentityProvider({ clientSecret: "secret-of-the-test", people });
  await setUpSso(ownAccount, down, ownDomain);
  const tries = Array.from({ length: LOGIN_FAILURES.pair + 1 });
  const from = newAddress();
  const unverified = await Promise.all(tries.map(() => come(`ann@${ownDomain}`, "unverified-email")));
  for (const { callback, tab } of unverified) expect((await finish(callback, tab, from)).status).toBe(403);
  const signIns = await Promise.all(tries.map(() => come(`ann@${ownDomain}`, "ann")));
  await down.stop();
  for (const { callback, tab } of signIns) expect((await finish(callback, tab, from)).error?.code).toBe("CONFLICT");
  // One that nobody has asked for its configuration yet.
  const other = await startIdentityProvider({ clientSecret: "secret-of-the-test", people });
  await setUpSso(ownAccount, other, ownDomain);
  await other.stop();
  for (const _ of tries) expect((await start(`ann@${ownDomain}`, newTab(), from)).error?.code).toBe("CONFLICT");
});

test("more than ten people behind one address finish at once", async () => {
  const [ownAccount, ownDomain] = [await account(), uniqueDomain()];
  const provider = await startIdentityProvider({ clientSecret: "secret-of-the-test", people: examplePeople(ownDomain) });
  await setUpSso(ownAccount, provider, ownDomain);
  const from = newAddress();
  // Whom nobody lets in: so many sign-ins of one account at once would wait for its audit log.
  const signIns = await Promise.all(
    Array.from({ length: LOGIN_FAILURES.pair + 5 }, () => come(`ann@${ownDomain}`, "unverified-email")),
  );
  const responses = await Promise.all(signIns.map(({ callback, tab }) => finish(callback, tab, from)));
  expect(responses.map(({ status }) => status)).toEqual(signIns.map(() => 403));
  await provider.stop();
});

describe("of another account", () => {
  const ownDomain = uniqueDomain();
  const people = { ...examplePeople(ownDomain) };
  let ownAccount: TestAccount;
  let boss: Client;
  let another: IdentityProvider;
  beforeAll(async () => {
    ownAccount = await account();
    another = await startIdentityProvider({ clientSecret: "secret-of-the-test", people });
    boss = await setUpSso(ownAccount, another, ownDomain);
  });
  afterAll(() => another.stop());

  test("gives the role of the claim at each sign-in, to open sessions too, but leaves owners what they are", async () => {
    const { issuer, client_id } = another;
    const claims = { role_claim: "groups", roles: { admins: "admin" }, default_role: "operator" };
    await boss.put("/settings/sso", { issuer, client_id, domains: [{ name: ownDomain }], ...claims });
    const facts = { email_verified: true, name: "Somebody" };
    people["carl"] = { ...facts, email: `carl@${ownDomain}`, groups: ["admins"] };
    const session = sessionOf(await signInWith(`carl@${ownDomain}`, "carl"));
    const role = async () => (await session.get("/auth/me")).as(auth.me().data).role;
    expect(await role()).toBe("admin");
    const invited = `invited@${ownDomain}`;
    expect((await session.post("/users/invitations", { email: invited, role: "viewer" })).status).toBe(201);
    people["carl"] = { ...facts, email: `carl@${ownDomain}`, groups: [] };
    await signInWith(`carl@${ownDomain}`, "carl");
    expect(await role()).toBe("operator");
    expect((await allInvitations(ownAccount.id)).filter(({ email }) => email === invited)).toEqual([]);
    const email = `dora@${ownDomain}`;
    const { id } = await createUser(ownAccount.id, { email, name: "Dora", password: "a long enough password" });
    people["dora"] = { ...facts, email, groups: ["admins"] };
    expect((await signInWith(email, "dora")).as(auth.ssoFinish().data).user.id).toBe(id);
    expect((await boss.get(`/users/${id}`)).as(AccountUser)).toMatchObject({ role: "owner", sso: true });
    const [linked] = (await boss.get(`/events?type=user.update&resource_id=${id}`)).as(events.list().data);
    expect(linked).toMatchObject({
      actor: { id, signed_in_with: "sso" },
      data: { changes: [{ field: "sso", before: false, after: true }] },
    });
  });

  test("tells whoever is new that the account is full", async () => {
    await setQuota(ownAccount.id, "user", 1);
    const { error } = await signInWith(`ann@${ownDomain}`, "ann");
    expect([error?.code, error?.details]).toEqual(["QUOTA_EXCEEDED", { resource: "users", limit: 1 }]);
    await setQuota(ownAccount.id, "user", 100);
  });

  test("is possible only from the account's networks, like every sign-in", async () => {
    await boss.put("/settings", { allowed_ips: ["127.0.0.0/24"] });
    const [outside, inside] = [await come(`bob@${ownDomain}`, "bob"), await come(`bob@${ownDomain}`, "bob")];
    const elsewhere = await finish(outside.callback, outside.tab, "127.0.241.9");
    expect(elsewhere.error).toEqual({ code: "FORBIDDEN", message: "Sign-in is not allowed from this address" });
    expect((await finish(inside.callback, inside.tab, "127.0.0.9")).status).toBe(200);
    await boss.put("/settings", { allowed_ips: [] });
  });

  test("is bypassed by an owner's passkey where it is required, and the operator's alarm counts it", async () => {
    const [email, password] = [`boss@${ownDomain}`, "a long enough password"];
    await createUser(ownAccount.id, { email, name: "Boss", password });
    const passkey = await addPasskey(await ownAccount.session({ email, password }));
    const sso = (await boss.get("/settings/sso")).as(Sso);
    const { issuer, client_id } = sso;
    await boss.put("/settings/sso", { issuer, client_id, domains: [{ name: ownDomain }], required: true });
    const counted = (): number => cloud.template.functions.flatMap(({ name }) => cloud.lambda.logs(name)).filter(isBypass).length;
    expect(counted()).toBe(0);
    const signIn = async () => {
      const options = (await anonymous.post("/auth/login/passkey/options", {})).as(PasskeyOptions);
      return anonymous.post("/auth/login/passkey", { assertion: passkey.get(options) });
    };
    expect((await signIn()).status).toBe(200);
    await vi.waitFor(() => expect(counted()).toBe(1), { timeout: 60_000, interval: 100 });
    expect((await signInWith(`ann@${ownDomain}`, "ann")).status).toBe(200);
    expect(counted()).toBe(1);
  });
});
