// GET /instances
import * as instances from "../../shared/api/instances.ts";
import { listInstances } from "../../shared/records/instances.ts";
import { toListedInstances } from "../../shared/records/shown-instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.list)(async ({ query, caller }) => {
  const { items, meta, read } = await listInstances(caller.account_id, query);
  return { items: await toListedInstances(caller, items, read), meta };
});
