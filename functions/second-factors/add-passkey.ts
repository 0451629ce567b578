// POST /auth/second-factors/passkeys
import { passkeyExists, proofInvalid } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { meetChallenge, openChallenge, takeTry, userOfChallenge } from "../../shared/operations/challenges.ts";
import { tellOfFactor } from "../../shared/operations/factor-changes.ts";
import { admitProof } from "../../shared/operations/login-limits.ts";
import { challengeIn, verifyAttestation } from "../../shared/operations/passkeys.ts";
import { addPasskey, listFactors } from "../../shared/records/second-factors.ts";
import { noteProof } from "../../shared/records/sessions.ts";
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
  const attempt = await admitProof(user.id, ipAddress ?? "unknown");
  const asked = challenge && (await userOfChallenge(challenge));
  if (challenge === undefined || asked?.id !== user.id || challenge.session !== sessionId) throw proofInvalid();
  await takeTry(challenge);
  const passkey = await verifyAttestation(attestation, { challenge: challenge.text, origin: origin() });
  await attempt.succeeded(); // what fails from here on is no guess
  if ((await listFactors(user.id)).some(({ credential_id }) => credential_id === passkey.credential_id)) throw passkeyExists();
  meetChallenge(change, challenge);
  const factor = addPasskey(change, user, { name, ...passkey });
  noteProof(change, user.id, sessionId); // whoever creates one has it
  await tellOfFactor(change, by, { user, type: "added", factors: [factor], userAgent });
  return commit(change, factor);
});
