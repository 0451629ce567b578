// GET /instances/:id
import * as instances from "../../shared/api/instances.ts";
import { getInstance, showInstanceFor } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.get)(async ({ params, caller }) =>
  showInstanceFor(caller, await getInstance(caller.account_id, params.id)),
);
