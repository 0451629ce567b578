// PUT /settings/sso
import * as ssoApi from "../../shared/api/sso.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { requireProvider } from "../../shared/operations/sign-in/sso-providers.ts";
import { logEvent } from "../../shared/records/events.ts";
import { setSso, showSso, ssoChanges, ssoRef, ssoVersion, unlinkOthers } from "../../shared/records/sso.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(ssoApi.update)(async ({ body, caller, by, host, origin, read, commit, match }) => {
  const updated = await retryOnConflict(async () => {
    const { change, account, sso } = await beginChange({ caller, read }, { sso: ssoRef(caller.account_id) });
    match(change, sso && ssoVersion(sso));
    requireUnchangedRole(change, caller);
    if (sso?.issuer !== body.issuer) await requireProvider(body.issuer, host);
    const set = await setSso(change, sso, body);
    const about = { type: "account", id: account.id, name: account.account_name } as const;
    logEvent(change, by, { type: "sso.update", changes: ssoChanges(sso, set) }, about);
    return commit(change, showSso(set, origin()));
  });
  // Their links are worthless already. Whoever repeats a request that was cut off removes the rest.
  await unlinkOthers(caller.account_id);
  return updated;
});
