// GET /servers/:id
import { api } from "../../shared/api/index.ts";
import { getServer, toServer } from "../../shared/data/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.get)(async ({ params, caller }) =>
  toServer(await getServer(caller.account_id, params.id)),
);
