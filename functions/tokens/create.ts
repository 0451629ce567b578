// POST /tokens
import { invalid } from "../../shared/api/errors.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { DAY_MS } from "../../shared/domain/durations.ts";
import { requireTokenDays } from "../../shared/records/accounts.ts";
import { logEvent } from "../../shared/records/events.ts";
import type { AccountRecord } from "../../shared/records/schemas/account.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { env } from "../../shared/platform/env.ts";
import { withRoomForToken } from "../../shared/operations/credentials/rotated-tokens.ts";
import { requireGrantable, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.create)(({ body, caller, by, read, commit }) => {
  const create = async () => {
    const { change, account } = await beginChange({ caller, read }, {});
    // This comes after the read, which replays the response to a first try: its token may have expired since.
    const expires_at = expiryWithin(account, body.expires_at);
    requireGrantable(caller, { role: "custom", permissions: body.permissions });
    requireUnchangedRole(change, caller);
    requireTokenDays(change, account);
    const draft = { ...body, expires_at, allowed_ips: body.allowed_ips ?? [] };
    const { token, value } = reserveToken(change, by, env().ENVIRONMENT, draft);
    logEvent(change, by, "token.create", { type: "token", id: token.id, name: token.name });
    return commit(change, { ...token, token: value });
  };
  return withRoomForToken(caller.account_id, by.requestId, () => retryOnConflict(create));
});

/** Returns when a token expires: as late as the account allows, unless the request says an earlier time. */
function expiryWithin({ token_max_days: days }: AccountRecord, requested: string | null | undefined): string | null {
  const latest = days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
  const expires_at = requested === undefined ? latest : requested;
  if (expires_at !== null && expires_at <= new Date().toISOString())
    throw invalid({ field: "expires_at", reason: "must be in the future" });
  if (latest !== null && (expires_at === null || expires_at > latest))
    throw invalid({ field: "expires_at", reason: `must be at most ${days} days from now` });
  return expires_at;
}
