// POST /auth/second-factors/passkeys
import { passkeyExists, proofInvalid } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { consumeChallenge, openChallenge, countTry, userOfChallenge } from "../../shared/operations/sign-in/challenges.ts";
import { reportFactorChange } from "../../shared/operations/sign-in/factor-changes.ts";
import { beginProofAttempt } from "../../shared/operations/credentials/login-limits.ts";
import { challengeIn, verifyAttestation } from "../../shared/operations/sign-in/passkeys.ts";
import { addPasskey, listFactors } from "../../shared/records/second-factors.ts";
import { recordProof } from "../../shared/records/sessions.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.addPasskey)(async ({
  body,
  caller,
  by,
  userAgent,
  ipAddress,
  origin,
  read,
  commit,
}) => {
  const { name, attestation } = body;
  const sessionId = requireSession(caller);
  const { change, user } = await beginOwnChange({ caller, read });
  const challenge = await openChallenge("add_passkey", challengeIn(attestation) ?? "");
  const attempt = await beginProofAttempt(user.id, ipAddress ?? "unknown");
  const expectedUser = challenge && (await userOfChallenge(challenge));
  if (challenge === undefined || expectedUser?.id !== user.id || challenge.session !== sessionId) throw proofInvalid();
  await countTry(challenge);
  const passkey = await verifyAttestation(attestation, { challenge: challenge.text, origin: origin() });
  await attempt.succeeded(); // what fails from here on is no guess
  if ((await listFactors(user.id)).some(({ credential_id }) => credential_id === passkey.credential_id)) throw passkeyExists();
  consumeChallenge(change, challenge);
  const factor = addPasskey(change, user, { name, ...passkey });
  recordProof(change, user.id, sessionId); // whoever creates one has it
  await reportFactorChange(change, by, { user, type: "added", factors: [factor], userAgent });
  return commit(change, factor);
});
