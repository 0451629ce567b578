// GET /instances
import { api } from "../../shared/api/index.ts";
import { listInstances, toInstances } from "../../shared/data/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.list)(async ({ query, caller }) => {
  const { items, meta } = await listInstances(caller.account_id, query);
  return { items: await toInstances(caller.account_id, items, { consistent: false }), meta };
});
