// PUT /alerts/:id
import * as alerts from "../../shared/api/alerts.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { alertRef, alertVersion, muteAlert, requireReadable, toAlert } from "../../shared/records/alerts.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(alerts.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, ...records } = await beginChange({ caller, read }, { alert: alertRef(caller.account_id, params.id) });
    const alert = requireReadable(caller, records.alert);
    match(change, alertVersion(alert));
    const muted = muteAlert(change, alert, body.muted_until);
    const changes = changesBetween(alert, muted, ["muted_until"]);
    logEvent(change, by, { type: "alert.update", changes, alert: toAlert(muted) }, alert.resource);
    return commit(change, toAlert(muted));
  }),
);
