// POST /operations/:id/actions
import { bulkAction } from "../../shared/api/bulk-actions.ts";
import { notControllable } from "../../shared/api/errors.ts";
import * as operations from "../../shared/api/operations.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { controlBulk, findBulk } from "../../shared/records/bulk.ts";
import { getOperation, permissionsToRead, toOperation } from "../../shared/records/operations.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";

export const handler = handle(operations.act)(async ({ params, body, caller, by, read, commit }) =>
  retryOnConflict(async () => {
    const { change } = await beginChange({ caller, read }, {});
    const operation = await getOperation(caller.account_id, params.id);
    if (operation.created_by.id !== caller.id)
      for (const permission of permissionsToRead(operation)) requirePermission(caller, permission);
    const storedBulk = await findBulk(caller.account_id, operation.id);
    const action = storedBulk && bulkAction(storedBulk.bulk.type, storedBulk.bulk.action);
    if (storedBulk === undefined || action === undefined) throw notControllable(operation.state);
    for (const permission of action.permissions(storedBulk.bulk.parameters)) requirePermission(caller, permission);
    return commit(change, toOperation(controlBulk(change, by, operation, body.action)));
  }),
);
