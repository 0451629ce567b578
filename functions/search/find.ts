// GET /search
import * as search from "../../shared/api/search.ts";
import { findEverywhere } from "../../shared/data/search.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(search.find)(({ query, caller }) => {
  const readable = (["instance", "server", "backup"] as const).filter((kind) => caller.permissions.includes(`${kind}s:read`));
  return findEverywhere(caller.account_id, readable, query.q, query.limit);
});
