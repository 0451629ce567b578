// POST /servers/:id/actions
import * as servers from "../../shared/api/servers.ts";
import { forecastServerAction } from "../../shared/operations/forecasts/server-work.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { holdServer, requireServer, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.act)(async ({ params, body: { action }, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { server: serverRef(caller.account_id, params.id) },
  );
  const server = requireServer(records.server);
  requireUsable(server);
  holdServer(change, server, operationId);
  const operation = reserveOperation(change, by, { id: operationId, type: `server.${action}`, ...changing("server", server) });
  return commit(change, toOperation(operation), () => forecastServerAction(caller, server, action));
});
