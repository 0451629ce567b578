// GET /alerts/:id
import * as alerts from "../../shared/api/alerts.ts";
import { find } from "../../shared/data/table.ts";
import { alertRef, requireReadable, toAlert } from "../../shared/records/alerts.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(alerts.get)(async ({ params, caller }) =>
  toAlert(requireReadable(caller, await find(alertRef(caller.account_id, params.id)))),
);
