// DELETE /servers/:id
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { changeOf } from "../../shared/data/change.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { moveServerToDeleting, presentServer, requireDeletable, serverRef, serverVersion } from "../../shared/data/servers.ts";
import { newId } from "../../shared/domain/ids.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.delete)(async ({ params, caller, by, read, commit, match }) => {
  const records = await read({ account: accountRef(caller.account_id), server: serverRef(caller.account_id, params.id) });
  const server = presentServer(records.server);
  const change = changeOf(presentAccount(records.account));
  match(change, serverVersion(server));
  requireDeletable(server);
  const operationId = newId("operation");
  moveServerToDeleting(change, server, operationId);
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "server.delete",
    resource: { type: "server", id: server.id, name: server.name },
    before: server.state,
  });
  return commit(change, toOperation(operation));
});
