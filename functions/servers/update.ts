// PUT /servers/:id
import * as servers from "../../shared/api/servers.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requireServer, editServer, serverRefs, serverVersion, toServer } from "../../shared/records/servers.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, ...records } = await beginChange({ caller, read }, serverRefs(caller.account_id, params.id));
    const server = requireServer(records.server);
    match(change, serverVersion(server));
    const edited = editServer(change, server, body);
    const changes = changesBetween(server, edited, Object.keys(body));
    logEvent(change, by, { type: "server.update", changes }, { type: "server", id: edited.id, name: edited.name });
    return commit(change, toServer(edited, records));
  }),
);
