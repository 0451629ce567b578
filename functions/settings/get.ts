// GET /settings
import * as settings from "../../shared/api/settings.ts";
import { getAccount, toSettings } from "../../shared/records/accounts.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(settings.get)(async ({ caller }) => toSettings(await getAccount(caller.account_id)));
