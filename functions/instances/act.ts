// POST /instances/:id/actions
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { beginBackup } from "../../shared/data/backups.ts";
import { changeOf } from "../../shared/data/change.ts";
import { instanceRef, moveInstance, presentInstance, requireAllowed, requireServerUsable } from "../../shared/data/instances.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.act)(async ({ params, body: { action }, caller, by, read, commit }) => {
  const records = await read({ account: accountRef(caller.account_id), instance: instanceRef(caller.account_id, params.id) });
  const instance = presentInstance(records.instance);
  const change = changeOf(presentAccount(records.account));
  if (action === "backup") return commit(change, toOperation(beginBackup(change, by, instance, null).operation));
  requireAllowed(instance, action);
  requireServerUsable(change, instance);
  const operationId = newId("operation");
  moveInstance(change, instance, `instance.${action}`, operationId);
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: `instance.${action}`,
    resource: { type: "instance", id: instance.id, name: instance.name },
    before: instance.state,
  });
  return commit(change, toOperation(operation));
});
