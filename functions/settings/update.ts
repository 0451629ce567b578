// PUT /settings
import { invalid } from "../../shared/api/errors.ts";
import * as settings from "../../shared/api/settings.ts";
import { setSettings, settingsVersion, toSettings } from "../../shared/records/accounts.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { problemsOfPlace } from "../../shared/providers/offers.ts";
import { readCatalog } from "../../shared/providers/catalog.ts";
import { isAllowedAddress } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { normalizeNetworks } from "../../shared/domain/network.ts";
import { requireRole, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { requireNone } from "../../shared/api/parse.ts";

export const handler = handle(settings.update)(async ({ body, caller, by, read, commit, match }) => {
  const isOwners = settings.OWNERS_FIELDS.some((field) => body[field] !== undefined);
  if (isOwners) requireRole(caller, "owner");
  const allowed_ips = body.allowed_ips && normalizeNetworks(body.allowed_ips);
  if (allowed_ips !== undefined && !isAllowedAddress(allowed_ips, caller.ip_address))
    throw invalid({
      field: "allowed_ips",
      reason: "must contain the address that you send this from, or you could not sign in again",
    });
  return retryOnConflict(async () => {
    const { change, account } = await beginChange({ caller, read }, {});
    match(change, settingsVersion(account));
    if (isOwners) requireUnchangedRole(change, caller);
    if (body.default_provider !== undefined || body.default_region !== undefined)
      requireNone(
        problemsOfPlace(await readCatalog(), {
          default_provider: body.default_provider === undefined ? account.default_provider : body.default_provider,
          default_region: body.default_region === undefined ? account.default_region : body.default_region,
        }),
      );
    const updated = setSettings(change, account, { ...body, allowed_ips });
    const changes = changesBetween(account, updated, Object.keys(body));
    logEvent(change, by, { type: "settings.update", changes }, { type: "account", id: account.id, name: updated.account_name });
    return commit(change, toSettings(updated));
  });
});
