// GET /servers/:id
import { api } from "../../shared/api/index.ts";
import { presentServer, serverRef, toServer, watchedRef } from "../../shared/data/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.get)(async ({ params, caller, read }) => {
  const { server, watched } = await read({ server: serverRef(caller.account_id, params.id), watched: watchedRef(params.id) });
  return toServer(presentServer(server), watched);
});
