// POST /bulk
import * as bulk from "../../shared/api/bulk.ts";
import { bulkAction, bulkActionsOf } from "../../shared/api/bulk-actions.ts";
import { invalid, mustBeOneOf, type Problem } from "../../shared/api/errors.ts";
import { requireNone, tryParse } from "../../shared/api/parse.ts";
import { nameOfBackup } from "../../shared/domain/backup-name.ts";
import { forecastBulk } from "../../shared/operations/bulk/bulk-forecast.ts";
import { select, type Selected, typeSelected } from "../../shared/operations/bulk/bulk-selection.ts";
import { reserveBulk } from "../../shared/records/bulk.ts";
import { instanceRef } from "../../shared/records/instances.ts";
import { toOperation } from "../../shared/records/operations.ts";
import { BulkRecord, type BulkTarget } from "../../shared/records/schemas/bulk.ts";
import { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { keyString } from "../../shared/data/keys.ts";
import { readAll } from "../../shared/data/table.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";

export const handler = handle(bulk.run)(async ({ body, caller, by, read, commit }) => {
  const { action, stop_after_failures } = body;
  const type = typeSelected(body.select);
  const declared = bulkAction(type, action);
  if (declared === undefined) throw invalid({ field: "action", reason: mustBeOneOf(bulkActionsOf(type)) });
  const problems: Problem[] = [];
  const parameters = tryParse(declared.parameters(), body.parameters, problems) ?? {};
  requireNone(
    problems.map(({ field, reason }) => ({ field: ["parameters", field].filter((each) => each !== "").join("."), reason })),
  );
  for (const permission of declared.permissions(parameters)) requirePermission(caller, permission);
  // What matches a filter says something about the resources.
  if (body.select.type !== undefined) requirePermission(caller, `${type}s:read`);

  const { account, change, operationId } = await beginWork({ caller, read }, {});
  const selected = await select(caller.account_id, body.select);
  const targets = await targetsOf(caller.account_id, { action, parameters }, selected);
  const operation = reserveBulk(change, by, {
    id: operationId,
    accountName: account.account_name,
    action,
    type,
    parameters,
    stop_after_failures,
    caller: BulkRecord.shape.caller.parse(caller),
    targets,
  });
  return commit(change, toOperation(operation), () => forecastBulk(caller, { action, parameters, selected, targets }));
});

async function targetsOf(
  accountId: string,
  { action, parameters }: Pick<BulkRecord, "action" | "parameters">,
  selected: Selected,
): Promise<BulkTarget[]> {
  switch (selected.type) {
    case "server":
      return selected.records.map(({ id, name }) => ({ id, name, server_id: null }));
    case "instance":
      return selected.records.map(({ id, name, server_id }) => ({ id, name, server_id }));
    case "backup": {
      const serverOf = action === "drill" ? await serversOf(accountId, parameters, selected.records) : () => null;
      return selected.records.map((backup) => ({ id: backup.id, name: nameOfBackup(backup), server_id: serverOf(backup) }));
    }
    default:
      throw new Error(`No such type: ${String(selected satisfies never)}`);
  }
}

interface OfInstance {
  instance_id: string | null;
}

/** Finds the server on which each backup is drilled: the one that the request names, or that of its instance. */
async function serversOf(
  accountId: string,
  { server_id: serverId }: BulkRecord["parameters"],
  backups: readonly OfInstance[],
): Promise<(backup: OfInstance) => string | null> {
  if (typeof serverId === "string") return () => serverId;
  const keyOf = (id: string) => instanceRef(accountId, id).key;
  const items = await readAll(backups.flatMap(({ instance_id }) => (instance_id === null ? [] : [keyOf(instance_id)])));
  return ({ instance_id }) => {
    const item = instance_id === null ? undefined : items.get(keyString(keyOf(instance_id)));
    return item === undefined ? null : InstanceRecord.parse(item).server_id;
  };
}
