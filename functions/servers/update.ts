// PUT /servers/:id
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { changeOf, logEvent, retryIfOvertaken } from "../../shared/data/change.ts";
import { presentServer, renameServer, serverRef, serverVersion, toServer } from "../../shared/data/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryIfOvertaken(async () => {
    const { account, server } = await read({
      account: accountRef(caller.account_id),
      server: serverRef(caller.account_id, params.id),
    });
    const change = changeOf(presentAccount(account));
    match(change, serverVersion(presentServer(server)));
    const renamed = renameServer(change, presentServer(server), body.name);
    logEvent(change, by, "server.update", { type: "server", id: renamed.id, name: renamed.name });
    return commit(change, toServer(renamed));
  }),
);
