// POST /tokens/:id/rotate
import * as tokens from "../../shared/api/tokens.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { env } from "../../shared/platform/env.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import { labelRef, rotateToken, tokenWith } from "../../shared/records/tokens.ts";
import { allWebhooks, moveWebhookToToken } from "../../shared/records/webhooks.ts";
import { withRoomForToken } from "../../shared/operations/credentials/rotated-tokens.ts";
import { requireGrantable, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.rotate)(({ params, body, caller, by, read, commit }) => {
  const rotate = async () => {
    const { change, label } = await beginChange({ caller, read }, { label: labelRef(caller.account_id, params.id) });
    const old = await tokenWith(params.id, label);
    requireGrantable(caller, { role: "custom", permissions: old.permissions });
    requireUnchangedRole(change, caller);
    const rotation = { environment: env().ENVIRONMENT, old, overlapHours: body.overlap_hours };
    const { token, value, ended } = rotateToken(change, by, rotation);
    for (const webhook of await allWebhooks(caller.account_id))
      moveWebhookToToken(change, webhook, { from: old.id, to: token.id });
    const changes = changesBetween(old, { ...ended, last4: token.last4 }, ["last4", "expires_at", "replaced_by"]);
    logEvent(change, by, { type: "token.rotated", changes }, { type: "token", id: old.id, name: old.name });
    return commit(change, { ...token, token: value });
  };
  return withRoomForToken(caller.account_id, by.requestId, () => retryOnConflict(rotate));
});
