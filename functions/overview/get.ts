// GET /overview
import * as overview from "../../shared/api/overview.ts";
import { overviewFor } from "../../shared/records/overview.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(overview.get)(({ caller }) => overviewFor(caller));
