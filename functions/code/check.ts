// POST /instances/:id/code/check
import * as code from "../../shared/api/code.ts";
import { codeInCheck, erpNotInstalled, instanceBeingDeleted } from "../../shared/api/errors.ts";
import { keys } from "../../shared/data/keys.ts";
import { LIFECYCLE } from "../../shared/domain/lifecycle.ts";
import { instanceRef, requireInstance, requireServerUsable } from "../../shared/records/instances.ts";
import { changing, reserveOperation, toOperation } from "../../shared/records/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.check)(async ({ params, caller, by, read, commit }) => {
  const { account_id } = caller;
  const { change, operationId, ...records } = await beginWork({ caller, read }, { instance: instanceRef(account_id, params.id) });
  const instance = requireInstance(records.instance);
  const { state, installed } = instance;
  if (!installed) throw erpNotInstalled(state);
  if (state === LIFECYCLE["instance.delete"].through) throw instanceBeingDeleted(state);
  requireServerUsable(change, instance);
  change.put(keys.codeCheck(account_id, instance.id), { operation_id: operationId }, (present) =>
    codeInCheck(String(present?.["operation_id"])),
  );
  const operation = reserveOperation(change, by, {
    id: operationId,
    type: "instance.check_code",
    ...changing("instance", instance),
  });
  return commit(change, toOperation(operation));
});
