// PUT /instances/:id
import * as instances from "../../shared/api/instances.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requireNotMoving } from "../../shared/operations/work/domain-moves.ts";
import { alsoEndsRedirect, forecastUpdate } from "../../shared/operations/forecasts/instance-forecast.ts";
import {
  claimDomain,
  instanceRef,
  instanceVersion,
  moveInstance,
  scheduleQuotaUpdate,
  requireInstance,
  editInstance,
  requireAllowed,
  requireServerUsable,
} from "../../shared/records/instances.ts";
import { showInstance } from "../../shared/records/shown-instances.ts";
import { changing, reserveOperation } from "../../shared/records/operations.ts";
import { endRedirect, redirectRef } from "../../shared/records/redirects.ts";
import type { InstanceEdit } from "../../shared/records/schemas/instance.ts";
import { sentFields } from "../../shared/records/sent-fields.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.update)(async ({ params, body, caller, by, read, commit, match }) =>
  retryOnConflict(async () => {
    const { change, operationId, ...records } = await beginWork(
      { caller, read },
      {
        instance: instanceRef(caller.account_id, params.id),
        ...(body.domain !== undefined && { redirect: redirectRef(caller.account_id, body.domain) }),
      },
    );
    const instance = requireInstance(records.instance);
    match(change, instanceVersion(instance));
    const forecast = () => forecastUpdate(caller, instance, body);
    const { domain, ...fields } = body;
    if (domain === undefined || domain === instance.domain) {
      scheduleQuotaUpdate(change, instance, fields);
      const sendsDomain = domain !== undefined;
      if (sendsDomain) await requireNotMoving(instance);
      const edited = editInstance(change, instance, fields, sendsDomain);
      const changes = changesBetween(instance, edited, Object.keys(body));
      logEvent(change, by, { type: "instance.update", changes }, { type: "instance", id: edited.id, name: edited.name });
      return commit(change, await showInstance(edited), forecast);
    }
    requireAllowed(instance, "update");
    requireServerUsable(change, instance);
    // First, so that of two changes to one domain the second gets the first's operation in its error, and not just a taken
    // domain.
    const moved = moveInstance(change, instance, { type: "instance.update", operationId }, fields);
    claimDomain(change, instance, domain);
    const redirectOf = await endRedirect(change, records.redirect, { id: instance.id, domain });
    scheduleQuotaUpdate(change, instance, fields);
    reserveOperation(change, by, {
      id: operationId,
      type: "instance.update",
      ...changing("instance", { ...instance, name: moved.name }),
      changes: changesBetween(instance, { ...moved, domain }, Object.keys(body)),
      input: { old_domain: instance.domain, new_domain: domain },
      replaced: { before: sentFields<InstanceEdit>(instance, (name) => fields[name] !== undefined), after: sentFields(fields) },
    });
    return commit(change, await showInstance(moved), () => alsoEndsRedirect(caller, forecast(), { domain, of: redirectOf }));
  }),
);
