// DELETE /tokens/:id
import { api } from "../../shared/api/index.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { changeOf, logEvent } from "../../shared/data/change.ts";
import { getToken, revokeToken, tokenVersion } from "../../shared/data/credentials.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.tokens.delete)(async ({ params, caller, by, commit, match }) => {
  const token = await getToken(caller.account_id, params.id);
  const change = changeOf(await getAccount(caller.account_id));
  match(change, tokenVersion(token));
  revokeToken(change, token);
  logEvent(change, by, "token.delete", { type: "token", id: token.id, name: token.name });
  return commit(change, { id: token.id, deleted: true });
});
