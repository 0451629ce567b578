// DELETE /auth/second-factors/:id
import * as secondFactors from "../../shared/api/second-factors.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { reportFactorChange } from "../../shared/operations/sign-in/factor-changes.ts";
import { needsSecondFactor } from "../../shared/operations/sign-in/required-factors.ts";
import { getFactor, removeFactor } from "../../shared/records/second-factors.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.delete)(({ params, caller, by, userAgent, read, commit }) =>
  retryOnConflict(async () => {
    const { change, user, account } = await beginOwnChange({ caller, read });
    const factor = await getFactor(user.id, params.id);
    removeFactor(change, user, factor, { mustHaveOne: needsSecondFactor(account, user) });
    await reportFactorChange(change, by, { user, type: "removed", factors: [factor], userAgent });
    return commit(change, { id: factor.id, deleted: true });
  }),
);
