// POST /auth/logout
import { api } from "../../shared/api/index.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { changeOf, logEvent } from "../../shared/data/change.ts";
import { endSession } from "../../shared/data/credentials.ts";
import { handle, sessionOf } from "../../shared/runtime/handle.ts";

export const handler = handle(api.auth.logout)(async ({ caller, by, commit }) => {
  const id = sessionOf(caller);
  await endSession(caller.id, id);
  const change = changeOf(await getAccount(caller.account_id));
  logEvent(change, by, "auth.logout", { type: "user", id: caller.id, name: caller.name });
  return commit(change, { id, ended: true });
});
