// POST /auth/reauthenticate
import { proofInvalid } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { checkProof } from "../../shared/operations/sign-in/proofs.ts";
import { recordProof } from "../../shared/records/sessions.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.reauthenticate)(async ({ body, caller, origin, ...from }) => {
  const sessionId = requireSession(caller);
  let second_factor_at = "";
  await checkProof("reauthenticate", body, { ...from, origin: origin(), userId: caller.id }, (change, user, challenge) => {
    // Made for another session of theirs, or for another user.
    if (user.id !== caller.id || challenge.session !== sessionId) throw proofInvalid();
    recordProof(change, user.id, sessionId);
    second_factor_at = change.at;
  });
  return { second_factor_at };
});
