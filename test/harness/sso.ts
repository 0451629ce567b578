// Single sign-on in tests: an account with an identity provider, and sign-ins through it as a browser would make them.
import { createHash, randomBytes } from "node:crypto";
import * as auth from "../../shared/api/auth.ts";
import { Sso, SsoDomain } from "../../shared/api/sso.ts";
import type { TestAccount } from "./account.ts";
import { type ApiResponse, type Client, clientWith, anonymous } from "./client.ts";
import { newAddress } from "./second-factors.ts";

export const NOT_VALID = {
  code: "UNAUTHORIZED",
  message: "This single sign-on is not valid: it was used, has expired, or was begun elsewhere; start again",
};

/** What the tab of a browser keeps, and what it shows of it. */
export interface Tab {
  secret: string;
  challenge: string;
}

export function newTab(): Tab {
  const secret = randomBytes(32).toString("base64url");
  return { secret, challenge: createHash("sha256").update(secret).digest("base64url") };
}

export const start = (email: string, tab: Tab, from = newAddress()): Promise<ApiResponse> =>
  anonymous.post("/auth/sso/start", { email, browser_challenge: tab.challenge }, { from });

/** What a provider adds to the address that it sends the browser back to. */
export interface Callback {
  code: string;
  state: string;
  iss?: string;
}

/** Chooses a person at the provider of `infra/local`, whose page is a list of people. */
export async function chooseAt(authorizationUrl: string, person: string): Promise<Callback> {
  const url = new URL(authorizationUrl);
  url.searchParams.set("as", person);
  const response = await fetch(url, { redirect: "manual" });
  return callbackIn(response.headers.get("location") ?? "");
}

export function callbackIn(location: string): Callback {
  const { searchParams } = new URL(location);
  const [code, state, iss] = ["code", "state", "iss"].map((name) => searchParams.get(name));
  if (code == null || state == null) throw new Error(`The provider sent nobody back: ${location}`);
  return { code, state, ...(iss != null && { iss }) };
}

export const finish = (callback: Callback, { secret }: Tab, from = newAddress()): Promise<ApiResponse> =>
  anonymous.post("/auth/sso/finish", { ...callback, browser_secret: secret }, { from });

/** Up to the provider's response, which is not sent yet. */
export async function come(email: string, person: string): Promise<{ tab: Tab; callback: Callback }> {
  const tab = newTab();
  const { authorization_url } = (await start(email, tab)).as(auth.ssoStart().data);
  return { tab, callback: await chooseAt(authorization_url, person) };
}

export async function signInWith(email: string, person: string): Promise<ApiResponse> {
  const { tab, callback } = await come(email, person);
  return finish(callback, tab);
}

export const sessionOf = (response: ApiResponse): Client => clientWith(response.as(auth.ssoFinish().data).token);

interface Provider {
  issuer: string;
  client_id: string;
  client_secret: string;
}

/** Sets an account's single sign-on, and verifies the domain. */
export async function setUpSso(
  me: TestAccount,
  { issuer, client_id, client_secret }: Provider,
  domain: string,
  fields: Record<string, unknown> = {},
): Promise<Client> {
  const owner = await me.session();
  const body = { issuer, client_id, client_secret, domains: [{ name: domain }], ...fields };
  const sso = (await owner.put("/settings/sso", body)).as(Sso);
  await verifyDomain(owner, sso, domain);
  return owner;
}

export async function verifyDomain(owner: Client, { domains }: Sso, name: string): Promise<SsoDomain> {
  const record = domains.find((each) => each.name === name)?.txt_record;
  await owner.put(`/sandbox/dns/${name}`, { txt: ["v=spf1 -all", record] });
  return (await owner.post(`/settings/sso/domains/${name}/verify`, {})).as(SsoDomain);
}
