// What functions may be granted beyond the table.
import type { WorkflowName } from "./lifecycle.ts";

/**
 * The service's own secrets: `session` signs JWTs, `sealing` encrypts what must not be stored in plain text, `hosts` logs in to
 * machines.
 */
export type KeyName = "session" | "sealing" | "hosts";

/** What the tasks of a workflow touch beyond the table. */
export interface TaskAccess {
  keys?: readonly KeyName[];
  /** Whether they read what the operator has configured: providers and their credentials. */
  configuration?: true;
  storage?: "write";
  /** The workflows that they start: they must come before this one in `functions/workflows/index.ts`. */
  starts?: readonly WorkflowName[];
}
