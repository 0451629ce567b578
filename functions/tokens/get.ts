// GET /tokens/:id
import { api } from "../../shared/api/index.ts";
import { getToken } from "../../shared/records/tokens.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.tokens.get)(({ params, caller }) => getToken(caller.account_id, params.id));
