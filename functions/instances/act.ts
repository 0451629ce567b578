// POST /instances/:id/actions
import * as instances from "../../shared/api/instances.ts";
import { beginBackup } from "../../shared/operations/backups/begin-backup.ts";
import { forecastAction } from "../../shared/operations/forecasts/instance-forecast.ts";
import {
  instanceRef,
  moveInstance,
  requireInstance,
  requireAllowed,
  requireServerUsable,
} from "../../shared/records/instances.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.act)(async ({ params, body: { action }, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { instance: instanceRef(caller.account_id, params.id) },
  );
  const instance = requireInstance(records.instance);
  const forecast = () => forecastAction(caller, instance, action);
  if (action === "backup")
    return commit(change, toOperation(beginBackup({ change, by, operationId }, instance, {}).operation), forecast);
  requireAllowed(instance, action);
  requireServerUsable(change, instance);
  const type = `instance.${action}` as const;
  moveInstance(change, instance, { type, operationId });
  const operation = reserveOperation(change, by, { id: operationId, type, ...changing("instance", instance) });
  return commit(change, toOperation(operation), forecast);
});
