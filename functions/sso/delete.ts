// DELETE /settings/sso
import * as ssoApi from "../../shared/api/sso.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { logEvent } from "../../shared/records/events.ts";
import { removeSso, requireSso, ssoChanges, ssoRef, ssoVersion, unlinkOthers } from "../../shared/records/sso.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(ssoApi.delete)(async ({ caller, by, read, commit, match }) => {
  const unlinkAll = () => unlinkOthers(caller.account_id);
  const deleted = await retryOnConflict(async () => {
    const { change, account, sso: storedSso } = await beginChange({ caller, read }, { sso: ssoRef(caller.account_id) });
    if (storedSso === undefined) await unlinkAll(); // whoever repeats a request that was cut off removes the rest
    const sso = requireSso(storedSso);
    match(change, ssoVersion(sso));
    requireUnchangedRole(change, caller);
    removeSso(change, sso);
    const about = { type: "account", id: account.id, name: account.account_name } as const;
    logEvent(change, by, { type: "sso.delete", changes: ssoChanges(sso, undefined) }, about);
    return commit(change, { id: account.id, deleted: true });
  });
  await unlinkAll();
  return deleted;
});
