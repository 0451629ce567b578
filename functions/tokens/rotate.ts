// POST /tokens/:id/rotate
import * as tokens from "../../shared/api/tokens.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { env } from "../../shared/platform/env.ts";
import { logEvent } from "../../shared/records/events.ts";
import { labelRef, rotateToken, tokenWith } from "../../shared/records/tokens.ts";
import { allWebhooks, passOnWebhook } from "../../shared/records/webhooks.ts";
import { withRoomForToken } from "../../shared/operations/rotated-tokens.ts";
import { requireGrantable, requireStill } from "../../shared/operations/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.rotate)(({ params, body, caller, by, read, commit }) => {
  const rotate = async () => {
    const { change, label } = await beginChange({ caller, read }, { label: labelRef(caller.account_id, params.id) });
    const old = await tokenWith(params.id, label);
    requireGrantable(caller, { role: "custom", permissions: old.permissions });
    requireStill(change, caller);
    const { token, value } = rotateToken(change, by, { environment: env().ENVIRONMENT, old, overlapHours: body.overlap_hours });
    for (const webhook of await allWebhooks(caller.account_id)) passOnWebhook(change, webhook, { from: old.id, to: token.id });
    const changes = [{ field: "last4", before: old.last4, after: token.last4 }];
    logEvent(change, by, { type: "token.rotated", changes }, { type: "token", id: old.id, name: old.name });
    return commit(change, { ...token, token: value });
  };
  return withRoomForToken(caller.account_id, by.requestId, () => retryOnConflict(rotate));
});
