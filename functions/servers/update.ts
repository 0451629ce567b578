// PUT /servers/:id
import { api } from "../../shared/api/index.ts";
import { logEvent, retryOnConflict } from "../../shared/data/change.ts";
import { presentServer, renameServer, serverRef, serverVersion, toServer, watchedRef } from "../../shared/data/servers.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, ...records } = await beginChange(
      { caller, read },
      { server: serverRef(caller.account_id, params.id), watched: watchedRef(params.id) },
    );
    const server = presentServer(records.server);
    match(change, serverVersion(server));
    const renamed = renameServer(change, server, body.name);
    logEvent(change, by, "server.update", { type: "server", id: renamed.id, name: renamed.name });
    return commit(change, toServer(renamed, records.watched));
  }),
);
