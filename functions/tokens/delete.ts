// DELETE /tokens/:id
import * as tokens from "../../shared/api/tokens.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { labelRef, revokeToken, tokenVersion, tokenWith } from "../../shared/records/tokens.ts";
import { requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.delete)(({ params, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, label } = await beginChange({ caller, read }, { label: labelRef(caller.account_id, params.id) });
    const token = await tokenWith(params.id, label);
    match(change, tokenVersion(token));
    requireUnchangedRole(change, caller);
    revokeToken(change, token);
    logEvent(change, by, "token.delete", { type: "token", id: token.id, name: token.name });
    return commit(change, { id: token.id, deleted: true });
  }),
);
