// GET /deploys/:id
import * as deploys from "../../shared/api/deploys.ts";
import { getDeploy, toDeploy } from "../../shared/records/deploys.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(deploys.get)(async ({ params, caller }) => toDeploy(await getDeploy(caller.account_id, params.id)));
