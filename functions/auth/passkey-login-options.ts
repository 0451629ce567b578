// POST /auth/login/passkey/options
import * as auth from "../../shared/api/auth.ts";
import { newChallenge } from "../../shared/operations/challenges.ts";
import { requestOptions } from "../../shared/operations/passkey-options.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.passkeyLoginOptions)(async ({ origin }) =>
  requestOptions(await newChallenge("passkey_sign_in"), origin()),
);
