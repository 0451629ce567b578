// DELETE /servers/:id
import * as servers from "../../shared/api/servers.ts";
import { effect, forecast, SERVER } from "../../shared/operations/forecasts/forecast.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { moveServerToDeleting, requireServer, requireDeletable, serverRef, serverVersion } from "../../shared/records/servers.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { server: serverRef(caller.account_id, params.id) },
  );
  const server = requireServer(records.server);
  match(change, serverVersion(server));
  requireDeletable(server);
  moveServerToDeleting(change, server, operationId);
  const operation = reserveOperation(change, by, { id: operationId, type: "server.delete", ...changing("server", server) });
  const sentence = server.machine_id === null ? "server_record_deleted" : "server_deleted";
  return commit(change, toOperation(operation), () => forecast([effect("delete", { type: SERVER, id: server.id }, sentence)]));
});
