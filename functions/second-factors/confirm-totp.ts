// POST /auth/second-factors/totp/confirm
import { factorExists } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { reportFactorChange } from "../../shared/operations/sign-in/factor-changes.ts";
import { beginProofAttempt } from "../../shared/operations/credentials/login-limits.ts";
import { confirmTotp } from "../../shared/records/second-factors.ts";
import { recordProof } from "../../shared/records/sessions.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.confirmTotp)(async ({ body, caller, by, userAgent, ipAddress, read, commit }) => {
  const { change, user } = await beginOwnChange({ caller, read });
  if (user.totp) throw factorExists();
  const attempt = await beginProofAttempt(user.id, ipAddress ?? "unknown");
  const factor = await confirmTotp(change, user, body.code);
  await attempt.succeeded();
  recordProof(change, user.id, requireSession(caller)); // its code is one
  await reportFactorChange(change, by, { user, type: "added", factors: [factor], userAgent });
  return commit(change, factor);
});
