// DELETE /users/:id/second-factors
import { ownFactors } from "../../shared/api/errors.ts";
import * as users from "../../shared/api/users.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { reportFactorChange } from "../../shared/operations/sign-in/factor-changes.ts";
import { needsSecondFactor } from "../../shared/operations/sign-in/required-factors.ts";
import { requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { removeFactors } from "../../shared/records/second-factors.ts";
import { memberRef, requireUser } from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(users.deleteSecondFactors)(({ params, caller, by, userAgent, read, commit }) =>
  retryOnConflict(async () => {
    const { change, account, member } = await beginChange({ caller, read }, { member: memberRef(caller.account_id, params.id) });
    const user = await requireUser(member, params.id);
    // Whoever has a session of an owner cannot free it of its second factors at once, without the mail that each removal sends.
    if (user.id === caller.id) throw ownFactors();
    requireUnchangedRole(change, caller);
    const factors = await removeFactors(change, user, { mustHaveOne: needsSecondFactor(account, user) });
    await reportFactorChange(change, by, { user, type: "removed", factors, userAgent });
    return commit(change, { id: user.id, deleted: true });
  }),
);
