// POST /auth/logout
import * as auth from "../../shared/api/auth.ts";
import { logEvent } from "../../shared/records/events.ts";
import { endSession } from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.logout)(async ({ caller, by, read, commit }) => {
  const id = requireSession(caller);
  await endSession(caller.id, id);
  const { change } = await beginChange({ caller, read }, {});
  logEvent(change, by, "auth.logout", { type: "user", id: caller.id, name: by.caller.name ?? null });
  return commit(change, { id, ended: true });
});
