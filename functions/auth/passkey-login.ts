// POST /auth/login/passkey
import * as auth from "../../shared/api/auth.ts";
import { checkPasskeyAlone } from "../../shared/operations/sign-in/proofs.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signInProven } from "../../shared/runtime/sign-in.ts";

export const handler = handle(auth.passkeyLogin)(async ({ body, origin, ...from }) => {
  const user = await checkPasskeyAlone(body.assertion, { ...from, origin: origin() });
  return signInProven(user, from, "passkey");
});
