// What attackers try with single sign-on: each threat that OpenID Connect names, against the service as it runs.
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { createHmac } from "node:crypto";
import { generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import { Sso } from "../../shared/api/sso.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { type IdentityProvider, type Person, startIdentityProvider } from "../../infra/local/identity-provider.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { type Client, statusesOf, anonymous } from "../harness/client.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import { come, finish, newTab, NOT_VALID, setUpSso, signInWith, start, chooseAt } from "../harness/sso.ts";

const SECRET = "secret-of-the-test";
const clock = testClock();
const domain = uniqueDomain();
const emailOf = (person: string): string => `${person}@${domain}`;

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const unsigned = async (claims: unknown): Promise<string> => `${base64url({ alg: "none" })}.${base64url(claims)}.`;
const withSecret = async (claims: unknown): Promise<string> => {
  const text = `${base64url({ alg: "HS256", kid: "1" })}.${base64url(claims)}`;
  return `${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`;
};
const withOtherKey = async (claims: Record<string, unknown>): Promise<string> => {
  const { privateKey } = await generateKeyPair("RS256");
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "1" }).sign(privateKey);
};

const without =
  (name: string) =>
  (claims: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));

const verified = (email: string, more: Partial<Person> = {}): Person => ({
  email,
  email_verified: true,
  name: "Somebody",
  groups: [],
  ...more,
});
const people: Record<string, Person> = {
  ann: verified(emailOf("ann")),
  bob: verified(emailOf("bob")),
  carl: verified(emailOf("carl")),
  none: verified(emailOf("none"), { sign: unsigned }),
  hs256: verified(emailOf("hs256"), { sign: withSecret }),
  "other-key": verified(emailOf("other-key"), { sign: withOtherKey }),
  issuer: verified(emailOf("issuer"), { changed: (claims) => ({ ...claims, iss: "https://login.example.net" }) }),
  audience: verified(emailOf("audience"), { changed: (claims) => ({ ...claims, aud: "another-client" }) }),
  audiences: verified(emailOf("audiences"), {
    changed: (claims) => ({ ...claims, aud: [claims["aud"], "another-client"], azp: "another-client" }),
  }),
  nonce: verified(emailOf("nonce"), { changed: without("nonce") }),
  old: verified(emailOf("old"), { changed: (claims) => ({ ...claims, iat: Math.floor(Date.now() / 1000) - 3_600 }) }),
  endless: verified(emailOf("endless"), { changed: without("exp") }),
  "text-true": verified(emailOf("text-true"), { changed: (claims) => ({ ...claims, email_verified: "true" }) }),
  elsewhere: verified("somebody@elsewhere.example"),
  owner: verified(emailOf("owner"), { groups: ["owner", "__proto__", "constructor"] }),
};

let provider: IdentityProvider;
let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  await ownCloud({ clock: clock.shared, environment: { LOOPBACK_RECEIVERS: "true" } });
  provider = await startIdentityProvider({ clientSecret: SECRET, people });
  me = await account();
  owner = await setUpSso(me, provider, domain, { role_claim: "groups", roles: { admins: "admin" } });
});
const servers: Server[] = [];
afterAll(async () => {
  await provider.stop();
  for (const server of servers) server.close();
});

const expectNobody = async (person: string): Promise<void> => expect(await findUserByEmail(emailOf(person))).toBeUndefined();

describe("an ID token", () => {
  test.each(["none", "hs256", "other-key", "issuer", "audience", "audiences", "nonce", "old", "endless"])(
    "that is wrong in %s signs nobody in",
    async (person) => {
      expect((await signInWith(emailOf(person), person)).error).toEqual(NOT_VALID);
      await expectNobody(person);
    },
  );

  test.each(["text-true", "elsewhere"])(
    "with an email that is not of a verified domain, or not verified (%s), neither",
    async (person) => {
      const response = await signInWith(emailOf(person), person);
      expect([response.status, response.error?.code]).toEqual([403, "FORBIDDEN"]);
      await expectNobody(person);
    },
  );

  test("makes no owner, whatever its claim says", async () => {
    const { user } = (await signInWith(emailOf("owner"), "owner")).as(auth.ssoFinish().data);
    expect((await owner.get(`/users/${user.id}`)).as(AccountUser).role).toBe("viewer");
  });
});

describe("the response of a provider", () => {
  test("is for the tab that has begun: nobody is signed in by another person's link (login CSRF)", async () => {
    const { tab, callback } = await come(emailOf("ann"), "ann");
    expect((await finish(callback, newTab())).error).toEqual(NOT_VALID);
    // Whoever has begun still can.
    expect((await finish(callback, tab)).status).toBe(200);
  });

  test("works once", async () => {
    const { tab, callback } = await come(emailOf("ann"), "ann");
    const both = await Promise.all([finish(callback, tab), finish(callback, tab)]);
    expect(statusesOf(both)).toEqual([200, 401]);
    expect((await finish(callback, tab)).error).toEqual(NOT_VALID);
  });

  test("with a code of another sign-in is not valid: the code belongs to its verifier and its nonce (code injection)", async () => {
    const [victim, attacker] = [await come(emailOf("ann"), "ann"), await come(emailOf("bob"), "bob")];
    const injected = { ...attacker.callback, code: victim.callback.code };
    expect((await finish(injected, attacker.tab)).error).toEqual(NOT_VALID);
  });

  test("from another provider is not valid, nor one that does not say from which (mix-up)", async () => {
    const first = await come(emailOf("ann"), "ann");
    expect((await finish({ ...first.callback, iss: "https://login.example.net" }, first.tab)).error).toEqual(NOT_VALID);
    const second = await come(emailOf("ann"), "ann");
    const { iss: _, ...silent } = second.callback;
    expect((await finish(silent, second.tab)).error).toEqual(NOT_VALID);
  });

  test("with a changed state is not valid", async () => {
    const { tab, callback } = await come(emailOf("ann"), "ann");
    for (const place of [0, 40, callback.state.length - 1]) {
      const other = callback.state.charAt(place) === "A" ? "B" : "A";
      const state = callback.state.slice(0, place) + other + callback.state.slice(place + 1);
      expect((await finish({ ...callback, state }, tab)).error, String(place)).toEqual(NOT_VALID);
    }
  });

  test("after ten minutes is not valid", async () => {
    const { tab, callback } = await come(emailOf("ann"), "ann");
    clock.advance(10);
    expect((await finish(callback, tab)).error).toEqual(NOT_VALID);
  });
});

describe("a person", () => {
  test("is who they were, whatever email the provider says; and nobody becomes another by an email", async () => {
    const ann = (await signInWith(emailOf("ann"), "ann")).as(auth.ssoFinish().data).user;
    people["ann"] = verified(emailOf("renamed"));
    expect((await signInWith(emailOf("ann"), "ann")).as(auth.ssoFinish().data).user).toEqual(ann);
    // Another person has got Ann's email.
    people["carl"] = verified(emailOf("ann"));
    const stolen = await signInWith(emailOf("ann"), "carl");
    expect([stolen.status, stolen.error?.code]).toEqual([409, "CONFLICT"]);
    people["ann"] = verified(emailOf("ann"));
  });

  test("of another account's email stays there", async () => {
    const other = await account();
    const email = emailOf("theirs");
    people["theirs"] = verified(email);
    await createUser(other.id, { email, name: "Theirs", password: "a long enough password" });
    const response = await signInWith(email, "theirs");
    expect([response.status, response.error?.code]).toEqual([409, "CONFLICT"]);
    expect((await findUserByEmail(email))?.account_id).toBe(other.id);
  });

  test("with a new issuer, nobody is linked, also not by the old one if it comes back", async () => {
    const [ownAccount, another] = [await account(), await startIdentityProvider({ clientSecret: SECRET, people: {} })];
    const ownDomain = uniqueDomain();
    people["dora"] = verified(`dora@${ownDomain}`);
    const session = await setUpSso(ownAccount, provider, ownDomain);
    const { user } = (await signInWith(`dora@${ownDomain}`, "dora")).as(auth.ssoFinish().data);
    const inFlight = await come(`dora@${ownDomain}`, "dora");
    await setUpSso(ownAccount, another, ownDomain);
    expect((await session.get(`/users/${user.id}`)).as(AccountUser).sso).toBe(false);
    expect((await finish(inFlight.callback, inFlight.tab)).error).toEqual(NOT_VALID);
    await setUpSso(ownAccount, provider, ownDomain);
    people["dora"] = verified(`dora@${ownDomain}`, { email_verified: false });
    expect((await signInWith(`dora@${ownDomain}`, "dora")).status).toBe(403);
    await another.stop();
  });
});

describe("a domain", () => {
  test("belongs to one account", async () => {
    const other = await account();
    const session = await other.session();
    const { issuer, client_id, client_secret } = provider;
    const body = { issuer, client_id, client_secret, domains: [{ name: domain }] };
    const { domains } = (await session.put("/settings/sso", body)).as(Sso);
    await session.put(`/sandbox/dns/${domain}`, { txt: [domains[0]?.txt_record] });
    const response = await session.post(`/settings/sso/domains/${domain}/verify`, {});
    expect([response.status, response.error?.code]).toEqual([409, "CONFLICT"]);
  });

  test("that is not verified sends nobody anywhere", async () => {
    const other = await account();
    const session = await other.session();
    const ownDomain = uniqueDomain();
    const { issuer, client_id, client_secret } = provider;
    await session.put("/settings/sso", { issuer, client_id, client_secret, domains: [{ name: ownDomain }] });
    expect((await start(`ann@${ownDomain}`, newTab())).status).toBe(404);
  });
});

describe("the browser", () => {
  test("is sent back to the dashboard as it was configured, whatever the request says of the host (open redirect)", async () => {
    const tab = newTab();
    const response = await anonymous.post(
      "/auth/sso/start",
      { email: emailOf("ann"), browser_challenge: tab.challenge },
      { headers: { host: "evil.example", "x-dashboard-origin": "https://evil.example", origin: "https://evil.example" } },
    );
    const { authorization_url } = response.as(auth.ssoStart().data);
    expect(new URL(authorization_url).origin).toBe(provider.issuer);
    expect(new URL(authorization_url).searchParams.get("redirect_uri")).toMatch(/^http:\/\/localhost:\d+\/sso$/);
    expect((await chooseAt(authorization_url, "ann")).state).not.toBe("");
  });
});

describe("the address of a provider", () => {
  test.each([
    ["https://10.0.0.1", "must not lead to a private address"],
    ["https://169.254.169.254", "must not lead to a private address"],
    ["https://user:password@93.184.216.34", "must not contain a user name or password"],
    ["https://93.184.216.34:22", "must use port 443 or 8443"],
    ["http://192.0.2.1", "must be https"],
    ["ftp://192.0.2.1", "must be https"],
  ])("%s is rejected", async (issuer, reason) => {
    const body = { issuer, client_id: "erp", client_secret: SECRET, domains: [{ name: uniqueDomain() }] };
    const response = await (await (await account()).session()).put("/settings/sso", body);
    expect(response.error?.details).toMatchObject({ field: "issuer", reason });
  });

  /** A configuration on loopback, which tests allow, that names other addresses. */
  async function configured(changes: (issuer: string) => Record<string, unknown>): Promise<string> {
    const server = createServer((_, response) => {
      const metadata = { issuer, authorization_endpoint: issuer, token_endpoint: issuer, jwks_uri: issuer, ...changes(issuer) };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const issuer = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
    return issuer;
  }

  test.each([
    ["another issuer's configuration", () => ({ issuer: "https://login.example.net" })],
    ["tokens from a private address", () => ({ token_endpoint: "https://10.0.0.1/token" })],
    ["keys from a private address", () => ({ jwks_uri: "https://169.254.169.254/keys" })],
    ["a page that is a script", () => ({ authorization_endpoint: "javascript:alert(1)" })],
  ])("that has %s is rejected", async (_, changes) => {
    const issuer = await configured(changes);
    const body = { issuer, client_id: "erp", client_secret: SECRET, domains: [{ name: uniqueDomain() }] };
    const response = await (await (await account()).session()).put("/settings/sso", body);
    expect(response.error?.details).toMatchObject({
      field: "issuer",
      reason: "is not the issuer of an identity provider that responds",
    });
  });

  test("a new one never gets the secret of the one before", async () => {
    const issuer = await configured(() => ({}));
    const body = { issuer, client_id: provider.client_id, domains: [{ name: domain }] };
    const response = await owner.put("/settings/sso", body);
    expect(response.error?.details).toMatchObject({ field: "client_secret", reason: "is required" });
  });
});
