// GET /instances/:id
import * as instances from "../../shared/api/instances.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { showInstanceFor } from "../../shared/records/shown-instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.get)(async ({ params, caller }) =>
  showInstanceFor(caller, await getInstance(caller.account_id, params.id)),
);
