// DELETE /instances/:id
import * as instances from "../../shared/api/instances.ts";
import { forecastInstanceDeletion } from "../../shared/operations/forecasts/instance-forecast.ts";
import { instanceRef, instanceVersion, moveInstance, requireInstance, requireAllowed } from "../../shared/records/instances.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { requireServerFree } from "../../shared/records/servers.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(instances.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { instance: instanceRef(caller.account_id, params.id) },
  );
  const instance = requireInstance(records.instance);
  match(change, instanceVersion(instance));
  requireAllowed(instance, "delete");
  requireServerFree(change, instance.server_id);
  moveInstance(change, instance, { type: "instance.delete", operationId });
  const operation = reserveOperation(change, by, { id: operationId, type: "instance.delete", ...changing("instance", instance) });
  return commit(change, toOperation(operation), () => forecastInstanceDeletion(caller, instance));
});
