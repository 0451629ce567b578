// POST /auth/second-factors/passkeys/options
import { tooManyPasskeys } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { SECOND_FACTORS } from "../../shared/domain/limits.ts";
import { newChallenge } from "../../shared/operations/sign-in/challenges.ts";
import { creationOptions } from "../../shared/operations/sign-in/passkey-options.ts";
import { listFactors } from "../../shared/records/second-factors.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.passkeyOptions)(async ({ caller, origin, read }) => {
  const { user } = await beginOwnChange({ caller, read });
  if (user.passkeys >= SECOND_FACTORS.passkeys) throw tooManyPasskeys();
  const challenge = await newChallenge("add_passkey", { user, sessionId: requireSession(caller) });
  return creationOptions(challenge, origin(), { user, factors: await listFactors(user.id) });
});
