// Single sign-on with an OpenID Connect provider that others have written.
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import Provider from "oidc-provider";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";
import { type Callback, callbackIn, finish, NOT_VALID, newTab, setUpSso, start, type Tab } from "../harness/sso.ts";

const CLIENT = { client_id: "erp", client_secret: "a-secret-with-enough-characters-for-any-algorithm" };
const domain = uniqueDomain();
let redirectUri: string;
let me: TestAccount;
let owner: Client;
const servers: Server[] = [];

/**
 * Starts a provider with all claims in the ID token or, as OpenID Connect Core 5.4 has it, where the access token is asked for.
 */
async function startProvider(inIdToken: boolean, method: "client_secret_basic" | "client_secret_post"): Promise<string> {
  const server = createServer((request, response) => provider.callback()(request, response));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], token_endpoint_auth_method: method }],
    clientAuthMethods: [method],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    conformIdTokenClaims: !inIdToken,
    cookies: { keys: ["a key of the test"] },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        email: `${accountId}@${domain}`,
        email_verified: true,
        name: `${accountId} of the provider`,
        groups: accountId === "ann" ? ["staff", "admins"] : ["staff"],
      }),
    }),
  });
  return issuer;
}

beforeAll(async () => {
  const cloud = await ownCloud({ environment: { LOOPBACK_RECEIVERS: "true" } });
  redirectUri = `http://localhost:${new URL(cloud.apiUrl).port}/sso`;
  me = await account();
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A browser at the provider's own pages: it follows, keeps cookies, and sends the forms that it finds. */
async function signInAt(authorizationUrl: string, login: string): Promise<Callback> {
  const cookies = new Map<string, string>();
  let [url, form] = [authorizationUrl, undefined as URLSearchParams | undefined];
  for (let step = 0; step < 20; step++) {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form !== undefined && { method: "POST", body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location?.startsWith(redirectUri) === true) return callbackIn(location);
    const page = await response.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    const next = location ?? action;
    if (next === undefined) throw new Error(`The provider's page leads nowhere: ${response.status} ${page.slice(0, 500)}`);
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    form = location === null && prompt !== undefined ? new URLSearchParams({ prompt, login, password: "any" }) : undefined;
    url = new URL(next, url).href;
  }
  throw new Error("The provider asks without end");
}

async function come(login: string): Promise<{ tab: Tab; callback: Callback }> {
  const tab = newTab();
  const { authorization_url } = (await start(`${login}@${domain}`, tab)).as(auth.ssoStart().data);
  return { tab, callback: await signInAt(authorization_url, login) };
}

describe.each([
  { where: "in the ID token", inIdToken: true, method: "client_secret_basic" as const },
  { where: "for the access token", inIdToken: false, method: "client_secret_post" as const },
])("with claims $where", ({ inIdToken, method }) => {
  beforeAll(async () => {
    const issuer = await startProvider(inIdToken, method);
    owner = await setUpSso(me, { issuer, ...CLIENT }, domain, { role_claim: "groups", roles: { admins: "admin" } });
  });

  test("people sign in, and have the role of their claim", async () => {
    for (const [login, role] of [
      ["ann", "admin"],
      ["bob", "viewer"],
    ] as const) {
      const { tab, callback } = await come(login);
      expect(callback.iss).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      const { user } = (await finish(callback, tab)).as(auth.ssoFinish().data);
      expect(user).toMatchObject({ email: `${login}@${domain}`, name: `${login} of the provider` });
      expect((await owner.get(`/users/${user.id}`)).as(AccountUser)).toMatchObject({ role, sso: true });
    }
  });

  test("a code works once, and with its own verifier only", async () => {
    const [first, second] = [await come("ann"), await come("bob")];
    expect((await finish({ ...second.callback, code: first.callback.code }, second.tab)).error).toEqual(NOT_VALID);
  });
});
