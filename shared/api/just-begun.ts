// The example of a response that starts an operation.
import { exampleId } from "../domain/id-kinds.ts";
import { OPERATION, type OperatedType, type OperationType } from "../domain/lifecycle.ts";

/** The operation has only just begun. */
export const justBegun = (type: OperationType, resource: OperatedType) => ({
  type,
  status: OPERATION.pending,
  progress: 0,
  step: null,
  step_code: null,
  resource: { type: resource, id: exampleId(resource), name: "Shop" },
  started_at: null,
});
