// GET /auth/sessions
import * as auth from "../../shared/api/auth.ts";
import { listSessions } from "../../shared/records/sessions.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.listSessions)(async ({ query, caller }) =>
  smallPage(await listSessions(caller.id, requireSession(caller)), query, "session"),
);
