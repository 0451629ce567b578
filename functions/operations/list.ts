// GET /operations
import * as operations from "../../shared/api/operations.ts";
import { listOperations, toOperation } from "../../shared/records/operations.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(operations.list)(async ({ query, caller }) => {
  const { items, meta } = await listOperations(caller.account_id, query);
  return { items: items.map(toOperation), meta };
});
