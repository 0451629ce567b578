// DELETE /auth/sessions/:id
import { notFound } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { isId } from "../../shared/domain/ids.ts";
import { logEvent } from "../../shared/records/events.ts";
import { endOneSession } from "../../shared/records/sessions.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.endSession)(async ({ params, caller, by, read, commit }) => {
  if (!isId("session", params.id)) throw notFound("session");
  const { change } = await beginChange({ caller, read }, {});
  endOneSession(change, caller.id, params.id);
  logEvent(change, by, "auth.logout", { type: "user", id: caller.id, name: by.caller.name ?? null });
  return commit(change, { id: params.id, ended: true });
});
