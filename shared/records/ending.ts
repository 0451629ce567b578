// What happens to a resource when the operation that changed it ends.
import * as z from "zod";
import type { OperationErrorCode } from "../api/errors.ts";
import type { OperationCore } from "./schemas/operation.ts";
import { StoredReason } from "./schemas/fields.ts";
import type { StatusReason } from "./reasons.ts";

export interface Ending {
  operation: OperationCore;
  /** The state in which the resource ends, or `gone`; the schema of its record knows which states it has. */
  to: string;
  at: string;
  /** Why it failed; null if it did not. */
  failure: OperationErrorCode | null;
  /** The operation never began: what its request changed at once is changed back. */
  withdrawn: boolean;
  /** The reason that goes with a state; `current` is the record, with the one that it has. */
  reasonAfter: (state: string, current: StatusReason) => StatusReason;
}

/** What an operation holds, as far as the end of the operation has to know it. */
export const Held = z.object({
  id: z.string(),
  number: z.string(),
  state: z.string(),
  status_reason: z.string().nullable(),
  reason: StoredReason.default(null),
  operation_id: z.string().nullable(),
});
