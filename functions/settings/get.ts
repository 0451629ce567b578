// GET /settings
import { api } from "../../shared/api/index.ts";
import { getAccount, toSettings } from "../../shared/records/accounts.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.settings.get)(async ({ caller }) => toSettings(await getAccount(caller.account_id)));
