// POST /backups/:id/drill
import { serverOfBackupUnknown } from "../../shared/api/errors.ts";
import * as backups from "../../shared/api/backups.ts";
import { backupRef, requireBackup, requireDrillable } from "../../shared/records/backups.ts";
import { beginDrill } from "../../shared/operations/backups/drills.ts";
import { forecastDrill } from "../../shared/operations/forecasts/backup-forecast.ts";
import { instanceRef } from "../../shared/records/instances.ts";
import { toOperation } from "../../shared/records/operations.ts";
import { requireServerInBody, serverRef } from "../../shared/records/servers.ts";
import { find } from "../../shared/data/table.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.drill)(async ({ params, body, caller, by, read, commit }) => {
  const { change, operationId, backup, chosen } = await beginWork(
    { caller, read },
    {
      backup: backupRef(caller.account_id, params.id),
      ...(body.server_id !== undefined && { chosen: serverRef(caller.account_id, body.server_id) }),
    },
  );
  const drilled = requireBackup(backup);
  const serverId =
    body.server_id === undefined
      ? drilled.instance_id === null
        ? undefined
        : (await find(instanceRef(caller.account_id, drilled.instance_id)))?.server_id
      : requireServerInBody(chosen).id;
  if (serverId === undefined) throw serverOfBackupUnknown();
  requireDrillable(drilled);
  const operation = beginDrill({ change, by, operationId }, drilled, serverId);
  return commit(change, toOperation(operation), () => forecastDrill(caller, drilled, serverId));
});
