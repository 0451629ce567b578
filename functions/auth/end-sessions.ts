// DELETE /auth/sessions
import * as auth from "../../shared/api/auth.ts";
import { logEvent } from "../../shared/records/events.ts";
import { endOtherSessions } from "../../shared/records/sessions.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.endSessions)(async ({ caller, by, read, commit }) => {
  const { change } = await beginChange({ caller, read }, {});
  const ended = await endOtherSessions(change, caller.id, requireSession(caller));
  logEvent(change, by, "auth.logout", { type: "user", id: caller.id, name: by.caller.name ?? null });
  return commit(change, { ended });
});
