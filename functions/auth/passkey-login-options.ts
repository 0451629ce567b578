// POST /auth/login/passkey/options
import * as auth from "../../shared/api/auth.ts";
import { newChallenge } from "../../shared/operations/challenges.ts";
import { admitAddress } from "../../shared/operations/login-limits.ts";
import { requestOptions } from "../../shared/operations/passkey-options.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.passkeyLoginOptions)(async ({ ipAddress, origin }) => {
  // It cannot fail, so it only shares the failures of others: whoever may not sign in now is not asked for a passkey either.
  const attempt = await admitAddress(ipAddress ?? "unknown");
  await attempt.succeeded();
  return requestOptions(await newChallenge("passkey_sign_in"), origin());
});
