// POST /auth/sso/start
import { noSso } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { beginLoginAttempt, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { receiverGuard } from "../../shared/operations/events/receivers.ts";
import { withProvider } from "../../shared/operations/sign-in/sso-providers.ts";
import { newState } from "../../shared/operations/sign-in/sso-states.ts";
import { authorizationUrl, knownProvider } from "../../shared/platform/oidc.ts";
import { findSsoFor, redirectUri } from "../../shared/records/sso.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.ssoStart)(async ({ body, ipAddress, origin }) => {
  const email = asciiEmail(body.email);
  const attempt = await beginLoginAttempt(email, ipAddress ?? "unknown"); // nobody tries many domains
  const sso = await findSsoFor(email);
  if (sso === undefined) throw noSso();
  const { account_id: account, links, issuer, client_id } = sso;
  const provider = await withoutCounting(attempt, () => withProvider(account, () => knownProvider(issuer, receiverGuard())));
  const redirect_uri = redirectUri(origin());
  const {
    text: state,
    nonce,
    codeChallenge: code_challenge,
  } = await newState({
    account,
    links,
    redirect: redirect_uri,
    browser: body.browser_challenge,
  });
  await attempt.succeeded();
  const request = { client_id, redirect_uri, state, nonce, code_challenge, login_hint: email };
  return { authorization_url: authorizationUrl(provider, request), state };
});
