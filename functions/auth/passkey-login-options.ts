// POST /auth/login/passkey/options
import * as auth from "../../shared/api/auth.ts";
import { newChallenge } from "../../shared/operations/sign-in/challenges.ts";
import { beginAddressAttempt } from "../../shared/operations/credentials/login-limits.ts";
import { requestOptions } from "../../shared/operations/sign-in/passkey-options.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.passkeyLoginOptions)(async ({ ipAddress, origin }) => {
  // It cannot fail, so it only shares the failures of others: whoever may not sign in now is not asked for a passkey either.
  const attempt = await beginAddressAttempt(ipAddress ?? "unknown");
  await attempt.succeeded();
  return requestOptions(await newChallenge("passkey_sign_in"), origin());
});
