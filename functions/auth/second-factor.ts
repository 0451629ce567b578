// POST /auth/login/second-factor
import * as auth from "../../shared/api/auth.ts";
import { checkProof } from "../../shared/operations/sign-in/proofs.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signInProven } from "../../shared/runtime/sign-in.ts";

export const handler = handle(auth.secondFactor)(async ({ body, origin, ...from }) => {
  const user = await checkProof("sign_in", body, { ...from, origin: origin() });
  return signInProven(user, from, body.method);
});
