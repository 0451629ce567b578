// DELETE /instances/:id
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { changeOf } from "../../shared/data/change.ts";
import { instanceRef, instanceVersion, moveInstance, presentInstance, requireAllowed } from "../../shared/data/instances.ts";
import { reserveOperation, toOperation } from "../../shared/data/operations.ts";
import { newId } from "../../shared/domain/ids.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.delete)(async ({ params, caller, by, read, commit, match }) => {
  const records = await read({ account: accountRef(caller.account_id), instance: instanceRef(caller.account_id, params.id) });
  const instance = presentInstance(records.instance);
  const change = changeOf(presentAccount(records.account));
  match(change, instanceVersion(instance));
  requireAllowed(instance, "delete");
  const operationId = newId("operation");
  moveInstance(change, instance, "instance.delete", operationId);
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "instance.delete",
    resource: { type: "instance", id: instance.id, name: instance.name },
    before: instance.state,
  });
  return commit(change, toOperation(operation));
});
