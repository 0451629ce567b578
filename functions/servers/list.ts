// GET /servers
import * as servers from "../../shared/api/servers.ts";
import { listServers, toListedServers } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(servers.list)(async ({ query, caller }) => {
  const { items, meta } = await listServers(caller.account_id, query);
  return { items: await toListedServers(caller.account_id, items), meta };
});
