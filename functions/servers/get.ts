// GET /servers/:id
import * as servers from "../../shared/api/servers.ts";
import { requireServer, serverRefs, toServer } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.get)(async ({ params, caller, read }) => {
  const { server, ...observed } = await read(serverRefs(caller.account_id, params.id));
  return toServer(requireServer(server), observed);
});
