// POST /auth/sso/finish
import { ApiError, ssoInvalid } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { find } from "../../shared/data/table.ts";
import { beginAddressAttempt, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { receiverGuard } from "../../shared/operations/events/receivers.ts";
import { requireAllowedAddress } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { findOrAddPerson } from "../../shared/operations/sign-in/sso-people.ts";
import { withProvider } from "../../shared/operations/sign-in/sso-providers.ts";
import { openState, spendState, type State } from "../../shared/operations/sign-in/sso-states.ts";
import {
  type Claims,
  completeClaims,
  exchangeCode,
  knownProvider,
  NotProven,
  ProviderError,
  verifyIdToken,
} from "../../shared/platform/oidc.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import type { SsoRecord } from "../../shared/records/schemas/sso.ts";
import { openClientSecret, ssoRef } from "../../shared/records/sso.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signIn } from "../../shared/runtime/sign-in.ts";

export const handler = handle(auth.ssoFinish)(async ({ body, ...from }) => {
  const attempt = await beginAddressAttempt(from.ipAddress ?? "unknown"); // nobody tries many codes
  const state = await openState(body.state, body.browser_secret);
  const sso = await find(ssoRef(state.account));
  // Rejects the state of another provider than the browser was sent to, and of one that was removed.
  if (sso === undefined || sso.links !== state.links) throw ssoInvalid();
  await spendState(state);
  await withoutCounting(attempt, async () => requireAllowedAddress(await getAccount(sso.account_id), from.ipAddress));
  const claims = await withProvider(sso.account_id, () => verifyPerson(sso, state, body)).catch(async (error: unknown) => {
    // A provider that is down was no guess: owners still sign in with a passkey from the same address.
    if (error instanceof ApiError && error.code !== "UNAUTHORIZED") await attempt.succeeded();
    throw error;
  });
  await attempt.succeeded(); // who it is, is proven; they may still not be admitted
  return signIn(await findOrAddPerson(sso, claims, from), from, "sso");
});

async function verifyPerson(
  sso: SsoRecord,
  state: State,
  { code, iss }: { code: string; iss?: string | undefined },
): Promise<Claims> {
  const guard = receiverGuard();
  const { client_id } = sso;
  const provider = await knownProvider(sso.issuer, guard);
  // Whoever mixes up two providers has the code sent to the wrong one (RFC 9207).
  if (iss !== undefined ? iss !== sso.issuer : provider.authorization_response_iss_parameter_supported)
    throw new NotProven("The response is another provider's");
  const client_secret = await openClientSecret(sso);
  if (client_secret === undefined)
    throw new ProviderError("The client secret was encrypted with a key that is gone: set it again");
  const exchange = { client_id, client_secret, redirect_uri: state.redirect, code };
  const tokens = await exchangeCode(provider, { ...exchange, code_verifier: state.verifier }, guard);
  const claims = await verifyIdToken(provider, tokens.id_token, { client_id, nonce: state.nonce }, guard);
  const requiredClaims = ["email", ...(sso.role_claim === null ? [] : [sso.role_claim])];
  return completeClaims(provider, claims, { accessToken: tokens.access_token, requiredClaims }, guard);
}
