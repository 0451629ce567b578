// GET /settings/sso
import * as ssoApi from "../../shared/api/sso.ts";
import { find } from "../../shared/data/table.ts";
import { requireSso, showSso, ssoRef } from "../../shared/records/sso.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(ssoApi.get)(async ({ caller, origin }) =>
  showSso(requireSso(await find(ssoRef(caller.account_id))), origin()),
);
