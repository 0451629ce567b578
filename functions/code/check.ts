// POST /instances/:id/code/check
import * as code from "../../shared/api/code.ts";
import { beginCheck } from "../../shared/operations/code/begin-code-work.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { toOperation } from "../../shared/records/operations.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.check)(async ({ params, body, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { instance: instanceRef(caller.account_id, params.id) },
  );
  const operation = beginCheck({ change, by, operationId }, requireInstance(records.instance), body);
  return commit(change, toOperation(operation));
});
