// POST /tokens
import { invalid } from "../../shared/api/errors.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { logEvent } from "../../shared/records/events.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import { env } from "../../shared/platform/env.ts";
import { requireGrantable, requireStill } from "../../shared/operations/roles.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.create)(async ({ body, caller, by, read, commit }) => {
  const { change } = await beginChange({ caller, read }, {});
  // Not before the read, which replays the response to a first try: its token may have expired since.
  const expires_at = body.expires_at ?? null;
  if (expires_at !== null && expires_at <= new Date().toISOString())
    throw invalid({ field: "expires_at", reason: "must be in the future" });
  requireGrantable(caller, { role: "custom", permissions: body.permissions });
  requireStill(change, caller);
  const { token, value } = reserveToken(change, by, env().ENVIRONMENT, { ...body, expires_at });
  logEvent(change, by, "token.create", { type: "token", id: token.id, name: token.name });
  return commit(change, { ...token, token: value });
});
