// GET /settings/alerts
import * as alertSettingsApi from "../../shared/api/alert-settings.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { alertSettings } from "../../shared/records/alerts.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(alertSettingsApi.get)(async ({ caller }) => alertSettings(await getAccount(caller.account_id)));
