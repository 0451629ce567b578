// POST /auth/second-factors/totp/confirm
import { factorExists } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { tellOfFactor } from "../../shared/operations/factor-changes.ts";
import { admitProof } from "../../shared/operations/login-limits.ts";
import { confirmTotp } from "../../shared/records/second-factors.ts";
import { noteProof } from "../../shared/records/sessions.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.confirmTotp)(async ({ body, caller, by, userAgent, ipAddress, read, commit }) => {
  const { change, user } = await beginOwnChange({ caller, read });
  if (user.totp) throw factorExists();
  const attempt = await admitProof(user.id, ipAddress ?? "unknown");
  const factor = await confirmTotp(change, user, body.code);
  await attempt.succeeded();
  noteProof(change, user.id, requireSession(caller)); // its code is one
  await tellOfFactor(change, by, { user, type: "added", factors: [factor], userAgent });
  return commit(change, factor);
});
