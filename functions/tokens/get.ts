// GET /tokens/:id
import * as tokens from "../../shared/api/tokens.ts";
import { getToken } from "../../shared/records/tokens.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.get)(({ params, caller }) => getToken(caller.account_id, params.id));
