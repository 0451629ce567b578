// GET /operations
import { api } from "../../shared/api/index.ts";
import { listOperations, toOperation } from "../../shared/records/operations.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.operations.list)(async ({ query, caller }) => {
  const { items, meta } = await listOperations(caller.account_id, query);
  return { items: items.map(toOperation), meta };
});
