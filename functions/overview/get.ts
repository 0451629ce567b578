// GET /overview
import { api } from "../../shared/api/index.ts";
import { overviewFor } from "../../shared/records/overview.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.overview.get)(({ caller }) => overviewFor(caller));
