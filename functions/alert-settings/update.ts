// PUT /settings/alerts
import * as alertSettingsApi from "../../shared/api/alert-settings.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { alertSettings, alertSettingsVersion, setAlertSettings } from "../../shared/records/alerts.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(alertSettingsApi.update)(async ({ body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, account } = await beginChange({ caller, read }, {});
    match(change, alertSettingsVersion(account));
    const updated = setAlertSettings(change, account, body);
    const changes = changesBetween(alertSettings(account), updated, Object.keys(body));
    logEvent(change, by, { type: "settings.update", changes }, { type: "account", id: account.id, name: account.account_name });
    return commit(change, updated);
  }),
);
