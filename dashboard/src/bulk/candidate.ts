// What the dialogs of bulk actions get: the words of an action, and the selected records.
import type { Labels } from "../../../shared/api/fields.ts";
import type { Sent, Target } from "./batch.ts";

export interface Words {
  /** "Stop", "Stoppen" */
  verb: string;
  /** "Stopping", and then the kind; "Werden gestoppt", after the kind. */
  running: string;
  /** "Stopped", "Gestoppt" */
  done: string;
  /** What it means for the people who use them. */
  effect: string;
  send: (id: string, idempotencyKey: string) => Promise<Sent>;
}

/** A selected record, as the dialogs know it. */
export interface Candidate extends Target {
  labels: Labels;
  /** Why the action leaves it out. */
  why: string | undefined;
}
