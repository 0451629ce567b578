// What happens to a resource when the operation that changed it ends.
import type { OperationRecord } from "./records.ts";

export interface Ending {
  operation: OperationRecord;
  /** The state in which the resource ends, or `gone`; the schema of its record knows which states it has. */
  to: string;
  /** The operation never began: what its request changed at once is changed back. */
  withdrawn: boolean;
  /** The reason that goes with a state; `present` is the one that the record has. */
  reasonAfter: (state: string, present: string | null) => string | null;
}
