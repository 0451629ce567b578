// Single sign-on: the way to the identity provider, and back. Meanwhile the tab keeps a secret, so that nobody can finish it but
// whoever has begun it, and nobody can be signed in by a link that another person has made.
import { client } from "../app/client.ts";
import { hasTexts } from "../session/has-texts.ts";
import { beginSession } from "../session/session.ts";
import { wayBackIn } from "./way-back.ts";

const KEY = "sso";
const SECRET_BYTES = 32;

/** The provider sends people back to another address of the dashboard than this one. */
export class OtherAddress extends Error {
  override name = "OtherAddress";
  readonly address: string;
  constructor(address: string) {
    super();
    this.address = address;
  }
}

/** The provider has signed nobody in, or the page was not come to from there. */
export class NotSignedIn extends Error {
  override name = "NotSignedIn";
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Leaves the page. */
export async function goToProvider(email: string): Promise<void> {
  const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  const body = { email, browser_challenge: base64url(new Uint8Array(digest)) };
  const { authorization_url, state } = (await client.auth.ssoStart({ body })).data;
  const back = URL.parse(new URL(authorization_url).searchParams.get("redirect_uri") ?? "");
  if (back !== null && back.origin !== window.location.origin) throw new OtherAddress(back.origin);
  sessionStorage.setItem(KEY, JSON.stringify({ secret, state, from: wayBack() }));
  window.location.assign(authorization_url);
}

/** Returns the page to go back to, from the state that the router stores. */
function wayBack(): string {
  const stored: unknown = window.history.state;
  return wayBackIn(typeof stored === "object" && stored !== null && "usr" in stored ? stored.usr : undefined);
}

/** Signs in with what the provider has added to the page's address, which goes at once. */
async function finish(): Promise<void> {
  const response = new URLSearchParams(window.location.search);
  const attempt = takeAttempt();
  window.history.replaceState({ usr: { from: attempt?.from } }, "", window.location.pathname);
  const [state, code] = [response.get("state"), response.get("code")];
  if (attempt === undefined || code === null || state !== attempt.state) throw new NotSignedIn();
  const iss = response.get("iss");
  const body = { state, code, browser_secret: attempt.secret, ...(iss !== null && { iss }) };
  beginSession((await client.auth.ssoFinish({ body })).data);
}

/** It works once, in however many renderings of the page. */
let finishing: Promise<void> | undefined;
export const finishSso = (): Promise<void> => (finishing ??= finish());

function takeAttempt(): { secret: string; state: string; from: string } | undefined {
  const stored = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const attempt: unknown = stored === null ? undefined : JSON.parse(stored);
  return hasTexts(attempt, "secret", "state", "from") ? attempt : undefined;
}
