// POST /auth/second-factors/recovery-codes
import { noSecondFactor } from "../../shared/api/errors.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { logEvent } from "../../shared/records/events.ts";
import { hasSecondFactor, renewRecoveryCodes } from "../../shared/records/second-factors.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.renewCodes)(async ({ caller, by, read, commit }) => {
  const { change, user } = await beginOwnChange({ caller, read });
  if (!hasSecondFactor(user)) throw noSecondFactor();
  const codes = renewRecoveryCodes(change, user);
  logEvent(
    change,
    by,
    { type: "second_factor.recovery_codes", changes: [{ field: "recovery_codes" }] },
    { type: "user", id: user.id, name: user.name },
  );
  return commit(change, { codes });
});
