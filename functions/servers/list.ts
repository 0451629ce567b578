// GET /servers
import { api } from "../../shared/api/index.ts";
import { listServers, toListedServers } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.servers.list)(async ({ query, caller }) => {
  const { items, meta } = await listServers(caller.account_id, query);
  return { items: await toListedServers(caller.account_id, items), meta };
});
