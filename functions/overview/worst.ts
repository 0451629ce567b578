// GET /overview/worst
import * as overview from "../../shared/api/overview.ts";
import { findWorst } from "../../shared/operations/monitoring/worst.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(overview.worst)(({ caller }) => findWorst(caller.account_id));
