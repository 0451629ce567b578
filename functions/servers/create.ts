// POST /servers
import { noSuch } from "../../shared/api/errors.ts";
import * as servers from "../../shared/api/servers.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import { reserveServer, toServer } from "../../shared/records/servers.ts";
import { sshKeyRef } from "../../shared/records/ssh-keys.ts";
import { readCatalog, problemsOfOffer, findSpecs } from "../../shared/providers/catalog.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { requireNone } from "../../shared/api/parse.ts";

export const handler = handle(servers.create)(async ({ body, caller, by, read, commit }) => {
  const { change, operationId, sshKey } = await beginWork(
    { caller, read },
    {
      sshKey: sshKeyRef(caller.account_id, body.ssh_key_id),
    },
  );
  const offered = await readCatalog();
  requireNone([...problemsOfOffer(offered, body), ...(sshKey === undefined ? [noSuch("ssh_key_id", "SSH key")] : [])]);
  const specs = findSpecs(offered, body);
  const server = reserveServer(change, { ...body, specs, ssh_key_name: sshKey?.name ?? null }, operationId);
  reserveOperation(change, by, {
    id: operationId,
    type: "server.create",
    resource: { type: "server", id: server.id, name: server.name },
  });
  return commit(change, toServer(server, {}));
});
