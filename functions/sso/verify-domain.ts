// POST /settings/sso/domains/:name/verify
import { notFound, txtRecordMissing } from "../../shared/api/errors.ts";
import * as ssoApi from "../../shared/api/sso.ts";
import { asciiDomain } from "../../shared/domain/international.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { hasTxtRecord } from "../../shared/operations/sign-in/sso-domains.ts";
import { logEvent } from "../../shared/records/events.ts";
import { claimDomain, requireSso, showDomain, ssoRef } from "../../shared/records/sso.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(ssoApi.verifyDomain)(({ params, caller, by, read, commit }) =>
  retryOnConflict(async () => {
    const { change, account, ...records } = await beginChange({ caller, read }, { sso: ssoRef(caller.account_id) });
    const sso = requireSso(records.sso);
    const domain = sso.domains.find(({ name }) => name === asciiDomain(params.name));
    if (domain === undefined) throw notFound("domain");
    requireUnchangedRole(change, caller);
    if (!(await hasTxtRecord(sso, domain))) throw txtRecordMissing();
    const verified = claimDomain(change, sso, domain);
    const about = { type: "account", id: account.id, name: account.account_name } as const;
    const changes = [{ field: "domains", before: null, after: domain.name }];
    logEvent(change, by, { type: "sso.domain_verified", changes }, about);
    return commit(change, showDomain(account.id, verified));
  }),
);
