// POST /servers
import { noneInAccount } from "../../shared/api/errors.ts";
import { api } from "../../shared/api/index.ts";
import { reserveOperation } from "../../shared/data/operations.ts";
import { reserveServer, toServer } from "../../shared/data/servers.ts";
import { sshKeyRef } from "../../shared/data/ssh-keys.ts";
import { catalog, findOffer } from "../../shared/providers/catalog.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.create)(async ({ body, caller, by, read, commit }) => {
  const { change, operationId, sshKey } = await beginWork(
    { caller, read },
    {
      sshKey: sshKeyRef(caller.account_id, body.ssh_key_id),
    },
  );
  const { specs } = findOffer(await catalog(), body);
  if (sshKey === undefined) throw noneInAccount("ssh_key_id", "SSH key");
  const server = reserveServer(change, { ...body, specs }, operationId);
  reserveOperation(change, by, {
    id: operationId,
    type: "server.create",
    resource: { type: "server", id: server.id, name: server.name },
  });
  return commit(change, toServer(server, {}));
});
