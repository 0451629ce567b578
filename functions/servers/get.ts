// GET /servers/:id
import { api } from "../../shared/api/index.ts";
import { presentServer, serverRefs, toServer } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.get)(async ({ params, caller, read }) => {
  const { server, ...observed } = await read(serverRefs(caller.account_id, params.id));
  return toServer(presentServer(server), observed);
});
