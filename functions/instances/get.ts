// GET /instances/:id
import { api } from "../../shared/api/index.ts";
import { getInstance, showInstanceTo } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.get)(async ({ params, caller }) =>
  showInstanceTo(caller, await getInstance(caller.account_id, params.id)),
);
